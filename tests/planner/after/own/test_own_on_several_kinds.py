"""The file's own ranks on several kinds of accelerators: as long as on the slowest of each component's models, and no fault by itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Mapping, Sequence

import placewright as pw
import pytest
from placewright.models.placements.assignment import compress
from placewright.models.planning.workload import SECOND
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.planner.baseline import baseline_of
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.report.planning.data import to_data
from placewright.report.planning.own import own_placement
from placewright.solver.searching.search import solve

SIZES = {"H100": 80, "A40": 48}
PHASES = ("generate", "infer", "train")
Seat = tuple[int, int]


def on(folder: Path, components: Sequence[str], own: Mapping[str, Sequence[Seat]], many: Mapping[str, int], plan: str) -> Problem:
    """A job on two nodes of a model each, with ranks of its own, by node rank and local index."""
    cluster = "+".join(f"1x{count}x{model}" for model, count in many.items())
    lines = "\n".join(f"  {each}" for each in components)
    (folder / "job.yaml").write_text(f"cluster: {cluster}\ncomponents:\n{lines}\nplan: {plan}\n", encoding="utf-8")
    problem = pw.load(folder / "job.yaml").problem
    assert problem is not None
    runs = {name: compress((rank, [seat]) for rank, seat in enumerate(sorted(its))) for name, its in own.items()}
    return replace(problem, job=replace(problem.job, planning=replace(problem.job.planning, own=runs)))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 250, 50))
def test_price_and_verdict_are_those_of_each_accelerator(first: int, tmp_path: Path) -> None:
    """Random ranks of two or three components: a phase takes as long as its busiest accelerator, in turns; each demand by itself."""
    for seed in range(first, first + 50):
        compare(seed, tmp_path)


def compare(seed: int, folder: Path) -> None:
    """Price and verdict of some random ranks with what is computed here, accelerator by accelerator."""
    random = Random(seed)
    many = {"H100": random.randint(2, 4), "A40": random.randint(2, 4)}
    every = [(node, index) for node, count in enumerate(many.values()) for index in range(count)]
    names = ["actor", "rollout", "judge"][: random.randint(2, 3)]
    seats = dict.fromkeys(names, frozenset(random.sample(every, random.randint(1, len(every)))))
    for name in names[1:]:
        if random.random() < 0.7:
            seats[name] = frozenset(random.sample(every, random.randint(1, len(every))))
    nested, phase = random.random() < 0.7, {name: random.choice(PHASES) for name in names}
    times = {(name, model): [random.randint(1, 30) for _ in every] for name in names for model in many if random.random() < 0.95}
    plain = {name for name in names if random.random() < 0.3}
    most, memory = {name: random.choice((len(every), 3)) for name in names}, {name: random.choice((0, 30, 50)) for name in names}
    disjoint = random.random() < 0.2
    lines = []
    for name in names:
        rows = [
            f"{{accelerators: {n}, {'' if name in plain else f'accelerator: {model}, '}seconds: {time}}}"
            for model in (["H100"] if name in plain else many)
            for n, time in enumerate(times.get((name, model), []), 1)
        ]
        if not rows:
            times[name, "H100"] = [7] * len(every)
            rows = [f"{{accelerators: {n}, {'' if name in plain else 'accelerator: H100, '}seconds: 7}}" for n in range(1, len(every) + 1)]
        apart = ", disjoint_from: [rollout]" if disjoint and name == "actor" else ""
        held = f", memory: {memory[name]}GiB" if memory[name] else ""
        lines.append(
            f"{name}: {{accelerators: 1-{most[name]}, phase: {phase[name]}, scaling: table{held}{apart}, seconds: [{', '.join(rows)}]}}"
        )
    its = on(folder, lines, {name: sorted(held) for name, held in seats.items()}, many, f"{{cost_model: stages, nested: {nested}}}".lower())
    workload = its.job.planning.workload
    assert workload is not None
    found = baseline_of(its, planning_problem(its, workload), cost_model("stages"))
    takes = {name: _takes(times, name, name in plain, held, list(many)) for name, held in seats.items()}
    if None in takes.values():
        assert found.priced is None and found.why_not.startswith(("nothing says how long ", "there are no seconds of "))
        return
    assert found.priced is not None
    loads = [
        max((sum(takes[name] or 0 for name in names if seat in seats[name] and phase[name] == each) for seat in every), default=0)
        for each in PHASES
    ]
    assert found.priced.nanoseconds == sum(loads) * SECOND
    assert found.priced.design.accelerators == len(frozenset().union(*seats.values()))
    full = any(
        sum(memory[name] for name in names if seat in seats[name] and phase[name] == each) > SIZES[list(many)[seat[0]]]
        for seat in every
        for each in PHASES
    )
    pairs = list(combinations(names, 2))
    in_part = any(seats[one] & seats[other] and seats[one] != seats[other] for one, other in pairs)
    crossing = any(seats[one] & seats[other] and not (seats[one] <= seats[other] or seats[other] <= seats[one]) for one, other in pairs)
    too_many = any(len(seats[name]) > most[name] for name in names)
    clash = disjoint and bool(seats["actor"] & seats["rollout"])
    refused = full or too_many or clash or crossing or (in_part and not nested)
    assert bool(found.forbidden) == refused, found.forbidden


def _takes(times: Mapping[tuple[str, str], Sequence[int]], name: str, plain: bool, seats: frozenset[Seat], models: list[str]) -> int | None:
    """Seconds of a component on the slowest of its models; None where one of these has no time."""
    if plain:
        return times[name, "H100"][len(seats) - 1]
    its = [times.get((name, model)) for model in {models[node] for node, _ in seats}]
    return None if None in its else max(each[len(seats) - 1] for each in its if each is not None)


ROWS = "{accelerators: 8, accelerator: H100, seconds: %s}, {accelerators: 8, accelerator: A100, seconds: %s}"
RLINF = f"""
cluster: {{num_nodes: 2, component_placement: {{"actor,rollout,reward": 0-15}}}}
runner: {{task_type: reasoning}}
algorithm: {{group_size: 8, n_minibatches: 1, recompute_logprobs: false}}
data: {{rollout_batch_size: 64}}
rollout: {{tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: true}}
actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: 1}}}}
placewright:
  components:
    actor: {{seconds: [{ROWS % (20, 50)}]}}
    rollout: {{seconds: [{ROWS % (50, 70)}]}}
"""


def test_a_file_of_rlinf_is_compared_with_its_plan(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(RLINF, encoding="utf-8")
    account = pw.account(str(tmp_path / "run.yaml"), "1x8xH100+1x8xA100", sandbox=False, searches=0)
    assert account is not None
    said = own_placement(account).splitlines()
    assert said[0] == "yours: 60 seconds, 26.9 % from the bound: the plan saves 12.71 seconds of each iteration"
    assert said[1] == "  actor, rollout and reward on 8 H100 and 8 A100; first rollout, then actor"
    assert len(said) == 2


def test_ranks_on_several_kinds_that_nothing_beats_are_to_be_kept(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(
        RLINF.replace("8, accelerator: A100, seconds: 50", "8, accelerator: A100, seconds: 22"), encoding="utf-8"
    )
    account = pw.account(str(tmp_path / "run.yaml"), "1x8xH100+1x8xA100", sandbox=False, searches=0)
    assert account is not None and account.own is not None and account.own.priced is not None
    assert account.own.priced.nanoseconds == 46 * SECOND and account.keeps
    assert account.planned.proved and account.planned.is_own and account.planned.best.nanoseconds == 46 * SECOND
    assert own_placement(account).splitlines()[0] == "yours: 46 seconds, as good as the plan: keep it"


def test_a_plan_on_several_kinds_is_the_plan_of_the_file_that_it_is_written_into(tmp_path: Path) -> None:
    """With each component on one kind the file's own ranks alone are better than the plan; that they are no plan of these proves nothing."""
    text = """
cluster: {num_nodes: 2, component_placement: {rollout: 0-0, reward: 0-0, actor: 1-3}}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 2, recompute_logprobs: false, training_batch_size_per_gpu: 1}
data: {rollout_batch_size: 64}
rollout: {return_logprobs: true, tensor_parallel_size: 2, max_running_requests: 64}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 2}}
placewright: {components: {actor: {seconds: {2: 12}}, rollout: {seconds: {A100: {2: 31, 4: 57}}}}}
"""
    cluster, file = "1x2xH100+1x4xA100", tmp_path / "run.yaml"
    file.write_text(text, encoding="utf-8")
    planned = pw.solve(file, cluster, sandbox=False).planned
    assert planned is not None and planned.proved and not planned.is_own
    file.write_text(text.replace("0-0", "4-5").replace("1-3", "0-3"), encoding="utf-8")
    again = pw.solve(file, cluster, sandbox=False).planned
    assert again is not None and again.proved and again.is_own and again.price == planned.price


def test_given_ranks_on_several_kinds_are_priced_beside_what_could_be_had(tmp_path: Path) -> None:
    """The accelerators of given ranks are a kind that no other component may use, and theirs all the same."""
    text = f"""
cluster: 1x8xH100+1x8xA100
components:
  actor: {{placement: 0-15, phase: train, seconds: [{ROWS % (20, 50)}]}}
  rollout: {{placement: 4-11, within: actor, phase: generate, seconds: [{ROWS % (50, 70)}]}}
plan: {{workflow: rollout -> actor, batches: 4, nested: true}}
"""
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    account = pw.account(str(tmp_path / "run.yaml"), sandbox=False)
    assert account is not None and account.given
    assert account.planned.best.nanoseconds == 95 * SECOND
    assert [(each.slowest, each.amount) for each in account.bases] == [("A100", 8), ("A100", 16)]
    assert [its["models"] for its in to_data(account)["components"].values()] == [["H100", "A100"]] * 2
    assert "job      seconds an iteration     95  rollout.generate 70 + actor.train 25" in pw.explain(str(tmp_path / "run.yaml"))


@pytest.mark.parametrize("limit", [10.0, 1e-9])
def test_ranks_on_several_kinds_that_are_as_good_stay_whatever_the_limit_is(limit: float, tmp_path: Path) -> None:
    """Of two that are apart one is on both kinds; with each on one kind it is no quicker, on no fewer accelerators."""
    rows = ", ".join(f"{{accelerators: 2, accelerator: {model}, seconds: 10}}" for model in SIZES)
    parts = [f"{name}: {{accelerators: 2, scaling: table, phase: {phase}, seconds: [{rows}]}}" for name, phase in zip("ab", PHASES)]
    parts[0] = parts[0].replace("{", "{disjoint_from: b, ", 1)
    its = on(tmp_path, parts, {"a": [(0, 2), (1, 0)], "b": [(0, 0), (0, 1)]}, {"H100": 3, "A40": 3}, "{cost_model: stages}")
    planned = Solver(solve, limit)(its).planned
    assert planned is not None and planned.best.nanoseconds == 20 * SECOND
    assert planned.is_own
