"""What the study of determinism repeats."""
