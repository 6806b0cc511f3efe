"""Rules about groups to keep together."""
