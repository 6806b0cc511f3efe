"""Rules about the order of ranks."""
