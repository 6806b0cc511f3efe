"""Who works when: compared with the batches, played one by one."""

from __future__ import annotations

import pytest
from placewright.models.account import BusyInterval, busy, group_by_block
from placewright.models.planning.planned import PlanningResult
from placewright.planner.accounting import usages
from placewright.planner.costs import cost_model

from .designs import each_planned


def played(planned: PlanningResult, segment: int) -> dict[int, tuple[int, int]]:
    """Task -> when its first batch begins and when its last one is done, each batch as soon as it can."""
    question, design = planned.question, planned.best.design
    tasks = [task for task, its in enumerate(design.segments) if its == segment]
    done: dict[int, list[int]] = {}
    for task in tasks:
        each = design.nanoseconds(question, task) // question.flow.batches
        before = [edge.earlier for edge in question.flow.edges if edge.later == task and edge.earlier in tasks]
        ends: list[int] = []
        for batch in range(question.flow.batches):
            there = max((done[other][batch] for other in before), default=0)
            ends.append(max(there, ends[-1] if ends else 0) + each)
        done[task] = ends
    return {task: (done[task][0] - design.nanoseconds(question, task) // question.flow.batches, done[task][-1]) for task in tasks}


def test_batches_are_handed_on_as_soon_as_they_are_there() -> None:
    seen = 0
    for planned in each_planned("stream", range(80)):
        for usage in usages(planned.question, cost_model("stream"), planned.best.design):
            when = played(planned, usage.segment)
            for turn in usage.turns:
                assert (turn.begins, turn.ends) == when[turn.task]
                assert turn.ends is not None and turn.ends <= usage.nanoseconds
                assert turn.starves >= 0
                seen += turn.begins != 0
    assert seen > 10


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_every_task_works_once_on_every_block_of_its_component(name: str) -> None:
    for planned in each_planned(name, range(60)):
        question, design = planned.question, planned.best.design
        found = usages(question, cost_model(name), design)
        places = group_by_block(found)
        without = [name for name in question.components if not design.blocks_of(name)]
        assert [its[0].components for its in places] == [*(block.components for block in design.blocks), *((name,) for name in without)]
        assert [its[0].block for its in places] == [*range(len(design.blocks)), *(None for _ in without)]
        for place in places:
            worked = sorted(turn.task for usage in place for turn in usage.turns)
            assert worked == [task for task, its in enumerate(question.tasks) if its.component in place[0].components]
            works, length = busy(place)
            assert length == planned.best.nanoseconds
            assert works == sum(design.nanoseconds(question, task) for task in worked)


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_nobody_works_longer_than_a_part_takes(name: str) -> None:
    for planned in each_planned(name, range(60)):
        for usage in usages(planned.question, cost_model(name), planned.best.design):
            assert 0 <= usage.works <= usage.nanoseconds
            assert usage.idle == usage.nanoseconds - usage.works


def test_a_turn_of_which_no_time_is_known_starves_for_none() -> None:
    assert BusyInterval(0, 5).starves == 0
    assert BusyInterval(0, 5, 1, 9).starves == 3
