"""Placement problem of a design, and pools laid out by a dialect."""
