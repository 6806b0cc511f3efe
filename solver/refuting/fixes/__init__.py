"""Changes that make the impossible possible, each of which was solved before it is shown."""
