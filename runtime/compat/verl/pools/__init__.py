"""Pools: accelerators of several nodes in a common reservation."""
