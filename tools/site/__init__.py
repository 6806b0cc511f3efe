"""Pages of the documentation site that are made from the code, and links that lead out of `docs/`."""
