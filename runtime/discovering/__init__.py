"""The machines that are there, found out for a cluster file."""
