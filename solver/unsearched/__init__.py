"""What the search does not take on."""
