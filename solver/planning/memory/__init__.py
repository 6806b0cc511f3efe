"""Memory in planning: what an option needs, what a design needs in each part of an iteration, and what estimates decide."""
