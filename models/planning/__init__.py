"""What a user says of time instead of counts: what was measured, what depends on what, what may be spent."""
