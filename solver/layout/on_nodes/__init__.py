"""Processes without accelerators, dealt out to nodes."""
