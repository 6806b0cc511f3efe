"""Bytes that cross a level of the topology."""
