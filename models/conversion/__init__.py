"""A problem in the words of another dialect: names through roles, hints and machines as data, and what gets lost."""
