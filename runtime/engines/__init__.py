"""Inference engines whose work is spread over the workers of a replica."""
