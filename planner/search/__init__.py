"""Branch and bound for the cheapest designs; it knows tasks, options and accelerators, no nodes.

`structures.py` enumerates, `bounds.py` bounds, `choices.py` and `sizing.py` list the choices of a
structure and what they keep to, `branching.py` searches them, `crossing.py` is a lower bound of the
traffic, and `search.py` is the best-first search over all of it. `found.py` has the result.
"""
