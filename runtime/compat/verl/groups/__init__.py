"""Groups of workers on the seats of pools."""
