"""Designs and their placements, round after round."""
