"""What studies of several frameworks share: the real files that they read."""
