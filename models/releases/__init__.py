"""Releases of the frameworks: which are known, which one a file is judged for, and what holds for which of them."""
