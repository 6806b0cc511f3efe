"""Which keys the block `placewright` has: by these a file is read again, or need not be."""

from __future__ import annotations

import pytest
from placewright.models.dialects.load import read
from placewright.models.dialects.rlinf.planning.opening import RlinfOpening
from placewright.models.hints.block import find_plan_keys, may_leave_degrees, timed_names
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.resolving import _OpeningWithModels
from placewright.models.text.source import Source

BLOCKS: list[tuple[str, set[str], bool, set[str]]] = [
    ("{components: {actor: {seconds: {8: 1}}, rollout: {memory: 1GiB}, env: 3}}", {"actor"}, False, set()),
    ("{components: {actor: {parallel: {tp: [1, 2]}}}, plan: {minimise: seconds}}", set(), True, {"minimise"}),
    ("{components: [actor], plan: 3}", set(), False, set()),
]


@pytest.mark.parametrize(("text", "timed", "degrees", "plan"), BLOCKS)
def test_its_keys_are_those_of_the_text(text: str, timed: set[str], degrees: bool, plan: set[str]) -> None:
    root = Source("file.yaml", text).root
    assert (timed_names(root), may_leave_degrees(root), find_plan_keys(root)) == (timed, degrees, plan)


def test_without_a_block_there_are_none() -> None:
    assert (timed_names(None), may_leave_degrees(None), find_plan_keys(None)) == (frozenset(), False, frozenset())


@pytest.mark.parametrize(("parallel", "asked"), [("", False), (", parallel: {tp: [1, 2]}", True)])
def test_whether_all_degrees_are_refused_is_asked_where_some_are_said(parallel: str, asked: bool) -> None:
    text = (
        'cluster: {num_nodes: 1, component_placement: {"actor,rollout,reward": 0-3}}\nrunner: {task_type: reasoning}\n'
        f"placewright: {{components: {{actor: {{seconds: {{4: 1}}{parallel}}}, rollout: {{seconds: {{4: 1}}}}}}}}\n"
    )
    reading = read(Source("run.yaml", text), read_shorthand("1x4"), "rlinf")
    opening = reading.session.opening
    assert isinstance(opening, _OpeningWithModels) and isinstance(opening.opening, RlinfOpening)
    assert opening.opening.leaves_degrees is asked
