"""What a user says about a component instead of its ranks: how much, how parallel, how much memory, with whom.

`block` reads the whole block `placewright:`, `add` the hints of components. Both are imported where hints were found.
"""
