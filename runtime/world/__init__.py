"""Observed machines: nodes, accelerators, and the match of Ray nodes with plan nodes."""
