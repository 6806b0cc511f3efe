"""Inference servers with their workers: one replica of a model that answers over HTTP."""
