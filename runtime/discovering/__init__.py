"""Discovery of existing machines for a cluster file."""
