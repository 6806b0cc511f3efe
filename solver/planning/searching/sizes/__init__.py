"""The counts and degrees of one structure: the ways to run each set, bounds, and the best of them."""
