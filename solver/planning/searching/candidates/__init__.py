"""Structures in work: those that there are at first sight, and each until it is decided."""
