"""Small NumPy transformer: sizes and weights, worker shards, and the choice of the next token."""
