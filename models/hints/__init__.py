"""Hints of a user about a component: amount, degrees, memory and relations.

`block` reads the whole block `placewright:`, `add` the hints of components. Both are imported where
hints were found.
"""
