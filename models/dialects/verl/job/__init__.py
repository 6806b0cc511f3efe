"""A verl job while it is read: what is known of it, its components, and how its numbers come about."""
