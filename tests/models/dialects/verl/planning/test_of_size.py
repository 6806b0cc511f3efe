"""Degrees that follow from the size of a pool are planned as they come out on it."""

from __future__ import annotations

import pytest
from placewright import solve
from placewright.cli.written import edits_of
from placewright.models.findings.span import apply_edits

from .test_verl_anew import HYBRID, of


@pytest.mark.parametrize(
    ("size", "cluster", "seconds", "written"),
    [
        (2, "1x8", 35, "{nnodes: 1, n_gpus_per_node: 8}"),  # with tp 2 alone it took 80 seconds, which was told as proved
        (8, "2x4", 55, "{nnodes: 2, n_gpus_per_node: 4}"),  # tp 8 was planned, which the file had on no size
        (2, "4x2", 65, "{nnodes: 4, n_gpus_per_node: 2}"),
    ],
)
def test_degrees_that_follow_from_the_size_are_planned_as_they_come_out(size: int, cluster: str, seconds: int, written: str) -> None:
    rows = ((8, 8, 10), (8, 4, 30), (8, 2, 40), (2, 2, 40))
    times = ", ".join(f"{{accelerators: {count}, tp: {tp}, seconds: {takes}}}" for count, tp, takes in rows)
    text = HYBRID.replace("parallel_size: 2", 'parallel_size: "${trainer.n_gpus_per_node}"').replace(
        "n_gpus_per_node: 8", f"n_gpus_per_node: {size}"
    )
    text = text[: text.index("    actor: {seconds")] + "    actor: {scaling: table, seconds: {2: 40, 4: 30, 8: 25}}\n"
    reading = of(f"{text}    rollout: {{scaling: table, seconds: [{times}]}}\n", cluster)
    answer = solve(reading, sandbox=False)
    assert answer.planned is not None and answer.planned.proved and answer.plan is not None
    assert answer.planned.best.nanoseconds == seconds * 10**9
    edited = apply_edits(reading.source.text, edits_of(reading.to_solve, answer)[0])
    assert f"trainer: {written}" in edited and '"${trainer.n_gpus_per_node}"' in edited


@pytest.mark.parametrize(("degree", "size", "seconds"), [("trainer.nnodes", 4, 20), ("trainer.n_gpus_per_node", 32, 10)])
def test_degrees_that_follow_from_many_nodes_or_large_ones_are_planned_too(degree: str, size: int, seconds: int) -> None:
    """The file has one node of 8, so that a tp of 4 or 32 is that of no other size of one node, and of no small part."""
    rows = ((8, 8, 90), (32, size, seconds), (32, 8, 30))
    times = ", ".join(f"{{accelerators: {count}, tp: {tp}, seconds: {takes}}}" for count, tp, takes in rows)
    text = HYBRID.replace("parallel_size: 2", f'parallel_size: "${{{degree}}}"')
    text = text[: text.index("    actor: {seconds")] + "    actor: {scaling: table, seconds: {8: 40, 32: 5}}\n"
    answer = solve(of(f"{text}    rollout: {{scaling: table, seconds: [{times}]}}\n", "4x8" if size == 4 else "1x32"), sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.design.options["rollout"].parallel.tp == size
    assert answer.planned.best.nanoseconds == (seconds + 5) * 10**9


def test_a_choice_with_the_same_degrees_on_each_size_stands_beside_those_that_have_others() -> None:
    """With tp 4 only one size is taken, with tp 1 and 2 several: no choice was left, which ended in a traceback."""
    tp, pp = "${actor_rollout_ref.rollout.tensor_model_parallel_size}", "${int_div:${trainer.n_gpus_per_node},2}"
    megatron = f'megatron: {{tensor_model_parallel_size: "{tp}", pipeline_model_parallel_size: "{pp}"}}'
    text = HYBRID.replace("strategy: fsdp", f"strategy: megatron, use_kl_loss: true, {megatron}")
    text = text.replace("n: 8", "n: 8, agent: {num_workers: 1}").replace("n_gpus_per_node: 8", "n_gpus_per_node: 2")
    text = text.replace("ref:\n", "ref:\n  ref: {strategy: megatron, log_prob_micro_batch_size_per_gpu: 1}\n", 1)
    text = text[: text.index("    actor: {seconds")]
    rows = ((2, 1, 1, 90), (4, 1, 2, 40), (4, 2, 2, 30), (4, 4, 1, 5), (2, 2, 1, 80))
    times = ", ".join(f"{{accelerators: {count}, tp: {tp}, pp: {pp}, seconds: {takes}}}" for count, tp, pp, takes in rows)
    text += "    rollout: {parallel: {tp: [1, 2, 4]}, scaling: table, seconds: {2: 50, 4: 25}}\n"
    for name in ("actor", "ref"):
        text += f"    {name}: {{scaling: table, seconds: [{times}]}}\n"
    answer = solve(of(text, "1x4", "training"), sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == 35 * 10**9  # tp 4 in two parts of two, where pp is 1
    assert str(answer.planned.best.design.options["actor"].parallel) == "tp 4"
