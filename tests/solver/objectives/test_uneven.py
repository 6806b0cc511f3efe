"""Open counts are as even as can be; the arithmetic behind it is compared with all counts of small ranges."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import Answer
from placewright.solver.objectives.counts import Range, least_uneven, most_even, open_sets, unevenness
from placewright.solver.searching.search import solve

from ..cases import cluster, component, problem

EIGHT = cluster({"count": 8}, {"count": 8})


def ranges(source: random.Random) -> list[Range]:
    return [(least := source.randint(1, 4), least + source.randint(0, 4)) for _ in range(source.randint(2, 4))]


def test_the_most_even_counts_differ_least_of_all_with_their_sum() -> None:
    source = random.Random(5)
    for _ in range(80):
        limits = ranges(source)
        for total in range(sum(least for least, _ in limits), sum(most for _, most in limits) + 1):
            every = [counts for counts in product(*(range(least, most + 1) for least, most in limits)) if sum(counts) == total]
            chosen = most_even(limits, total)
            assert tuple(chosen) in every
            assert unevenness(chosen) == min(map(unevenness, every))


@pytest.mark.parametrize(
    ("parts", "counts"),
    [
        (((1, 16, 1), (1, 16, 1)), [8, 8]),
        (((1, 16, 1), (1, 16, 1), (1, 16, 1)), [6, 5, 5]),
        (((1, 16, 1), (1, 16, 1), (1, 2, 1)), [7, 7, 2]),
        (((1, 16, 4), (1, 16, 1), (1, 16, 1)), [4, 6, 6]),
        (((1, 16, 8), (1, 16, 8)), [8, 8]),
        (((10, 16, 1), (1, 16, 1), (1, 16, 1)), [10, 3, 3]),
    ],
)
def test_all_accelerators_are_split_evenly(parts: tuple[tuple[int, int, int], ...], counts: list[int]) -> None:
    question = problem(EIGHT, *(component("abc"[number], least, most, tp=tp) for number, (least, most, tp) in enumerate(parts)))
    answer = solve(question)
    assert answer.plan is not None
    held = [answer.plan.assignment.count_held(part.name) for part in question.components]
    assert (sorted(held), sum(held), answer.verdict) == (sorted(counts), sum(counts), "optimal")
    assert held == counts or parts[0] == parts[1]
    assert least_uneven(question, answer.plan.assignment) <= unevenness(held)


def test_what_shares_counts_once_and_what_is_inside_not_at_all() -> None:
    shared = problem(EIGHT, component("a", 1, 16), component("b", 1, 16), component("c", 1, 16), together="b+a")
    assert [[part.name for part in members] for members in open_sets(shared)] == [["a", "b"], ["c"]]
    inside = problem(EIGHT, component("a", 1, 16), component("b", 1, 16), component("c", 1, 16), within="c+a")
    assert [[part.name for part in members] for members in open_sets(inside)] == [["a"], ["b"]]
    answer = solve(shared)  # more accelerators first: a and b count twice
    assert answer.plan is not None
    assert {name: answer.plan.assignment.count_held(name) for name in "abc"} == {"a": 15, "b": 15, "c": 1}


def native(folder: Path, **amounts: str) -> Answer:
    lines = [f"  {name}: {{{text}}}" for name, text in amounts.items()]
    (folder / "job.yaml").write_text("\n".join(["cluster: 4x8xH100", "components:", *lines, ""]))
    return pw.solve(folder / "job.yaml", sandbox=False)


def test_equally_good_splits_are_counted_and_named(tmp_path: Path) -> None:
    answer = native(tmp_path, actor="accelerators: 1-32", rollout="accelerators: 1-32", reference="accelerators: 1-32")
    assert answer.splits == 31 * 30 // 2
    (note,) = answer.findings
    assert note.message == "465 splits of 32 accelerators are equally good without times; the most even is chosen"
    assert note.help.startswith(
        "to choose by time, add `seconds` to actor, rollout and reference; or add `colocate_with: actor` to reference"
    )


def test_models_without_a_batch_are_told_how_their_times_are_estimated(tmp_path: Path) -> None:
    model = "accelerators: 1-32, estimate: {model: Qwen/Qwen2.5-0.5B}"
    (note,) = native(tmp_path, actor=model, rollout=model).findings
    assert "or estimate them: write `plan: {batch: {prompts: 1024, samples: 8, response: 4096}}`" in note.help


@pytest.mark.parametrize(
    "amounts",
    [
        {"actor": "accelerators: 1-32"},
        {"actor": "accelerators: 1-16", "rollout": "accelerators: 1-16"},
        {"actor": "accelerators: 1-32", "rollout": "accelerators: 1-32, colocate_with: actor"},
        {"actor": "accelerators: 1-32, seconds: {8: 10}", "rollout": "accelerators: 1-32, seconds: {8: 10}"},
    ],
)
def test_where_one_split_is_best_nothing_is_said(tmp_path: Path, amounts: dict[str, str]) -> None:
    answer = native(tmp_path, **amounts)
    assert answer.plan is not None
    assert (answer.splits, [finding for finding in answer.findings if "splits" in finding.message]) == (0, [])


def test_where_another_term_decides_the_split_is_not_said_to_be_the_most_even(tmp_path: Path) -> None:
    answer = native(tmp_path, actor="accelerators: 1-32, contiguous: true", rollout="accelerators: 1-32")
    assert answer.plan is not None
    assert answer.splits == 0
    assert answer.findings[0].message == "31 splits add up to 32 accelerators; without times the objective chooses, then the most even"
