"""Ranks that are given on several kinds of accelerators: what nobody else may use is planned around, what shares them is told apart."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.planning.measured import SECOND

BOTH = "1x4xH100+1x4xA100"


def solved(folder: Path, components: str, cluster: str = BOTH, plan: str = "{cost_model: stages}") -> Answer:
    file = folder / "job.yaml"
    lines = "\n".join(f"  {each.strip()}" for each in components.strip().splitlines())
    file.write_text(f"cluster: {cluster}\ncomponents:\n{lines}\nplan: {plan}\n", encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


def best(answer: Answer) -> tuple[float, int]:
    """Seconds of an iteration and accelerators of a plan that is proved."""
    assert answer.planned is not None and answer.planned.proved, answer.findings
    return answer.planned.best.nanoseconds / SECOND, answer.planned.best.design.held(answer.planned.question)


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


def test_one_of_a_single_model_has_no_room_around_them(tmp_path: Path) -> None:
    parts = """
        actor: {accelerators: 1-4, seconds: {1: 12, 2: 7}, accelerator: H100, phase: train}
        judge: {placement: "3-4", seconds: {2: 2}, phase: infer, within: [actor]}
    """
    answer = solved(tmp_path, parts)
    assert answer.verdict == IMPOSSIBLE
    assert answer.findings[0].message == (
        "impossible: `judge` is within `actor`, which may use H100 alone, and by its ranks it is on A100 too"
    )


@pytest.mark.parametrize(
    "judge",
    [
        'judge: {placement: "3-4", seconds: {2: 2}, phase: infer, within: [actor]}',
        'judge: {placement: "3-4", seconds: [{accelerators: 2, accelerator: H100, seconds: 2}], phase: infer}',
    ],
    ids=["one may be around them", "no time of both"],
)
def test_what_nobody_knows_is_undecided(judge: str, tmp_path: Path) -> None:
    actor = "actor: {accelerators: 1-4, seconds: [{accelerators: 1, accelerator: H100, seconds: 12}, {accelerators: 1, accelerator: A100, seconds: 12}], phase: train}"
    answer = solved(tmp_path, f"{actor}\n{judge}")
    assert answer.verdict == UNDECIDED
    assert answer.findings[0].message.startswith("undecided: by its ranks `judge` is on several kinds of accelerators (H100 and A100)")


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
