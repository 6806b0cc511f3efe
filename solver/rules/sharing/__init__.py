"""Rules about who shares accelerators with whom."""
