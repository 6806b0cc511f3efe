"""Sums that a person can check by hand: so much is needed, so much is there."""
