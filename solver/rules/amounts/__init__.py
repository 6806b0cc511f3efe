"""Rules about how much."""
