"""Rules about what stays together."""
