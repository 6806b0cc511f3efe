"""Output of the verbs on a terminal: findings, colour, plans, and the progress of work."""
