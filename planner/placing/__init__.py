"""From a design to its placement, and back to the problem that the placement answers."""
