"""Rules about which nodes and domains."""
