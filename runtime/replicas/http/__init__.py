"""OpenAI's HTTP API in front of an engine."""
