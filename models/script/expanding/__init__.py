"""Expansions: what words come to, with what is known of the variables of a script."""
