"""Roles whose devices and degrees are chosen by their times."""
