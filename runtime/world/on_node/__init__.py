"""Survey code, sent to nodes by value: they need Ray but not placewright."""
