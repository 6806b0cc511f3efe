"""Degrees that follow from the size of a pool are planned as they come out on it."""

from __future__ import annotations

import pytest
from placewright import solve
from placewright.models.findings.span import apply_edits
from placewright.planner.write_back import edits_of

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
