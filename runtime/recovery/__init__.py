"""Recovery of a launch: re-placement with the fewest moves, and a new start."""
