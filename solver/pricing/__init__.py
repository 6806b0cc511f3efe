"""Prices of demands, machines and settings: re-solving with a single change."""
