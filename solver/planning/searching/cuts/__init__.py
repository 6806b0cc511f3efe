"""What an iteration takes at least however it is cut, whoever shares accelerators with whom."""
