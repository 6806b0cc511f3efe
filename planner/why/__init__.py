"""Reasons why a planning problem is infeasible, with changes that were each searched."""
