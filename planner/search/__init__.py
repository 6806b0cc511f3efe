"""The best designs of a question, which knows tasks, options and accelerators, and no node."""
