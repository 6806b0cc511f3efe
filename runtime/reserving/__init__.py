"""Reservations of a plan in the cluster."""
