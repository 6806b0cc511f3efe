"""What the studies of placing share: problems, other ways to place them, and what is measured."""
