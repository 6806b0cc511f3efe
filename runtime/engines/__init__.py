"""Inference engines with work spread over the workers of a replica."""
