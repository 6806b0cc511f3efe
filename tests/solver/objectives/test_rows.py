"""The rows that tighten a term remove no answer, and one that is too tight is noticed."""

from __future__ import annotations

import pytest
from placewright.solver.compile import encode_tier
from placewright.solver.cuts import CUTS
from placewright.solver.layout.capacities import DomainCapacities
from placewright.solver.model.variables import Variables
from placewright.solver.objectives import domains, traffic
from placewright.solver.objectives.tiers import tiers
from placewright.solver.rules import RULES

from .. import parity
from .traffic_cases import TRAFFIC_CASES


def rows(variables: Variables) -> None:
    """All rows of all terms, as a cut."""
    for tier in tiers(variables.problem):
        encode_tier(variables, tier)


# Of two levels the indicators alone have too many values to be enumerated; there `test_terms.py` fixes each answer in turn.
@pytest.mark.parametrize("name", [name for name in TRAFFIC_CASES if "levels" not in name])
def test_no_row_of_a_term_removes_a_value(name: str) -> None:
    question = TRAFFIC_CASES[name]
    assert parity.encoded(question, RULES, [rows, *CUTS]) == parity.encoded(question, RULES)


def test_a_capacity_that_is_too_small_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    question, most = TRAFFIC_CASES["collectives"], DomainCapacities.most
    monkeypatch.setattr(DomainCapacities, "most", lambda self, bundle, level, name: max(1, most(self, bundle, level, name) - 1))
    assert parity.encoded(question, RULES, [rows]) < parity.encoded(question, RULES)


def test_one_domain_too_many_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    question, fewest = TRAFFIC_CASES["collectives"], domains.fewest
    for module in (domains, traffic):
        monkeypatch.setattr(module, "fewest", lambda layout, bundle, level: fewest(layout, bundle, level) + 1)
    assert parity.encoded(question, RULES, [rows]) < parity.encoded(question, RULES)


@pytest.mark.parametrize("name", ["weights", "all of it"])
def test_a_load_that_is_too_small_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question, limit = TRAFFIC_CASES[name], traffic.UncoveredCost.limit_of_load
    monkeypatch.setattr(traffic.UncoveredCost, "limit_of_load", lambda *asked: limit(*asked) - 1)
    assert parity.encoded(question, RULES, [rows]) < parity.encoded(question, RULES)
