"""What a check of a design looks at, by plain arithmetic."""
