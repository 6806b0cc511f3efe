"""Branch and bound for the cheapest designs; it knows tasks, options and accelerators, no nodes.

`structures.py` and `segmentations.py` enumerate, `bounds.py` bounds, `choices.py`, `sizing.py`,
`domains.py` and `branching.py` choose the options of a structure, `limits.py` has linear rows from
placement, `crossing.py` a lower bound of the traffic, and `search.py` is the best-first search over
all of it. `found.py` has the result.
"""
