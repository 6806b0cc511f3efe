"""Rules about what fits."""
