"""Estimated memory of a component per accelerator, term by term."""
