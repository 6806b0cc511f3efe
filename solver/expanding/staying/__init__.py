"""Which groups stay where they were, where values become an Assignment."""
