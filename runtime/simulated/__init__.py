"""Simulated Ray cluster on this machine, without real accelerators."""
