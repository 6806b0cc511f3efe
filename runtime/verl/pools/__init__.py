"""Pools: accelerators of some nodes that are held together."""
