"""Inference engines on the accelerators of a replica."""
