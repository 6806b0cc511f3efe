"""Releases of the frameworks: known releases, the release of a file, facts by release."""
