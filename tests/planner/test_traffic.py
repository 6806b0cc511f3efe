"""What crosses counts as time: compared with every design placed, and its traffic weighed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.cli.main import run
from placewright.models.answer import IMPOSSIBLE
from placewright.models.job import Link
from placewright.models.placements.plan import OPTIMAL
from placewright.models.planning.workload import SECOND, After, Workload
from placewright.models.problem import Problem
from placewright.models.quantity import read_rate
from placewright.planner.placing import placing
from placewright.planner.plan import plan
from placewright.planner.problem import planning_problem
from placewright.planner.traffic import Traffic
from placewright.solver.searching.search import solve

from ..solver.cases import cluster, problem
from .looped import timed
from .tried import priced

SEEDS = 10


def drawn(seed: int) -> tuple[Problem, Workload]:
    """Two components on two or three small nodes in racks or none, with weights that are sent or collectives."""
    random = Random(f"traffic {seed}")
    racks = random.choice(("", "ab"))
    nodes = [{"count": random.choice((2, 3)), **({"rack": racks[rank % 2]} if racks else {})} for rank in range(random.choice((2, 2, 3)))]
    parts = [
        timed(name, tp, 4, random.choice((30, 60)), random.choice((0.5, 1.0)), tp=tp, traffic=random.choice((0, 0, 50)))
        for name, tp in (("rollout", random.choice((1, 2))), ("actor", random.choice((1, 2))))
    ]
    links = (Link("actor", "rollout", weights=random.choice((50, 100))),)
    found = problem(cluster(*nodes), *parts)
    rates = {"rack" if racks else "node": random.choice((2, 10, 50))}
    workload = Workload((After("rollout", "actor"),), batches=random.choice((1, 4)), bandwidth=rates)
    return replace(found, job=replace(found.job, links=links)), workload


def best_of_all(asked_for: Problem, workload: Workload) -> int:
    """Nanoseconds of the best design with the least that crosses in any placement of it."""
    question, traffic = planning_problem(asked_for.with_workload(workload)), Traffic(asked_for.with_workload(workload))
    seen: dict[object, int] = {}
    for (time, _), design in sorted(priced(question, False), key=lambda each: each[0]):
        key = design.blocks, tuple(design.options.items())
        if key not in seen and time < min(seen.values(), default=1 << 62):
            answer = solve(traffic.weigh(placing(asked_for, question, design)))
            if answer.plan is not None:
                seen[key] = time + traffic.nanoseconds(answer.plan.assignment)
    return min(seen.values())


def test_the_best_with_its_traffic_is_found() -> None:
    proved = crossing = 0
    for seed in range(SEEDS):
        asked_for, workload = drawn(seed)
        found = plan(asked_for.with_workload(workload), solve).planned
        assert found is not None, seed
        best, total = best_of_all(asked_for, workload), found.best.nanoseconds + found.best.traffic
        assert found.bound <= best <= total, seed
        assert not found.proved or found.bound == best == total, seed
        proved += found.proved
        crossing += bool(found.best.traffic)
    assert proved > SEEDS // 2
    assert crossing > 0


def test_what_is_dear_at_one_level_is_weighed_by_its_own_bandwidth() -> None:
    """MiB across racks and zones cost what their levels say, and levels without a bandwidth nothing."""
    where = cluster({"count": 2, "rack": "a", "zone": "z"}, {"count": 2, "rack": "b", "zone": "z"})
    found = problem(where, timed("actor", 4, 4, traffic=100))
    for rates, ns in (({"rack": 50}, 2 * SECOND), ({"zone": 50}, 0), ({"rack": 100, "zone": 1}, SECOND)):
        traffic = Traffic(found.with_workload(Workload(bandwidth=rates)))
        answer = solve(traffic.weigh(found))
        assert answer.plan is not None
        assert traffic.nanoseconds(answer.plan.assignment) == ns


def test_nodes_are_a_level_of_their_own_where_no_other_is_named() -> None:
    where = cluster({"count": 2}, {"count": 2})
    found = problem(where, timed("actor", 4, 4, tp=2, traffic=100))
    traffic = Traffic(found.with_workload(Workload(bandwidth={"node": 100})))
    answer = solve(traffic.weigh(found))
    assert answer.plan is not None
    assert traffic.nanoseconds(answer.plan.assignment) == SECOND
    plan_as_is = traffic.restore(answer.plan)
    assert plan_as_is.cluster == where
    assert "MiB of collectives across nodes" in {term.name for term in plan_as_is.terms}


@pytest.mark.parametrize(
    ("written", "seconds"), [("0.1GiB", 30), ("102.4MiB", 30), ("1GiB", 3), ("3GiB", 1), ("0.7GiB", Fraction(30, 7)), ("1MiB", 3072)]
)
def test_a_bandwidth_is_what_is_written(written: str, seconds: Fraction | int) -> None:
    """3 GiB take so long, and by less than a nanosecond a MiB more where that is not a whole number of them."""
    found = problem(cluster({"count": 2}, {"count": 2}), timed("actor", 4, 4, tp=2, traffic=3 * 1024))
    (cost,) = Traffic(found.with_workload(Workload(bandwidth={"node": read_rate(written)}))).costs.values()
    assert 0 <= 3 * 1024 * cost - seconds * SECOND < 3 * 1024


def test_what_crosses_a_level_without_a_bandwidth_takes_no_time() -> None:
    found = problem(cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}), timed("actor", 4, 4, tp=2, traffic=5))
    terms = Traffic(found.with_workload(Workload(bandwidth={"rack": 1024}))).of_terms
    assert terms and all(name.endswith(" racks") for name in terms)


TWO_NODES = "cluster: {nodes: [{repeat: 2, accelerators: {count: 4, model: H100}}]}\n"


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        (
            "a: {placement: '1,3,6,7', seconds: {4: 30}}\n  b: {accelerators: 1-8, seconds: {4: 46}, scaling: table, traffic: 6GiB, colocate_with: a}",
            79,
        ),
        ("a: {placement: 3-4, seconds: {2: 30}, traffic: 6GiB}\n  b: {accelerators: 1-8, seconds: {3: 46}, scaling: table}", 79),
        ("a: {placement: 2-5, traffic: 6GiB}\n  b: {accelerators: 1-8, seconds: {2: 46}, scaling: table}", 49),
    ],
    ids=["of what is on given ranks", "of given ranks with times", "of given ranks without times"],
)
def test_what_crosses_of_given_ranks_counts_as_it_does_once_all_is_written(parts: str, seconds: int, tmp_path: Path) -> None:
    """3 seconds of an iteration, before and after the plan was written into the file."""
    file = tmp_path / "job.yaml"
    file.write_text(f"{TWO_NODES}components:\n  {parts}\nplan: {{workflow: a => b, bandwidth: {{node: 2GiB}}}}\n", encoding="utf-8")
    if "a: {placement: 2-5" in parts:
        file.write_text(file.read_text(encoding="utf-8").replace("workflow: a => b, ", ""), encoding="utf-8")
    planned = pw.solve(str(file), sandbox=False).planned
    assert planned is not None and planned.proved
    assert round(planned.price[0] / SECOND, 3) == seconds
    assert run(["solve", str(file), "--write", "--progress", "none"]) == 0
    account = pw.account(str(file))
    assert account is not None and account.given
    assert account.planned.best.nanoseconds + account.planned.best.traffic == planned.price[0]


def test_a_budget_of_seconds_counts_what_crosses_of_given_ranks(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    parts = "a: {placement: 3-4, seconds: {2: 30}, traffic: 6GiB}\n  b: {accelerators: 1-6, seconds: {6: 10}}"
    for most, verdict in ((42.9, IMPOSSIBLE), (43.1, OPTIMAL)):
        text = f"{TWO_NODES}components:\n  {parts}\nplan: {{workflow: a => b, bandwidth: {{node: 2GiB}}, budget: {{seconds: {most}}}}}\n"
        file.write_text(text, encoding="utf-8")
        assert pw.solve(str(file), sandbox=False).verdict == verdict


def test_other_arrangements_than_the_plan_are_told_with_traffic_too(tmp_path: Path) -> None:
    """`c` has the accelerators of `a` and `b`, and in designs that were placed as well some of its own: that is the same arrangement."""
    parts = """
  a: {accelerators: 1-6, seconds: {2: 92, 3: 104, 4: 49}, scaling: table, traffic: 10GiB, disjoint_from: b}
  b: {accelerators: 1-6, seconds: {2: 56, 5: 29}, scaling: linear, samples: 4, traffic: 9GiB}
  c: {accelerators: 1-6, seconds: {3: 56, 5: 20}, traffic: 8GiB}
links: [{from: a, to: c, weights: 16GiB}, {from: c, to: b, weights: 7GiB}]
plan: {cost_model: steady, nested: true, budget: {accelerators: 4}, bandwidth: {node: 8GiB}}
"""
    file = tmp_path / "job.yaml"
    file.write_text(f"cluster: {{nodes: [{{repeat: 3, accelerators: {{count: 2, model: H100}}}}]}}\ncomponents:{parts}", encoding="utf-8")
    planned = pw.solve(str(file), sandbox=False).planned
    assert planned is not None and planned.proved and planned.alternatives
    mine = planned.best.design
    assert mine.blocks_of("c") == (0, 1) and len(mine.blocks) == 2
    inside = {("a", "c"), ("b", "c")}
    told = [each.design for each in planned.alternatives]
    for design in told:
        uses = {name: set(design.blocks_of(name)) for name in "abc"}
        assert {(one, other) for one in "abc" for other in "abc" if one != other and uses[one] <= uses[other]} != inside
    assert len({design.structure() for design in told}) == len(told)


AROUND = """
cluster: {nodes: 3x2xA}
components:
  actor: {accelerators: 1-6, seconds: {1: 10, 5: 2}, traffic: 300MiB}
  rollout: {accelerators: 1-6, parallel: {tp: [1, 2]}, seconds: {5: 4.4, 6: 3.667}, exclude: 2, traffic: 50MiB}
  judge: {placement: 5, seconds: {2: 10, 6: 3.333}, traffic: 5MiB, within: actor}
  ref: {placement: "2,3", traffic: 300MiB, within: rollout}
links:
  - {from: actor, to: ref, stream: 60MiB, ratio: 1}
  - {from: rollout, to: judge, weights: 100MiB}
  - {from: rollout, to: ref, weights: 10MiB}
  - {from: judge, to: actor, weights: 400MiB}
  - {from: judge, to: rollout, weights: 10MiB}
plan: {cost_model: steady, budget: {accelerators: 6}, nested: true, bandwidth: {node: 1MiB}}
"""


def test_around_given_ranks_more_than_twelve_designs_are_placed_as_well_as_can_be(tmp_path: Path) -> None:
    """As every set of accelerators of each of them shows; 16 better designs have more that crosses."""
    file = tmp_path / "job.yaml"
    file.write_text(AROUND, encoding="utf-8")
    answer = pw.solve(str(file), sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    best = answer.planned.best
    assert best.traffic == 230 * SECOND and best.nanoseconds == pytest.approx(25.001262 * SECOND, rel=1e-6)
    assert best.design.accelerators == 4


def test_a_budget_that_traffic_exceeds_is_told_of_what_takes_the_least_with_it(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(AROUND.replace("accelerators: 6}, nested", "accelerators: 6, seconds: 200}, nested"), encoding="utf-8")
    answer = pw.solve(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    (finding,) = answer.findings
    assert finding.message == "with the 230 s of its traffic an iteration takes 255.002 s, 200 s are allowed"
    assert finding.notes[0] == "of the counts and degrees that keep to that without their traffic these take the least with it"
    assert finding.help.startswith("allow `seconds: 255.002`;")
