"""How wrong a hint may be until another plan is better."""
