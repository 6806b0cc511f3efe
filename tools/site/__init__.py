"""Generated pages of the documentation site, and links out of `docs/`."""
