"""Account of a plan chosen by time, as text and JSON."""
