"""The narrow door to the world: all that the runtime asks of Ray."""
