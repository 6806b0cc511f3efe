"""What runs on a node to look at it; sent there as it is, so that nodes need Ray and not placewright."""
