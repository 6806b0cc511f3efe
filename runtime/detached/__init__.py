"""Launches that outlive their command: a keeper process holds the launch, a private file records
it.
"""
