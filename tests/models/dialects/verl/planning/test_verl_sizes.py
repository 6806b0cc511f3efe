"""Degrees of verl that follow from the size of a pool: the plan is the best of all files that have one of the sizes, and is what it runs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.api import solve
from placewright.models.answer import UNDECIDED
from placewright.models.dialects import pool_sizes as opening
from placewright.models.dialects.load import read
from placewright.models.dialects.pool_sizes import following_keys
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.models.text.tree import MapNode
from placewright.planner.answer import Solver
from placewright.planner.verify import verify
from placewright.planner.write_back import edits_of
from placewright.solver.searching.search import solve as place
from sampling import examples

NODES, EACH, ROLLOUT = "${trainer.nnodes}", "${trainer.n_gpus_per_node}", "${actor_rollout_ref.rollout.tensor_model_parallel_size}"
TEXT = """\
data: {{train_batch_size: 96}}
algorithm: {{adv_estimator: grpo}}
actor_rollout_ref:
  actor: {{{actor}, ppo_mini_batch_size: 48, ppo_micro_batch_size_per_gpu: 1}}
  rollout: {{name: vllm, tensor_model_parallel_size: {rollout}, n: 8, log_prob_micro_batch_size_per_gpu: 1}}
trainer: {{nnodes: {size[0]}, n_gpus_per_node: {size[1]}}}
placewright:
  components:
    actor: {{scaling: table, seconds: [{trained}]}}
    rollout: {{{hint}scaling: table, seconds: [{generated}]}}
"""
OF_ACTOR = (NODES, f"${{int_div:{EACH},{NODES}}}", f"${{multiply:{ROLLOUT},{NODES}}}", ROLLOUT)
OF_ROLLOUT = (NODES, EACH, f"${{int_div:{NODES},4}}", f"${{multiply:{EACH},{NODES}}}")
Seconds = dict[tuple[int, int], int]


def written(size: tuple[int, int], actor: str, rollout: str, times: tuple[Seconds, Seconds], hint: str = "") -> str:
    trained, generated = (
        ", ".join(f"{{accelerators: {count}, tp: {tp}, seconds: {seconds}}}" for (count, tp), seconds in its.items()) for its in times
    )
    keys = f'strategy: megatron, megatron: {{tensor_model_parallel_size: "{actor}"}}' if actor else "strategy: fsdp"
    return TEXT.format(
        size=size, actor=keys, rollout=f'"{rollout}"' if "$" in rollout else rollout, trained=trained, generated=generated, hint=hint
    )


def of(text: str, cluster: str, level: str = "placement") -> Reading:
    return read(Source("train.yaml", text), read_shorthand(cluster), "verl", level)


def tps(reading: Reading) -> dict[str, int]:
    assert reading.problem is not None
    return {each.name: each.parallel.tp for each in reading.problem.components}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(examples(4)))
def test_the_plan_is_the_best_of_all_files_with_a_size(seed: int) -> None:
    """The rest of the file stays as it is: no number stands in the place of what refers to the size."""
    random = Random(seed)
    actor, rollout = random.choice(("", *OF_ACTOR)), random.choice(OF_ROLLOUT)
    offered = [1, 2] if seed % 3 == 0 else []
    if not offered:  # of one component degrees may follow from the size
        actor, rollout = (actor, "1") if seed % 2 else ("", rollout)
    times: tuple[Seconds, Seconds] = ({}, {})
    for its in times:
        its.update({(count, tp): random.randint(10, 999) for count in range(1, 9) for tp in range(1, 9) if count % tp == 0})
    found: dict[tuple[tuple[int, int], str], int] = {}
    for nodes, each in ((parts, size) for size in range(1, 5) for parts in range(1, 2 * (4 // size) + 1)):
        for says in map(str, offered or [rollout]):
            reading = of(written((nodes, each), actor, says, times), "2x4", "training")
            if reading.failed or verify(reading).errors:
                continue
            its, count = tps(reading), nodes * each
            if not (each % its["rollout"] and its["rollout"] % each):
                found[(nodes, each), says] = times[0][count, its["actor"]] + times[1][count, its["rollout"]]
    size, says = random.choice(list(found))
    hint = f"parallel: {{tp: {offered}}}, " if offered else ""
    reading = of(written(size, actor, says, times, hint), "2x4")
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == min(found.values()) * 10**9
    edits, refused = edits_of(reading.to_solve, answer)
    text = apply_edits(reading.source.text, edits)
    assert refused == () and text.count("${") == reading.source.text.count("${")
    assert tps(of(text, "2x4")) == {name: its.parallel.tp for name, its in answer.planned.best.design.options.items()}


@pytest.mark.slow
def test_on_many_nodes_every_size_is_known() -> None:
    """Of 128 nodes some 13 were read: another plan was told as proved, with a tp of rollout that only the file's own size has."""
    times: tuple[Seconds, Seconds] = {(8, 1): 40, (128, 1): 20}, {(8, 1): 40, (128, 1): 30, (128, 32): 5, (128, 128): 4}
    reading = of(written((8, 1), "", f"${{int_div:{NODES},4}}", times), "128x8")
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == 25 * 10**9  # 128 parts of one, on which tp 32 comes out
    assert "{nnodes: 128, n_gpus_per_node: 1}" in apply_edits(reading.source.text, edits_of(reading.to_solve, answer)[0])


def test_what_is_not_read_is_told_and_nothing_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    times: tuple[Seconds, Seconds] = {(count, 1): 40 for count in range(1, 9)}, {(count, 1): 40 for count in range(1, 9)}
    text = written((1, 2), "", f"${{int_div:{EACH},2}}", times)
    whole = solve(of(text, "2x4"), sandbox=False)
    assert whole.planned is not None and whole.planned.proved
    monkeypatch.setattr(opening, "MOST_TRIED", 6)
    reading = of(text, "2x4").to_solve
    answer = solve(reading, sandbox=False)
    assert reading.problem is not None and reading.problem.job.planning.workload is not None and answer.planned is not None
    assert not answer.planned.proved and answer.planned.bound == 0
    (said,) = reading.problem.job.planning.workload.assumed
    assert said.startswith("sizes of `global_pool`: ") and said.endswith("are not planned")
    nothing = replace(
        reading.problem,
        job=replace(
            reading.problem.job, planning=replace(reading.problem.job.planning, accepted={"actor": frozenset(), "rollout": frozenset()})
        ),
    )
    assert Solver(place, 10.0)(nothing).verdict == UNDECIDED


def test_what_refers_to_a_number_follows_through_others_and_what_holds_them() -> None:
    text = "a: {b: 1, c: '${.b}', d: ['${a.c}']}\ne: ${a}\nf: ${e.b}\ng: ${not:${a.x}}\nh: ${oc.select:a.c,1}\ni: ${${j}}\nj: k\nk: 1\n"
    root = of(text, "1x1").document.root
    assert isinstance(root, MapNode)
    assert following_keys(root, ["a.b"]) == {"a.c", "a.d.0", "e", "f", "h", "i"}
    assert following_keys(root, ["k"]) == {"i"}
