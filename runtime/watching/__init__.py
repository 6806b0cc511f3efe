"""Audit and monitoring of running workers."""
