"""The counts of structures settled in a process of its own."""
