"""How long an iteration takes: one cost model a file, each with a value by arithmetic and the same said to CP-SAT."""
