"""Choices that a placement leaves open, decided without times.

`accepting.py` excludes counts that the framework refuses, `degrees.py` prefers degrees that divide the model or fit the memory, `pool_layouts.py` has
the pools that a framework lays out by itself, `lying_over.py` places beside and over given ranks that others may use, and `splits.py`
names the splits of accelerators that are equally good.
"""
