"""Rules about nodes and domains."""
