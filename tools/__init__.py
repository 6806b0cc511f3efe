"""Programs for those who work on placewright itself."""
