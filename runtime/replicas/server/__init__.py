"""The servers of a replica: one process on each of its nodes, the first of which answers over HTTP."""
