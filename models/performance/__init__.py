"""Analytic model of time: what a phase takes that nobody measured, as low, likely and high.

`hardware.py` and `efficiency.py` are data; `train.py`, `infer.py`, `generate.py` and `transfer.py` have the formulas of a phase
each. Which phases follow each other or overlap is the planner's business. docs/performance.md holds predictions beside figures.
"""
