"""Search for the cheapest designs of a question; it knows tasks, options and accelerators, and no node."""
