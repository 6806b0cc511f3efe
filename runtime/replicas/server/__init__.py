"""Servers of a replica: a process per node, the first of which answers over HTTP."""
