"""Small random files of RLinf and verl with times: the plan is not a worse than the file's own ranks, what is written verifies and is planned again."""

from __future__ import annotations

import random
from collections import Counter
from typing import Callable

import pytest
from placewright.models.answer import Answer
from placewright.models.dialects.load import read
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.planning.workload import SECONDS
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.answer import Solver
from placewright.planner.baseline import baseline_of_file
from placewright.planner.verify import verify
from placewright.planner.write_back import edits_of, refusing
from placewright.solver.searching.search import solve
from sampling import examples

SAMPLE = examples(8)
CLUSTERS = [(1, 4), (1, 6), (1, 8), (2, 3), (2, 4), (2, 6), (2, 8)]


def block(chance: random.Random, names: list[str], total: int) -> str:
    """The times of these components at one to three counts, some with open degrees or a relation, and what may be taken at most."""
    lines = ["placewright:", "  components:"]
    pair = chance.sample(names, 2)
    for name in names:
        work = chance.randrange(100, 900)
        counts = sorted(chance.sample(range(1, total + 1), chance.choice((1, 2, 3))))
        hints = [f"seconds: {{{', '.join(f'{count}: {work // count + chance.randrange(10)}' for count in counts)}}}"]
        if name == "rollout" and chance.random() < 0.4:
            hints.append(f"parallel: {{tp: {chance.choice(['[1, 2, 4]', '[1, 2]'])}}}")
        if name == pair[0] and chance.random() < 0.3:
            hints.append(f"{chance.choice(['colocate_with', 'disjoint_from'])}: {pair[1]}")
        lines.append(f"    {name}: {{{', '.join(hints)}}}")
    if chance.random() < 0.3:
        lines.append(f"  plan: {{budget: {{accelerators: {chance.randint(total // 2, total)}}}}}")
    return "\n".join(lines) + "\n"


def rlinf(chance: random.Random, nodes: int, each: int) -> str:
    """A job of reasoning or with simulators, all components on everything or one after the other."""
    total, embodied, again = nodes * each, chance.random() < 0.4, chance.random() < 0.5
    names = ["actor", "env", "rollout"] if embodied else ["actor", "rollout", *(["inference"] if again else [])]
    ranges = {name: (0, total - 1) for name in names if name != "inference"}
    if chance.random() < 0.6:
        edges = [0, *sorted(chance.sample(range(1, total), len(names) - 1)), total]
        ranges = {name: (first, stop - 1) for name, first, stop in zip(names, edges, edges[1:])}
    placed = [f"    {name}: {first}-{last}" for name, (first, last) in ranges.items()]
    if embodied:
        more = [
            "runner: {task_type: embodied, only_eval: false, val_check_interval: -1}",
            "env: {train: {total_num_envs: 64, group_size: 1, max_steps_per_rollout_epoch: 512}}",
            f"rollout: {{pipeline_stage_num: {chance.choice((1, 2))}, rollout_backend: huggingface}}",
            "algorithm: {adv_type: gae, group_size: 1}",
            "actor: {training_backend: fsdp, global_batch_size: 128, micro_batch_size: 8, model: {num_action_chunks: 8}}",
        ]
    else:
        placed.append(f"    reward: {ranges['actor'][0]}-{ranges['actor'][1]}")
        more = [
            "runner: {task_type: reasoning}",
            f"algorithm: {{group_size: 8, n_minibatches: 1, recompute_logprobs: {str(again).lower()}}}",
            f"data: {{rollout_batch_size: {chance.choice((16, 32, 64))}}}",
            f"rollout: {{tensor_parallel_size: {chance.choice((1, 2))}, max_running_requests: 8, return_logprobs: {str(not again).lower()}}}",
            f"actor: {{training_backend: megatron, model: {{tensor_model_parallel_size: {chance.choice((1, 2))}}}}}",
        ]
    lines = ["cluster:", f"  num_nodes: {nodes}", "  component_placement:", *placed, *more]
    return "\n".join(lines) + "\n" + block(chance, names, total)


def verl(chance: random.Random, nodes: int, each: int) -> str:
    """A job of PPO in one pool, or in two where it generates while it trains."""
    apart, critic = nodes > 1 and chance.random() < 0.4, chance.random() < 0.3
    critic &= not apart
    batches = f"ppo_mini_batch_size: 32, ppo_micro_batch_size_per_gpu: {chance.choice((1, 2))}"
    lines = [
        "# verl.experimental.one_step_off_policy.main_ppo" if apart else "# main_ppo",
        f"data: {{train_batch_size: {chance.choice((64, 128))}}}",
        f"algorithm: {{adv_estimator: {'gae' if critic else 'grpo'}}}",
        "actor_rollout_ref:",
        *(["  hybrid_engine: false"] if apart else []),
        f"  actor: {{strategy: fsdp, {batches}}}",
        f"  rollout: {{name: vllm, tensor_model_parallel_size: {chance.choice((1, 2))}, n: 8, log_prob_micro_batch_size_per_gpu: 2}}",
        *([f"critic: {{strategy: fsdp, {batches}}}"] if critic else []),
        f"trainer: {{nnodes: {nodes - apart}, n_gpus_per_node: {chance.choice((each, each // 2 or 1))}}}",
        *([f"rollout: {{nnodes: 1, n_gpus_per_node: {each}}}"] if apart else []),
    ]
    return "\n".join(lines) + "\n" + block(chance, ["actor", "rollout", *(["critic"] if critic else [])], nodes * each)


def solved(reading: Reading) -> Answer:
    assert reading.problem is not None
    return Solver(solve, 2.0, refuses=refusing(reading))(reading.problem)


def is_worse(reading: Reading, answer: Answer) -> bool:
    """Does the plan take longer than the file's own ranks, which may be proposed?"""
    assert reading.problem is not None
    assert answer.planned is not None
    its, best = baseline_of_file(reading.problem, answer.planned), answer.planned.best
    if its is None or its.priced is None or its.forbidden or answer.planned.question.aim != SECONDS:
        return False
    return its.priced.nanoseconds + its.priced.traffic < best.nanoseconds + best.traffic


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("made", [rlinf, verl], ids=["rlinf", "verl"])
def test_what_is_planned_and_written_is_planned_again(made: Callable[[random.Random, int, int], str]) -> None:
    chance, found, wrong = random.Random(f"twice {made.__name__}"), Counter[str](), list[str]()
    for _ in range(SAMPLE):
        nodes, each = chance.choice(CLUSTERS)
        text, cluster = made(chance, nodes, each), read_shorthand(f"{nodes}x{each}xH100")
        first = read(Source("train.yaml", text), cluster, made.__name__, "training")
        before = first.to_solve
        if before.problem is None or verify(first).errors or not before.problem.job.planning.own:
            found["faulty"] += 1
            continue
        answer = solved(before)
        if answer.plan is None or answer.planned is None:
            assert answer.findings, text
            found["none"] += 1
            continue
        edits, told = edits_of(before, answer)
        after = read(Source("train.yaml", apply_edits(text, edits)), cluster, made.__name__, "training")
        wrong += [f"{each.code} {each.message}\n{text}" for each in (*told, *verify(after).errors)]
        wrong += [f"worse than its own\n{text}"] if is_worse(before, answer) else []
        second = solved(after.to_solve)
        same = second.plan is not None and second.plan.assignment == answer.plan.assignment
        if answer.planned.proved and (not same or edits_of(after.to_solve, second)[0]):
            wrong.append(f"solved again it is another\n{text}")
        found["planned"] += 1
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:4])
    assert found["planned"] >= SAMPLE / 4, found
