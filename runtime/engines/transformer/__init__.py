"""The small transformer in NumPy: its sizes and weights, a part of it in each worker, and the choice of the next token."""
