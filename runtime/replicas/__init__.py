"""Inference servers with their workers: replicas of a model that answer over HTTP."""
