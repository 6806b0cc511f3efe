"""Small ROLL files with times, whose roles may be inside each other: every plan can be written, verifies, and is chosen again from what is written."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from placewright.models.answer import Answer
from placewright.models.dialects import roll
from placewright.models.dialects.load import read
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.answer import Solver
from placewright.planner.verify import verify
from placewright.planner.write_back import refusing
from placewright.solver.searching.search import solve
from sampling import examples

SAMPLE = examples(8)


def file(chance: random.Random, devices: int) -> str:
    """Training, inference and a reference on random devices, each with times at several counts, some with degrees left open."""

    def mapping(tp: int) -> str:
        count = chance.choice(range(tp, devices + 1, tp))
        first = chance.randrange(0, devices - count + 1, tp)
        return f"list(range({first},{first + count}))"

    def seconds(slow: int) -> str:
        work = chance.randrange(slow // 2, slow)
        return f"{{{', '.join(f'{count}: {work // count + chance.randrange(10)}' for count in sorted(chance.sample(range(1, devices + 1), 3)))}}}"

    train, infer, reference = chance.choice((1, 1, 2)), chance.choice((1, 2, 3, 4)), chance.choice((1, 2))
    open_ = [", parallel: {tp: [1, 2, 4]}" if chance.random() < 0.3 else "" for _ in range(3)]
    critic = chance.random() < 0.4
    lines = [
        f"rollout_batch_size: {chance.choice((24, 48, 120))}",
        "num_return_sequences_in_group: 1",
        f"adv_estimator: {'gae' if critic else 'reinforce'}",
        "actor_train:",
        "  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 1}",
        f"  strategy_args: {{strategy_name: megatron_train, strategy_config: {{tensor_model_parallel_size: {train}}}}}",
        f'  device_mapping: "{mapping(train)}"',
        "actor_infer:",
        f"  strategy_args: {{strategy_name: vllm, strategy_config: {{tensor_parallel_size: {infer}}}}}",
        f'  device_mapping: "{mapping(infer)}"',
        "reference:",
        f"  strategy_args: {{strategy_name: megatron_infer, strategy_config: {{tensor_model_parallel_size: {reference}}}}}",
        f'  device_mapping: "{mapping(reference)}"',
    ]
    if critic:
        lines += [
            "critic:",
            "  training_args: {per_device_train_batch_size: 1, gradient_accumulation_steps: 1}",
            "  strategy_args: {strategy_name: megatron_train, strategy_config: {tensor_model_parallel_size: 1}}",
            f'  device_mapping: "{mapping(1)}"',
        ]
    lines += [
        "rewards:",
        "  math: {world_size: 2, tag_included: [math]}",
        "placewright:",
        "  components:",
        f"    actor_train: {{seconds: {seconds(600)}{open_[0]}}}",
        f"    actor_infer: {{seconds: {seconds(900)}{open_[1]}}}",
        f"    reference: {{seconds: {seconds(400)}{open_[2]}}}",
        *([f"    critic: {{seconds: {seconds(300)}}}"] if critic else []),
    ]
    return "\n".join(lines) + "\n"


def solved(reading: Reading) -> Answer:
    """As `solve` does it: what the framework refuses in the file is not the answer."""
    assert reading.problem is not None
    return Solver(solve, 2.0, refuses=refusing(reading))(reading.problem)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_is_planned_can_be_written_and_is_planned_again() -> None:
    chance, found, wrong = random.Random(5), Counter[str](), list[str]()
    for _ in range(SAMPLE):
        nodes, each = chance.choice([(1, 4), (1, 6), (1, 8), (2, 3), (2, 4), (2, 6), (2, 8)])
        machines = f"{nodes}x{each}xH100"
        text, cluster = file(chance, chance.randint(4, min(8, nodes * each))), read_shorthand(machines)

        def reading(source: Source) -> Reading:
            return read(source, cluster, "roll", "training")  # noqa: B023

        before = reading(Source("train.yaml", text)).to_solve
        if before.problem is None or verify(before).errors:
            found["faulty"] += 1
            continue
        answer = solved(before)
        if answer.plan is None or answer.planned is None:
            found["none"] += 1
            continue
        try:
            after = apply_edits(text, roll.write(before, answer.plan.assignment, answer.plan.degrees))
        except UnusableInput as refused:
            wrong += [f"{machines} {each.message}\n{text}" for each in refused.findings]
            continue
        again = reading(Source("train.yaml", after))
        wrong += [f"{machines} {each.code} {each.message}\n{text}" for each in verify(again).errors]
        second = solved(again.to_solve)
        same = second.planned is not None and second.planned.best.nanoseconds == answer.planned.best.nanoseconds
        if answer.planned.proved and (not same or second.plan is None or second.plan.assignment != answer.plan.assignment):
            wrong.append(f"{machines} solved again it is another\n{text}\n{after}")
        found["nested" if len({block.components for block in answer.planned.best.design.blocks}) > 1 else "alike"] += 1
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:4])
    assert found["nested"] >= SAMPLE / 6
