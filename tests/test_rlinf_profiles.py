"""Profiled files of RLinf: solve, write, verify at both levels, and solve again; what is written is what was planned.

CASES random files of each kind, reasoning and embodied, with their ranks in every form that RLinf reads.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
import yaml
from placewright.models.answer import Answer
from placewright.models.dialects import rlinf
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment, seats
from placewright.models.reading import Reading
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.plan import plan
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples

CASES = examples(25)
MACHINES = ("1x4", "1x8", "2x4", "2x8", "4x8", "1x6", "3x4")


def loaded(text: str, machines: str, level: str = "placement") -> Reading:
    return rlinf.read(Document.of(Source("run.yaml", text)), read_shorthand(machines), level)


def size(machines: str) -> int:
    nodes, each = machines.split("x")
    return int(nodes) * int(each)


def placed(source: random.Random, names: list[str], rest: dict[str, str], total: int) -> str:
    """`component_placement` with these names on everything, in one of the forms that RLinf reads."""
    everything = source.choice(("all", f"0-{total - 1}"))
    form = source.randrange(5)
    source.shuffle(names)
    lines = [f"    {name}: {ranks}" for name, ranks in rest.items()]
    if form == 0:
        return "\n".join(["  component_placement:", f"    {','.join(names)}: {everything}  # as measured", *lines])
    if form == 1:
        return "\n".join(["  component_placement:", *(f'    "{name}": "{everything}"' for name in names), *lines])
    if form == 2:
        inner = ", ".join(f"{name}: {everything}" for name in names) + "".join(f", {name}: {ranks}" for name, ranks in rest.items())
        return f"  component_placement: {{{inner}}}"
    if form == 3:
        long = [f"    {names[0]}:", "      node_group: cluster", f"      placement: {everything}"]
        return "\n".join(["  component_placement:", *long, f"    {', '.join(names[1:])}: {everything}", *lines])
    return "\n".join(["  component_placement:", *lines, f"    {','.join(names)}: {everything}"])


def a_reasoning_file(source: random.Random, machines: str) -> str:
    total = size(machines)
    tp, engine = source.choice((1, 1, 2, 4)), source.choice((1, 1, 2))
    again = source.random() < 0.7
    root: dict[str, Any] = {
        "runner": {"task_type": source.choice(("reasoning", "reasoning", "reasoning", "coding_online_rl"))},
        "algorithm": {
            "group_size": source.choice((4, 8, 16)), "n_minibatches": source.choice((1, 4)), "recompute_logprobs": again,
            "training_batch_size_per_gpu": 1, "importance_sampling_fix": source.random() < 0.2, "adv_type": "grpo",
        },
        "data": {"rollout_batch_size": source.choice((64, 96, 512))},
        "rollout": {
            "tensor_parallel_size": engine, "pipeline_parallel_size": source.choice((1, 1, 1, 2)), "return_logprobs": True,
            "max_running_requests": source.choice((4, 64, 128)),
        },
        "actor": {"training_backend": source.choice(("megatron", "megatron", "fsdp")), "model": {"tensor_model_parallel_size": tp}},
        "profile_data": {"rollout_cost": source.randrange(20, 300), "actor_cost": source.randrange(5, 200)},
    }  # fmt: skip
    if source.random() < 0.9:
        root["profile_data"]["inference_cost"] = source.randrange(5, 90)
    if source.random() < 0.2:
        root["inference"] = {"model": {"tensor_model_parallel_size": source.choice((1, tp))}}
    if source.random() < 0.3:
        root["placewright"] = {"plan": {"cost_model": "rlinf"}}
    names = ["actor", "rollout", "reward"]
    if source.random() < 0.3:
        names.append("critic")
        values = source.random() < 0.7
        root["critic"] = {"use_critic_model": values, "training_backend": "megatron", "model": {"tensor_model_parallel_size": tp}}
        root["profile_data"] |= {"critic_cost": source.randrange(5, 90), "critic_inference_cost": source.randrange(5, 90)}
    nodes = machines.split("x")[0]
    return f"cluster:\n  num_nodes: {nodes}\n{placed(source, names, {}, total)}\n\n{yaml.safe_dump(root, sort_keys=False)}"


def an_embodied_file(source: random.Random, machines: str) -> str:
    total = size(machines)
    environments = source.choice((16, 32, 64, 96))
    stages = source.choice((1, 2))
    counts = sorted(source.sample((2, 4, 8, 16, 32, 64), source.choice((3, 4, 5))))
    root: dict[str, Any] = {
        "runner": {"task_type": "embodied", "only_eval": False, "val_check_interval": -1},
        "env": {"train": {"total_num_envs": environments, "group_size": source.choice((1, 2)), "max_steps_per_rollout_epoch": 80}},
        "rollout": {"pipeline_stage_num": stages, "rollout_backend": "huggingface"},
        "algorithm": {"adv_type": "gae", "group_size": 1, "loss_type": "actor_critic"},
        "actor": {
            "training_backend": "fsdp", "global_batch_size": environments * 2, "micro_batch_size": 1, "model": {"num_action_chunks": 8},
        },
        "profile_data": {
            "env_profile_data": {count: round(source.uniform(0.1, 0.3) * count, 2) for count in counts},
            "rollout_profile_data": {count: round(source.uniform(0.1, 0.3) * count, 2) for count in counts},
            "actor_cost": source.choice((1, 10, 60)),
        },
    }  # fmt: skip
    if source.random() < 0.3:
        root["data"] = {"env_num": environments}
    if source.random() < 0.3:
        root["placewright"] = {"plan": {"cost_model": source.choice(("rlinf-embodied", "stages", "stream")), "batches": 2}}
        if root["placewright"]["plan"]["cost_model"] == "stages":
            del root["placewright"]
    nodes = machines.split("x")[0]
    return f"cluster:\n  num_nodes: {nodes}\n{placed(source, ['env', 'rollout', 'actor'], {}, total)}\n\n{yaml.safe_dump(root, sort_keys=False)}"


def planned(reading: Reading) -> Answer:
    assert reading.problem is not None and reading.problem.job.planning.workload is not None
    return plan(reading.problem, solve)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("make", [a_reasoning_file, an_embodied_file])
def test_what_is_planned_is_written_and_verifies_at_both_levels(make: Any) -> None:
    counts = Counter[str]()
    for seed in range(CASES):
        source = random.Random(seed)
        machines = source.choice(MACHINES)
        text = make(source, machines)
        if verify(loaded(text, machines)).errors:
            counts["not right as it is"] += 1
            continue
        reading = loaded(text, machines).to_solve
        if reading.problem is not None and not reading.problem.job.planning.own:
            counts["not planned, with a reason"] += 1
            assert any(finding.code == "PW604" for finding in reading.findings), text
            continue
        assert not verify(reading).errors, text
        answer = planned(reading)
        if answer.plan is None:
            counts["impossible"] += 1
            continue
        try:
            edits = rlinf.write(reading, answer.plan.assignment)
        except UnusableInput as refused:
            raise AssertionError(f"{refused}\n{text}") from None
        after = apply_edits(text, edits)
        for level in ("placement", "training"):
            was = {finding.code for finding in verify(loaded(text, machines, level)).errors}
            now = {finding.code for finding in verify(loaded(after, machines, level)).errors}
            assert now <= was, f"{now}\n{text}\n{after}"
        written = loaded(after, machines).problem
        assert written is not None
        for component in written.components:
            assert list(seats(component.runs or ())) == list(seats(answer.plan.assignment.of(component.name))), f"{text}\n{after}"
        again = planned(loaded(after, machines).to_solve)
        assert again.planned is not None and answer.planned is not None and again.plan is not None
        held = Assignment({each.name: each.runs or () for each in written.components})
        together = held.masks("actor") == held.masks("rollout")
        counts["together" if together else "apart"] += 1
        if not together or held.count_held("actor") == size(machines):  # the costs of another file with fewer are those of a run on these
            assert again.planned.best.nanoseconds == answer.planned.best.nanoseconds, f"{text}\n{after}"
    print(make.__name__, dict(counts))
    assert counts["together"] > CASES / 10
    assert counts["apart"] > CASES / 15
    assert counts["not right as it is"] + counts["not planned, with a reason"] < CASES / 2
