"""Which of several plans is the answer."""
