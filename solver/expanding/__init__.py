"""Conversion of decision values into an Assignment and back."""
