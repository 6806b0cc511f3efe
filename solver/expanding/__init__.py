"""Decision values become an Assignment, and back."""
