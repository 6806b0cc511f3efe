"""The question of planning, made of a file."""
