"""Conversion of a problem to another dialect: component names, hints, machines, losses."""
