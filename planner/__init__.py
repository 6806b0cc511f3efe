"""How many accelerators, together or apart, with which degrees: chosen by time, before anything is placed."""
