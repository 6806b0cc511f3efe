"""Completeness of the cases of parity: every rule has a row of the table of constraints, every demand a problem."""

from __future__ import annotations

from collections import Counter

from placewright.models.component import RELATION_KINDS
from placewright.models.problem import _NEUTRAL, AMOUNT
from placewright.solver.rules import RULES

from .parity_cases.constraints import CONSTRAINTS
from .parity_cases.every import CASES

OF_ANSWERS = {"PW608", "PW611"}
"""Rules about other answers, not about the job."""


def test_every_rule_stands_in_one_row() -> None:
    listed = Counter(code for its in CONSTRAINTS.values() for code in its)
    assert set(listed) | OF_ANSWERS == {rule.code for rule in RULES}
    assert set(listed.values()) == {1}


def test_every_demand_that_can_be_made_is_made_by_some_problem() -> None:
    made = {demand.field for case in CASES.values() for demand in case.demands}
    several = {"keep", "spread", "pins", "share"}
    found = {next((word for word in several if field.startswith(f"{word} ")), field) for field in made}
    assert found >= {AMOUNT, *_NEUTRAL, *RELATION_KINDS, *several}
