"""Other ways to place the same problems."""
