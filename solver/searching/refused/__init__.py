"""What the search does not take on, or must not begin."""
