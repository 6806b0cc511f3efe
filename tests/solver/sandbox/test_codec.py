"""What crosses between processes arrives as it was: every field of every word, those that do not count in comparisons too."""

from __future__ import annotations

import collections.abc
import json
import random
import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence, Union

import placewright
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.answer import Answer
from placewright.models.component import Component
from placewright.models.dialects.load import load
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.job import Job
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, Nodes, numbered_nodes
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Repeat, Run, Runs
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.spec import PlanningSpec
from placewright.models.problem import Problem
from placewright.solver.sandbox.messages import Codec, Messages, NotOurs, SolveRequest, read_question, write_question

from ..parity_cases.random_problems import random_problem

ROOT = Path(next(iter(placewright.__path__)))
FILES = [*sorted((ROOT / "examples").rglob("*.yaml")), *sorted((ROOT / "examples").rglob("*.sh"))]
TEXT = st.text(max_size=4)


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, as small as it can be said."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, arguments))
    if origin is tuple and arguments[1:] != (...,):
        return st.tuples(*map(values, arguments))
    if origin in (tuple, collections.abc.Sequence):
        return sequences(arguments[0], origin is tuple)
    if origin is frozenset:
        return st.frozensets(values(arguments[0]), max_size=3)
    if origin is collections.abc.Mapping:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if origin is collections.abc.Callable:
        return st.just(str)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind, localns={"Fraction": Fraction, "PlanningResult": PlanningResult})
        return st.builds(kind, **{field.name: values(hints[field.name]) for field in fields(kind)})
    small: dict[Any, st.SearchStrategy[Any]] = {
        int: st.integers(-(2**70), 2**70), str: TEXT, bool: st.booleans(), float: st.floats(allow_nan=False), type(None): st.none(),
        object: st.none(),  # the problem that a planning problem was made of stays at home
        range: st.builds(range, st.integers(), st.integers(), st.integers(1, 3)), Fraction: st.fractions(max_denominator=64),
    }  # fmt: skip
    return small[kind]


def sequences(kind: Any, plain: bool) -> st.SearchStrategy[Any]:
    listed = st.lists(values(kind), max_size=2)
    if plain:
        return listed.map(tuple)
    compact = {int: values(range), Run: st.just(Runs([Repeat((Run(range(2), 0),), 3)])), Node: st.just(MANY)}
    return st.one_of(listed.map(tuple), listed, *([compact[kind]] if kind in compact else []))


MANY = Nodes([numbered_nodes(Node(0, "", cpus=8), 5)])


def same(one: object, other: object) -> bool:
    """Equal to the last field and of the same types; functions are not compared."""
    if callable(one) and callable(other):
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Runs) and isinstance(other, Runs):
        return same(one.repeats, other.repeats)
    if isinstance(one, Nodes) and isinstance(other, Nodes):
        return same(one.alike, other.alike)
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, dict) and isinstance(other, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def round_trip(problem: Problem) -> Problem:
    return read_question(write_question(SolveRequest(problem, 1.0, 1))).problem


def test_sets_of_what_has_no_order_arrive_as_they_were() -> None:
    job = Job((), planning=PlanningSpec(accepted={"actor": frozenset((4, Parallel(tp)) for tp in (1, 2, 4))}))
    problem = Problem(read_shorthand("1x4"), job)
    assert round_trip(problem) == problem
    assert write_question(SolveRequest(problem, 1.0, 1)) == write_question(SolveRequest(round_trip(problem), 1.0, 1))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(values(Problem))
def test_any_problem_arrives_as_it_was(problem: Problem) -> None:
    assert same(round_trip(problem), problem)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(values(Answer))
def test_any_answer_arrives_as_it_was(answer: Answer) -> None:
    codec = Codec({object: None}, names={"PlanningResult": PlanningResult})
    assert same(codec.read(json.loads(json.dumps(codec.write(answer, Answer))), Answer), answer)


def test_random_problems_of_the_parity_test_arrive_as_they_were() -> None:
    source = random.Random(7)
    for _ in range(200):
        problem = random_problem(source)
        assert same(round_trip(problem), problem)


def read_examples() -> Iterator[Problem]:
    for file in FILES:
        try:
            reading = load(str(file), read_shorthand("4x8xH100"), "auto")
        except UnusableInput:
            continue
        if reading.problem is not None:
            yield reading.problem


def test_the_problems_of_all_examples_arrive_as_they_were() -> None:
    problems = list(read_examples())
    assert len(problems) >= 8
    for problem in problems:
        assert same(round_trip(problem), problem)


def test_many_nodes_and_runs_stay_few_words() -> None:
    cluster = read_shorthand("10000x8xH100")
    assert isinstance(cluster, Cluster)
    runs = Runs([Repeat((Run(range(8), 0, each=1),), 10_000)])
    problem = Problem(cluster, Job((Component("actor", runs=runs),)))
    assert len(write_question(SolveRequest(problem, 1.0, 1))) < 2_000
    assert same(round_trip(problem), problem)


def test_an_answer_comes_without_its_cluster_and_with_plain_runs() -> None:
    cluster = Cluster((Node(0, "first"), Node(1, "second")))
    plan = Plan(cluster, Assignment({"actor": Runs([Repeat((Run(range(1), 0),), 2)])}), "feasible")
    line = Messages(cluster).write(Answer("feasible", plan))
    read = Messages(cluster).read(line)
    assert b"first" not in line and isinstance(read, Answer) and read.plan is not None
    assert read.plan == plan and read.plan.cluster is cluster
    assert type(read.plan.assignment.runs["actor"]) is tuple


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (True, int), (1, str), (1.5, int), ("1", int), (None, int), ([1, 2], tuple[int]), ({"list": []}, tuple[int, ...]),
        ([1, 2, 0], range), ([1, 2], range), ("GREAT", Severity), (["a"], Node), ({"7": 1}, Union[int, range]), ([[1]], typing.Mapping[str, int]),
        ({"short": []}, Sequence[int]), ([1, "x"], Sequence[int]), ([1, 0], Fraction), ([1.5, 2], Fraction), ({"short": [[[], 1], 7]}, Sequence[Run]),
    ],
)  # fmt: skip
def test_data_that_is_no_value_of_the_type_is_refused(data: object, kind: Any) -> None:
    with pytest.raises(NotOurs):
        Codec().read(data, kind)


def test_fractions_arrive_exactly() -> None:
    for value in (Fraction(512, 5), 3):
        assert Codec().read(Codec().write(value, Union[int, Fraction]), Union[int, Fraction]) == value


def test_a_value_of_another_type_is_not_sent() -> None:
    @dataclass(frozen=True)
    class More(Run):
        pass

    for value, kind in ((1, str), (More(range(1), 0), Run), ({1, 2}, Sequence[int]), (Run(range(1), 0), Union[range, Node])):
        with pytest.raises(TypeError):
            Codec().write(value, kind)


def test_types_that_cannot_cross_are_refused_before_anything_is_sent() -> None:
    for kind in (object, set[int], Callable[[int], int], Path):
        with pytest.raises(TypeError):
            Codec().form(kind)


@pytest.mark.parametrize("line", [b"", b"{", b"\xff", b"[" * 100_000, b"1", b"[]", b'{"0":[null,1,1.5,4]}'])
def test_a_line_that_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(NotOurs):
        Messages(Cluster(())).read(line)
