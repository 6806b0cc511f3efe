"""Ranks that are given on several kinds of accelerators: what nobody else may use is planned around, what shares them is told apart."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.account import BEYOND
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.dialects.load import read
from placewright.models.planning.workload import SECOND
from placewright.models.text.source import Source
from placewright.planner.accounting import account_of
from placewright.report.planning.assumptions import assumptions
from sampling import examples

BOTH = "1x4xH100+1x4xA100"


def solved(folder: Path, components: str, cluster: str = BOTH, plan: str = "{cost_model: stages}") -> Answer:
    file = folder / "job.yaml"
    lines = "\n".join(f"  {each.strip()}" for each in components.strip().splitlines())
    file.write_text(f"cluster: {cluster}\ncomponents:\n{lines}\nplan: {plan}\n", encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


def best(answer: Answer) -> tuple[float, int]:
    """Seconds of an iteration and accelerators of a plan that is proved."""
    assert answer.planned is not None and answer.planned.proved, answer.findings
    return answer.planned.best.nanoseconds / SECOND, answer.planned.best.design.all_accelerators(answer.planned.question)


def test_what_is_given_on_several_kinds_is_planned_around(tmp_path: Path) -> None:
    parts = """
        actor: {accelerators: 1-4, seconds: {1: 12, 2: 7, 3: 5, 4: 4}, accelerator: H100, phase: train}
        judge: {placement: "3-4", seconds: {2: 2}, phase: infer}
    """
    answer = solved(tmp_path, parts)
    assert best(answer) == (7, 5)
    assert answer.planned is not None
    own = answer.planned.question.kinds[-1]
    assert (own.model, own.accelerators, own.holders) == ("H100 and A100", 2, ("judge",))
    assert sum(kind.accelerators for kind in answer.planned.question.kinds) == 8


def test_they_count_for_a_budget(tmp_path: Path) -> None:
    parts = """
        actor: {accelerators: 1-4, seconds: {1: 12, 2: 7, 3: 5, 4: 4}, accelerator: H100, phase: train}
        judge: {placement: "3-4", seconds: {2: 2}, phase: infer}
    """
    assert best(solved(tmp_path, parts, plan="{cost_model: stages, budget: {accelerators: 4}}")) == (9, 4)


def test_who_lies_within_them_may_be_on_its_own_model(tmp_path: Path) -> None:
    parts = """
        actor: {placement: "2-5", seconds: {4: 10}, phase: train}
        judge: {accelerators: 1-4, seconds: [{accelerators: 1, accelerator: H100, seconds: 6}, {accelerators: 2, accelerator: H100, seconds: 4}],
          phase: infer, accelerator: H100, within: [actor]}
        reward: {accelerators: 1-4, seconds: {1: 3, 2: 2}, accelerator: A100, phase: generate}
    """.replace(",\n          phase", ", phase")
    answer = solved(tmp_path, parts)
    assert best(answer) == (16, 6)
    assert answer.plan is not None and answer.plan.assignment.held("judge") == 2


def test_memory_is_that_of_each_node(tmp_path: Path) -> None:
    """The A100 has no room for both, the H100 has."""
    parts = """
        actor: {placement: "3-4", seconds: {2: 10}, phase: train, memory: 30GiB, offloaded: 30GiB}
        judge: {accelerators: 1-2, seconds: {1: 6, 2: 4}, phase: infer, memory: 20GiB, within: [actor]}
    """
    answer = solved(tmp_path, parts, "1x4xH100+1x4xA100-40GB")
    assert answer.planned is not None and answer.planned.best.nanoseconds == 16 * SECOND
    assert answer.plan is not None
    assert [run.node for run in answer.plan.assignment.of("judge")] == [0]


def test_the_bill_names_the_memory_of_each_model(tmp_path: Path) -> None:
    components = """
        trainer: {placement: "2-5", seconds: {4: 20}, phase: train, memory: 20GiB}
        rollout: {accelerators: 2, seconds: {2: 24}, phase: generate, memory: 20GiB, accelerator: L40S}
    """
    answer = solved(tmp_path, components, "1x4xH100+1x4xL40S")
    problem = read(Source.read(tmp_path / "job.yaml")).problem
    assert problem is not None and answer.planned is not None and answer.plan is not None
    found = account_of(problem, answer.planned, answer.plan.assignment).bills
    assert {(each.block.components, each.block.accelerators, each.capacity) for each in found} == {
        (("trainer",), 2, 80 * 1024), (("trainer",), 2, 48 * 1024), (("rollout",), 2, 48 * 1024),
    }  # fmt: skip


def test_one_of_a_single_model_has_no_room_around_them(tmp_path: Path) -> None:
    parts = """
        actor: {accelerators: 1-4, seconds: {1: 12, 2: 7}, accelerator: H100, phase: train}
        judge: {placement: "3-4", seconds: {2: 2}, phase: infer, within: [actor]}
    """
    answer = solved(tmp_path, parts)
    assert answer.verdict == IMPOSSIBLE
    assert answer.findings[0].message == ("impossible: `judge` has ranks on A100 and is within `actor`, which may use H100 alone")


EITHER = "actor: {accelerators: 1-4, seconds: [{accelerators: 1, accelerator: H100, seconds: 12}, {accelerators: 1, accelerator: A100, seconds: 16}], phase: train}"


def test_what_nobody_knows_is_undecided(tmp_path: Path) -> None:
    judge = 'judge: {placement: "3-4", seconds: [{accelerators: 2, accelerator: H100, seconds: 2}], phase: infer}'
    answer = solved(tmp_path, f"{EITHER}\n{judge}")
    assert answer.verdict == UNDECIDED
    assert answer.findings[0].message.startswith("undecided: by its ranks `judge` is on several kinds of accelerators (H100 and A100)")


def test_who_may_be_on_both_models_may_be_around_them(tmp_path: Path) -> None:
    answer = solved(
        tmp_path,
        f'{EITHER}\njudge: {{placement: "3-4", seconds: {{2: 2}}, phase: infer, within: [actor]}}',
        plan="{cost_model: stages, scope: heterogeneous}",
    )
    assert best(answer) == (6, 4) and answer.plan is not None
    assert {run.node for run in answer.plan.assignment.of("actor")} == {0, 1}


@pytest.mark.parametrize("seed", range(40))
def test_as_all_counts_say(seed: int, tmp_path: Path) -> None:
    """Two open components of one model each, beside given ranks on both: every pair of counts."""
    random = Random(seed)
    many = [random.randint(2, 4), random.randint(2, 4)]
    taken = [random.randint(1, many[0]), random.randint(1, many[1])]
    ranks = [*range(taken[0]), *range(many[0], many[0] + taken[1])]
    times = {name: [random.randint(1, 30) for _ in range(4)] for name in ("actor", "rollout")}
    mine = random.randint(1, 20)
    phases = {name: random.choice(("generate", "train")) for name in ("actor", "rollout", "judge")}
    models = {"actor": random.choice(("H100", "A100")), "rollout": random.choice(("H100", "A100"))}
    lines = [
        f"{name}: {{accelerators: 1-4, accelerator: {models[name]}, phase: {phases[name]}, "
        f"seconds: {{{', '.join(f'{count}: {time}' for count, time in enumerate(times[name], 1))}}}, disjoint_from: [{other}]}}"
        for name, other in (("actor", "rollout"), ("rollout", "actor"))
    ]
    lines.append(f'judge: {{placement: "{",".join(map(str, ranks))}", seconds: {{{len(ranks)}: {mine}}}, phase: {phases["judge"]}}}')
    answer = solved(tmp_path, "\n".join(lines), f"1x{many[0]}xH100+1x{many[1]}xA100")
    left = {"H100": many[0] - taken[0], "A100": many[1] - taken[1]}
    prices = []
    for actor, rollout in product(range(1, 5), repeat=2):
        used = {model: (models["actor"] == model) * actor + (models["rollout"] == model) * rollout for model in left}
        if all(used[model] <= left[model] for model in left):
            its = {"actor": times["actor"][actor - 1], "rollout": times["rollout"][rollout - 1], "judge": mine}
            takes = sum(max([its[name] for name in its if phases[name] == phase], default=0) for phase in ("generate", "train"))
            prices.append((takes, actor + rollout + len(ranks)))
    if prices:
        assert best(answer) == min(prices)
    else:
        assert answer.verdict == IMPOSSIBLE


def test_who_is_on_several_models_takes_as_long_as_on_the_slowest(tmp_path: Path) -> None:
    parts = """
        actor: {accelerators: 1-4, seconds: {1: 12, 2: 7, 3: 5, 4: 4}, accelerator: H100, phase: train}
        judge: {placement: "3-4", seconds: [{accelerators: 2, accelerator: H100, seconds: 2}, {accelerators: 1, accelerator: A100, seconds: 9}], phase: infer}
    """
    assert best(solved(tmp_path, parts)) == (9.5, 5)
    account = pw.account(str(tmp_path / "job.yaml"), sandbox=False, searches=0)
    (basis,) = [each for each in account.bases if each.several]
    assert (basis.several, basis.slowest, basis.counts, basis.kind) == (("H100", "A100"), "A100", (1,), BEYOND)
    assert "judge on H100 and A100: as long as on the slowest, A100, each rank with the same share" in assumptions(account)


def test_the_time_that_is_missing_is_named(tmp_path: Path) -> None:
    parts = """
        actor: {accelerators: 1-4, seconds: {1: 12}, accelerator: H100, phase: train}
        judge: {placement: "3-4", seconds: [{accelerators: 2, accelerator: H100, seconds: 2}], phase: infer}
    """
    answer = solved(tmp_path, parts)
    assert answer.verdict == UNDECIDED
    assert answer.findings[0].message.endswith("nothing says how long `judge` takes on 2 A100")


@pytest.mark.parametrize("seed", range(examples(50)))
def test_on_several_models_as_all_counts_say(seed: int, tmp_path: Path) -> None:
    """Two open components, of one model each or of either, beside given ranks on both models with a time for each: every pair of counts."""
    random = Random(seed)
    many = {"H100": random.randint(2, 4), "A100": random.randint(2, 4)}
    taken = {model: random.randint(1, most) for model, most in many.items()}
    ranks = [*range(taken["H100"]), *range(many["H100"], many["H100"] + taken["A100"])]
    times = {(name, model): [random.randint(1, 30) for _ in range(4)] for name in ("actor", "rollout") for model in many}
    mine = {model: random.randint(1, 20) for model in many if random.random() < 0.9}
    phases = {name: random.choice(("generate", "train")) for name in ("actor", "rollout", "judge")}
    models = {name: random.choice((["H100"], ["A100"], ["H100", "A100"])) for name in ("actor", "rollout")}
    rows = {
        name: [
            f"{{accelerators: {n}, accelerator: {model}, seconds: {times[name, model][n - 1]}}}"
            for model in models[name]
            for n in range(1, 5)
        ]
        for name in models
    }
    rows["judge"] = [f"{{accelerators: {len(ranks)}, accelerator: {model}, seconds: {time}}}" for model, time in mine.items()]
    if not mine or (len(mine) < 2 and random.random() < 0.5):
        mine = dict.fromkeys(many, 7)
        rows["judge"] = [f"{{accelerators: {len(ranks)}, seconds: 7}}"]
    said = {
        "actor": "accelerators: 1-4, disjoint_from: [rollout]", "rollout": "accelerators: 1-4", "judge": f'placement: "{",".join(map(str, ranks))}"',
    }  # fmt: skip
    lines = [f"{name}: {{{its}, phase: {phases[name]}, seconds: [{', '.join(rows[name])}], scaling: table}}" for name, its in said.items()]
    answer = solved(tmp_path, "\n".join(lines), f"1x{many['H100']}xH100+1x{many['A100']}xA100")
    if len(mine) < 2:
        assert answer.verdict == UNDECIDED
        return
    prices = []
    for actor, rollout in product(product(models["actor"], range(1, 5)), product(models["rollout"], range(1, 5))):
        used = {model: sum(count for its, count in (actor, rollout) if its == model) for model in many}
        if all(used[model] + taken[model] <= many[model] for model in many):
            its = {"actor": times["actor", actor[0]][actor[1] - 1], "rollout": times["rollout", rollout[0]][rollout[1] - 1]}
            its["judge"] = max(mine.values())
            takes = sum(max([its[name] for name in its if phases[name] == phase], default=0) for phase in ("generate", "train"))
            prices.append((takes, actor[1] + rollout[1] + len(ranks)))
    if prices:
        assert best(answer) == min(prices)
        assert answer.planned is not None and answer.planned.proved
    else:
        assert answer.verdict == IMPOSSIBLE
