"""Rules about sharing accelerators."""
