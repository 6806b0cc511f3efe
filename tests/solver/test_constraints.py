"""Every constraint that a job can need: its rule, and small problems on which the rule alone refuses something.

The table is the list of what is promised. A rule that stands in no row, a row whose problems the rule never refuses by itself, and a
field of a demand that no problem has are failures.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from placewright.models.component import RELATION_KINDS
from placewright.models.problem import _NEUTRAL, AMOUNT
from placewright.solver.rules import RULES

from . import parity
from .parity_cases.every import CASES

CONSTRAINTS: dict[str, dict[str, tuple[str, ...]]] = {
    "as many as asked, from a range of counts": {"PW209": ("alone", "range, colocated", "excluded, on nodes")},
    "whole replicas, processes and blocks": {"PW208": ("whole replicas", "single ones in blocks")},
    "a model divides by its degrees": {"PW404": ("heads of a model",)},
    "whole groups of shards": {"PW221": ("groups of shards", "groups of shards, tp", "groups of shards, given")},
    "no accelerator twice, none that another job holds": {"PW201": ("contiguous beside taken", "given", "sizes of a chain")},
    "a process on one node": {"PW203": ("processes around tp groups", "processes of several accelerators")},
    "a tensor parallel group in one node": {"PW202": ("two groups in one cell", "given, uneven")},
    "groups, replicas, components in domains of any level": {
        "PW218": ("component in two racks", "given, kept", "on nodes, kept in a rack")
    },
    "replicas of an engine on whole nodes": {"PW214": ("given, replicas over nodes", "replicas in one node, contiguous")},
    "colocation: the same set": {"PW204": ("colocated", "given apart, colocated")},
    "colocation: the same order of ranks": {"PW219": ("rank aligned", "given in two orders")},
    "colocation: weights handed over in place": {"PW220": ("in place, from given", "in place, a stride that is another")},
    "disjointness": {"PW207": ("given together, disjoint", "within searched, disjoint")},
    "the same or none in common": {"PW211": ("colocated or disjoint, given in part",)},
    "a subset": {"PW212": ("given outside given", "within two given")},
    "one after the other": {"PW213": ("in order", "in order, beside given in pieces")},
    "contiguous ranks": {"PW205": ("given in pieces, contiguous", "range in one rack")},
    "whole processes of another where both are": {"PW217": ("in step, within", "in step, around", "in step, beside given")},
    "stride": {"PW206": ("strided", "strided range over racks")},
    "processes in the order of nodes": {"PW210": ("pinned, nodes in order", "on nodes, pinned in order")},
    "node groups": {"PW301": ("node group", "given in the wrong group")},
    "models of accelerators, robots, nodes": {"PW302": ("model",)},
    "excluded nodes": {"PW303": ("excluded", "excluded, colocated with given", "excluded, a range", "excluded, given")},
    "pinned ranks": {"PW304": ("pinned, groups", "pinned, a range", "pinned, rank aligned", "pinned, given", "on nodes, pinned")},
    "failure domains": {"PW305": ("spread over racks", "spread, a third of groups", "spread, given", "on nodes, spread over nodes")},
    "anti-affinity": {"PW306": ("apart on nodes", "apart from given", "apart from robots", "on nodes, apart from accelerators")},
    "affinity": {"PW307": ("near on nodes", "given near searched", "near robots", "on nodes, near accelerators")},
    "equal shares of work": {"PW401": ("shares", "shares, given", "shares on nodes")},
    "not fewer processes": {"PW402": ("not fewer", "not fewer, given")},
    "memory of accelerators, phase by phase": {"PW501": ("memory", "offloaded, given", "offloaded, within given")},
    "CPUs of nodes": {"PW502": ("CPUs beside given", "CPUs, contiguous", "on nodes, unequal CPUs")},
    "memory of nodes": {"PW503": ("host memory beside given", "host memory, a range", "on nodes, host memory")},
}
"""What a job can need -> the code of its rule -> problems on which that rule alone refuses something."""

OF_ANSWERS = {"PW608", "PW611"}
"""Rules about other answers, not about the job."""

ROWS = [(need, code, case) for need, its in CONSTRAINTS.items() for code, cases in its.items() for case in cases]


@cache
def counts(case: str) -> Counter[str]:
    return parity.compare(CASES[case])


@pytest.mark.parametrize(("need", "code", "case"), ROWS, ids=[f"{code} {case}" for _, code, case in ROWS])
def test_the_rule_alone_refuses_something(need: str, code: str, case: str) -> None:
    assert counts(case)[f"only {code} refused"], f"{need}: {code} refuses nothing by itself on {case}"


def test_every_rule_stands_in_one_row() -> None:
    listed = Counter(code for its in CONSTRAINTS.values() for code in its)
    assert set(listed) | OF_ANSWERS == {rule.code for rule in RULES}
    assert set(listed.values()) == {1}


def test_every_demand_that_can_be_made_is_made_by_some_problem() -> None:
    made = {demand.field for case in CASES.values() for demand in case.demands}
    several = {"keep", "spread", "pins", "share"}
    found = {next((word for word in several if field.startswith(f"{word} ")), field) for field in made}
    assert found >= {AMOUNT, *_NEUTRAL, *RELATION_KINDS, *several}
