"""Where a plan flips: each flip is searched again, from the question with other times."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.kind import Kind
from placewright.models.planning.option import Option
from placewright.models.planning.planned import Planned, Priced, Unplaceable
from placewright.models.planning.question import Edge, Question, Task
from placewright.models.planning.workload import SECONDS
from placewright.solver.planning.after.flips.flip import QUICKEST, SLOWEST, WORTH, Flip
from placewright.solver.planning.after.flips.sensitivity import sensitivity
from placewright.solver.planning.check import price
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.search import search

from ..designs import each_planned


def scaled(question: Question, component: str, percent: int) -> Question:
    """The question in which a component takes so many percent of its times."""
    batches = question.batches
    options = tuple(
        replace(each, nanoseconds=tuple(-(-time * percent // (100 * batches)) * batches for time in each.nanoseconds))
        for each in question.options[component]
    )
    return replace(question, options={**question.options, component: options})


def stands(planned: Planned, component: str, percent: int) -> bool:
    """Is the plan within the budget there, and no other one better by more than is worth a change? Searched without a bound."""
    question, model = scaled(planned.question, component, percent), cost_model(planned.model)
    place = planned.question.options[component].index(planned.best.design.options[component])
    own = question.options[component][place]
    design = replace(planned.best.design, options={**planned.best.design.options, component: own})
    here = price(question, model, design)
    traffic = planned.best.traffic
    time = (here[0] if question.aim == SECONDS else here[1]) + traffic
    if question.budget.nanoseconds is not None and time > question.budget.nanoseconds:
        return False
    best = search(question, model, excluded=[design] if traffic else []).best
    if best is None:
        return True
    if question.aim == SECONDS:
        return best.price[0] * (100 + WORTH) >= time * 100
    return best.price[0] >= here[0]


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_a_plan_stands_up_to_where_it_is_said_and_no_further(name: str) -> None:
    flipped, random = 0, Random(3)
    for planned in each_planned(name, range(40)):
        found = sensitivity(planned)
        for flip in found.flips:
            assert flip.sure and (flip.holds == 100 or stands(planned, flip.component, flip.holds)), flip
            assert stands(planned, flip.component, random.randint(*sorted((100, flip.holds)))), flip
            if flip.flips is None:
                assert flip.holds in (SLOWEST, QUICKEST)
            else:
                assert abs(flip.flips - flip.holds) == 1
                assert not stands(planned, flip.component, flip.flips), flip
                flipped += 1
    assert flipped > 8


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_the_traffic_of_the_plan_counts_and_others_need_none(name: str) -> None:
    """So that it holds at least so far; where another is better before anything changes, nothing is said."""
    held = flipped = silent = 0
    random = Random(1)
    for planned in each_planned(name, range(40)):
        crossing = replace(planned, best=replace(planned.best, traffic=planned.best.nanoseconds * random.choice((2, 12)) // 100))
        found = sensitivity(crossing, traffic=True)
        now = planned.question.tasks[0].component
        if not found.flips:
            silent += not stands(crossing, now, 100)
        for flip in found.flips:
            assert flip.holds == 100 or stands(crossing, flip.component, flip.holds), flip
            assert flip.flips is None or not stands(crossing, flip.component, flip.flips), flip
            held, flipped = held + (flip.flips is None), flipped + (flip.flips is not None)
    assert held > 20 and flipped > 8 and silent > 0


def test_what_is_better_but_for_its_traffic_is_no_flip() -> None:
    """A plan that crosses nothing, proved as the best by what others cross: how far it holds is said by that proof alone."""
    held = 0
    for planned in each_planned("stages", range(20)):
        others = [each for each in planned.others if each.nanoseconds * 100 > planned.best.nanoseconds * (100 + 2 * WORTH)]
        for second in others[:1]:
            found = sensitivity(replace(planned, best=second, others=(), bound=second.nanoseconds, proved=True), traffic=True)
            assert all(flip.flips is None for flip in found.flips) and found.traffic_left_out
            held += len(found.flips)
    assert held > 8


def test_nothing_is_said_of_a_plan_that_others_may_beat_already() -> None:
    """Where designs that are better were not placed, a flip at once would be none."""
    for planned in each_planned("stream", range(5)):
        unsure = replace(planned, proved=False, unplaceable=(Unplaceable(planned.best, ()),))
        near = sensitivity(unsure)
        assert not near.searches and all(flip.flips is None for flip in near.flips)  # but how far it holds by its bound
        found = sensitivity(replace(unsure, bound=unsure.bound * 9 // 10))
        assert not found.flips and not found.searches
        assert {name for name, _ in found.left} == {task.component for task in planned.question.tasks}


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_what_it_flips_to_is_the_best_there(name: str) -> None:
    flipped = 0
    for planned in each_planned(name, range(30)):
        for flip in sensitivity(planned).flips:
            if flip.flips is None or not flip.sure:
                continue
            question = scaled(planned.question, flip.component, flip.flips)
            best = search(question, cost_model(name)).best
            if flip.to is None:
                assert best is None
                continue
            assert best is not None
            assert price(question, cost_model(name), flip.to.design) == best.price
            flipped += 1
    assert flipped > 5


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_what_is_said_where_time_is_over_is_true(name: str) -> None:
    """How far it holds is proved in any case; that it flips somewhere is known of a design that is better there."""
    held = flipped = part = 0
    random = Random(2)
    for planned in each_planned(name, range(40)):
        found = sensitivity(planned, limit=random.choice((0.0005, 0.002, 0.01)), most=random.choice((0, 1, 3, 9)))
        for flip in found.flips:
            assert flip.holds == 100 or stands(planned, flip.component, flip.holds), flip
            assert flip.flips is None or not stands(planned, flip.component, flip.flips), flip
            held, flipped = held + (flip.flips is None), flipped + (flip.flips is not None)
            part += not flip.sure
    assert held > 20 and flipped > 5 and part > 20


@pytest.mark.parametrize("name", ["stages", "stream"])
def test_as_far_as_the_proof_of_the_plan_reaches_it_holds_everywhere(name: str) -> None:
    """Without any search: nothing that is cheaper by so much has room, and where it is slower nothing gets cheaper."""
    reached = 0
    for planned in each_planned(name, range(25)):
        for flip in sensitivity(planned, most=0).flips:
            step = 1 if flip.holds > 100 else -1
            for percent in range(100 + step, flip.holds + step, 9 * step):
                assert stands(planned, flip.component, percent), (flip, percent)
                reached += 1
    assert reached > 100


def test_a_plan_for_fewest_accelerators_holds_until_it_breaks_its_budget() -> None:
    """Fewer that keep to it where a component is slower would do as it is."""
    broken = 0
    for planned in each_planned("stream", range(240)):
        if planned.question.aim == SECONDS or not planned.proved:
            continue
        for flip in sensitivity(planned).flips:
            if flip.flips is not None and flip.flips > 100:
                most = planned.question.budget.nanoseconds
                assert most is not None and flip.sure and flip.exact and flip.takes > most
                assert flip.holds == 100 or stands(planned, flip.component, flip.holds)
                broken += 1
    assert broken > 3


def test_what_is_known_is_said_where_no_search_is_left() -> None:
    """Another arrangement that is better from some percent on: then the plan flips there, or sooner."""
    said = 0
    for planned in each_planned("stream", range(30)):
        found = sensitivity(planned, most=0)
        assert found.searches == 0
        for flip in found.flips:
            if flip.flips is None:
                continue
            assert not flip.sure and not stands(planned, flip.component, flip.flips)
            better = flip.to is not None and flip.to.nanoseconds < flip.takes
            assert better or planned.question.aim != SECONDS or planned.question.budget.nanoseconds is not None
            said += 1
    assert said > 2


def test_no_more_is_searched_than_was_asked_for() -> None:
    for planned in each_planned("stream", range(10)):
        found = sensitivity(planned, most=1)
        assert found.searches <= 1
        said = {flip.component for flip in found.flips} | {name for name, _ in found.left}
        assert said == {task.component for task in planned.question.tasks}


def test_the_same_plan_gives_the_same_answer() -> None:
    one, other = ([sensitivity(planned).flips for planned in each_planned("stream", range(6))] for _ in range(2))
    assert one == other
    assert any(isinstance(flip, Flip) for its in one for flip in its)


def nested(seed: int) -> Question:
    """Five components on 16 accelerators, each of which may lie inside any other: thousands of structures."""
    random = Random(seed)
    work = {name: random.randint(100, 1500) for name in "abcde"}
    power = {name: random.choice((0.4, 0.7, 0.9, 1.0)) for name in work}
    options = {
        name: tuple(Option(0, count, Parallel(), (round(10**7 * its / count ** power[name]),)) for count in (2, 4, 8, 16))
        for name, its in work.items()
    }
    edges = tuple(Edge(one, other, True) for one, other in ((0, 1), (0, 2), (1, 3), (2, 3), (2, 4)))
    return Question((Kind("H100", 16),), tuple(map(Task, work)), options, edges, nested=True)


@pytest.mark.parametrize("seed", [0, 3])
def test_of_thousands_of_structures_it_is_proved_where_the_plan_flips(seed: int) -> None:
    asked, model = nested(seed), cost_model("stream")
    searched = search(asked, model)
    assert searched.best is not None and searched.bound is not None
    assert searched.bound == searched.best.price[0]
    best = Priced(searched.best.design, searched.best.price[0])
    planned = Planned(asked, "stream", best, searched.bound, True, structures=searched.structures)
    found = sensitivity(planned)
    assert not found.left and all(flip.sure for flip in found.flips)
    for flip in found.flips:
        assert flip.flips is None or not stands(planned, flip.component, flip.flips)


def test_a_plan_that_flips_and_flips_back_is_said_to_hold_up_to_where_it_flips() -> None:
    """Apart both are as long at 0.75x: 42 seconds instead of 46.7; at 0.5x they take turns again, 41.7 seconds instead of 42."""
    tasks = (Task("rollout"), Task("reward"))
    rows = {"rollout": {2: 52_849, 4: 20_026}, "reward": {2: 42_002, 4: 31_667}}
    options = {
        name: tuple(Option(0, count, Parallel(), (milliseconds * 10**6,)) for count, milliseconds in its.items())
        for name, its in rows.items()
    }
    question, model = Question((Kind("", 4),), tasks, options), cost_model("stream")
    best = search(question, model).best
    assert best is not None and best.price[0] == 51_693 * 10**6
    planned = Planned(question, "stream", Priced(best.design, best.price[0]), best.price[0], True)
    found = {(flip.component, (flip.flips or flip.holds) > 100): flip for flip in sensitivity(planned).flips}
    assert stands(planned, "rollout", QUICKEST) and not stands(planned, "rollout", 75)
    assert all(stands(planned, "rollout", percent) for percent in range(found["rollout", False].holds, 101))
    assert found["rollout", False].flips == found["rollout", False].holds - 1 and found["rollout", False].sure
