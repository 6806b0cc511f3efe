"""Answers of the planner, recorded: inputs, `record` and `compare`."""
