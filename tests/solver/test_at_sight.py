"""What is said to be impossible without a search is what a search finds impossible too."""

from __future__ import annotations

from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.findings.finding import Finding
from placewright.models.job import Job
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.problem import Problem
from placewright.planner.verify import MOST_NODES, why_not
from placewright.solver.refuting.conflict import find_contradiction
from placewright.solver.searching.search import solve
from sampling import examples

from .cases import cluster, component, problem
from .parity_cases.random_problems import random_problem

NAMES = "abcd"
TIMED = "seconds: {8: 90, 16: 50}, parallel: {tp: 4}"


def related(seed: int, *levels: str) -> Problem:
    """Up to four components on eight accelerators, and relations between them at random, with `levels` those between domains of these too."""
    random = Random(seed)
    words: dict[str, list[str]] = {}
    for _ in range(random.randint(2, 5)):
        word = random.choice(("together", "within", "apart", *(("near", "near", "away", "away") if levels else ())))
        level = f"@{random.choice(levels)}" if word in ("near", "away") else ""
        words.setdefault(word, []).append("+".join(random.sample(NAMES, 2)) + level)
    sizes = [component(name, least := random.randint(1, 3), random.randint(least, 8)) for name in NAMES]
    nodes = [{"count": 4}, {"count": 4}]
    if levels:  # racks and domains may cross
        nodes = [{"count": 2, "rack": random.choice("rs"), "nvlink_domain": random.choice("mn")} for _ in range(4)]
    return problem(cluster(*nodes), *sizes, **{word: " ".join(pairs) for word, pairs in words.items()})


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "seeds", "least"), [((), examples(60), 5), (("node", "nvlink_domain", "rack"), examples(20), 2)])
def test_relations_that_contradict_each_other_are_impossible(levels: tuple[str, ...], seeds: int, least: int) -> None:
    found = 0
    for seed in range(seeds):
        asked = related(seed, *levels)
        if finding := find_contradiction(asked):
            answer = solve(asked)
            found += answer.how != "given"  # what is not searched is refuted by the same words
            assert answer.verdict == IMPOSSIBLE, seed
            assert finding.code == "PW601" and finding.help
    assert found > least


def test_nothing_that_has_a_placement_is_said_to_have_none() -> None:
    found = 0
    for seed in range(examples(100)):
        asked = random_problem(Random(seed))
        reasons = list(why_not(asked))
        if reasons:
            found += 1
            assert solve(asked).verdict == IMPOSSIBLE, seed
    assert found > 3


def judged(folder: Path, rollout: str, actor: str, plan: str = "", more: str = "") -> tuple[Finding, Finding]:
    """What `verify` and `solve` say of a file, each its one error."""
    file = folder / "job.yaml"
    file.write_text(f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{rollout}}}\n  actor: {{{actor}}}\n{more}{plan}", encoding="utf-8")
    (said,), (found,) = pw.verify(file).errors, pw.solve(file, sandbox=False).findings
    return said, found


@pytest.mark.parametrize(
    ("rollout", "actor", "plan", "more"),
    [
        ("accelerators: 8, colocate_with: actor, disjoint_from: actor", "accelerators: 8", "", ""),
        ("accelerators: 8, within: actor, disjoint_from: actor", "accelerators: 8-16", "", ""),
        ("accelerators: 8, disjoint_from: ref", "accelerators: 8, colocate_with: [rollout, ref]", "", "  ref: {accelerators: 8}\n"),
        ("accelerators: 2, apart_from: {component: actor, level: node}, near: {component: actor, level: node}", "accelerators: 4", "", ""),
        ("accelerators: 2, apart_from: {component: actor, level: node}", "accelerators: 2, colocate_with: rollout", "", ""),
        (
            "accelerators: 2, apart_from: {component: ref, level: node}, near: {component: actor, level: node}",
            "accelerators: 4, within: ref",
            "",
            "  ref: {accelerators: 8}\n",
        ),
        ("accelerators: 16", "accelerators: 8, disjoint_from: rollout", "", ""),
        ("accelerators: 32", "accelerators: 8", "", ""),
        (f"{TIMED}, colocate_with: actor, disjoint_from: actor", TIMED, "", ""),
        (f"{TIMED}, accelerators: 32", TIMED, "", ""),
        (f"{TIMED}, memory: 90GiB", TIMED, "", ""),
        (TIMED, TIMED, "plan: {workflow: rollout => actor, budget: {accelerators: 2}}\n", ""),
        (TIMED, f"{TIMED}, disjoint_from: rollout", "plan: {workflow: rollout => actor, budget: {accelerators: 7}}\n", ""),
        (TIMED, TIMED, "plan: {workflow: rollout => actor, budget: {seconds: 99}}\n", ""),
        (TIMED, TIMED, "plan: {workflow: rollout -> actor, budget: {seconds: 49}}\n", ""),
        (f"{TIMED}, phase: generate", f"{TIMED}, phase: train", "plan: {cost_model: stages, budget: {seconds: 99}}\n", ""),
    ],
)
def test_verify_says_what_solve_says(rollout: str, actor: str, plan: str, more: str, tmp_path: Path) -> None:
    """With the same code at the same place; what helps is told by `solve`, which tries it."""
    said, found = judged(tmp_path, rollout, actor, plan, more)
    assert said.code == found.code == "PW601"
    assert said.span is not None and said.span == found.span
    assert said.help and found.help


def test_what_only_a_search_can_tell_is_left_to_it(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(
        "cluster: 2x8xH100\ncomponents:\n  a: {accelerators: 12, parallel: {tp: 4}}\n  b: {accelerators: 4, parallel: {tp: 2}}\n"
    )
    assert not pw.verify(file).findings


@pytest.mark.parametrize(("nodes", "told"), [(MOST_NODES, 1), (MOST_NODES + 1, 0)])
def test_sums_over_very_many_nodes_are_left_to_a_search(nodes: int, told: int) -> None:
    machines = read_shorthand(f"{nodes}x8")
    assert isinstance(machines, Cluster)
    asked = Problem(machines, Job((component("a", 8 * nodes + 8),)))
    assert len(list(why_not(asked))) == told
    assert solve(asked).verdict == IMPOSSIBLE
