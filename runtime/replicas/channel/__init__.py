"""Calls from a server to its workers over ZeroMQ, in plain data."""
