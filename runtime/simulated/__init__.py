"""A Ray cluster on this machine whose accelerators do not exist."""
