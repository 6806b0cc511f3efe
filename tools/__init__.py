"""Programs for developers of placewright."""
