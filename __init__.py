"""placewright: which process runs on which accelerator of which node."""
