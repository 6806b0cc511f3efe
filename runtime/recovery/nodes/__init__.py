"""Nodes during the life of a launch: identity, presence, growth, use by other jobs."""
