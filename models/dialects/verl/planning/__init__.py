"""Pools whose sizes and degrees are chosen by the times of their components."""
