"""Random ROLL configurations whose roles have devices and times: what solve chooses and writes over them verifies, at the level of training."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
import yaml
from against_roll.configurations import Dice
from placewright.models.dialects import roll
from placewright.models.dialects.load import read
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.answer import Solver
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples

SAMPLE, SEED = examples(30), 2028
PIPELINES = ("rlvr", "agentic", "dpo", "distill", "sft")
ACROSS = ("pairs at once", "get no logits", "data parallel ranks of teacher", "cannot send from a GPU to itself")
"""What depends on the amounts of two roles together is found when the answer is written, and told then."""
ENGINES, MEGATRON = ("vllm", "sglang"), ("megatron_train", "megatron_infer")


def timed(config: dict[str, Any], chance: random.Random) -> str:
    """The file with times for its roles on devices, and degrees left open for some of them."""
    hints: dict[str, Any] = {}
    for key, block in config.items():
        if isinstance(block, dict) and "device_mapping" in block:
            hints[key] = {"seconds": {4: chance.randrange(20, 200), 8: chance.randrange(10, 120)}}
            if block.get("strategy_args", {}).get("strategy_name") in (*ENGINES, *MEGATRON) and chance.random() < 0.5:
                hints[key]["parallel"] = {"tp": [1, 2, 4]}
    return str(yaml.safe_dump({**config, "placewright": {"components": hints}}, sort_keys=False))


@pytest.mark.timeout(300)
def test_what_is_planned_and_written_verifies() -> None:
    chance, found, wrong = random.Random(SEED), Counter[str](), list[str]()
    for question in Dice(SEED).questions(SAMPLE, *PIPELINES):
        text, cluster = timed(question.written, chance), read_shorthand(chance.choice(["1x8", "2x8", "4x8"]))

        def reading(text: str) -> Reading:
            return read(Source("train.yaml", text), cluster, "roll", "training")  # noqa: B023

        before = reading(text).to_solve
        if before.problem is None or verify(before).errors:
            found["faulty"] += 1
            continue
        answer = Solver(solve, 2.0)(before.problem)
        if answer.plan is None:
            assert answer.findings, text
            found["none"] += 1
            continue
        try:
            after = apply_edits(text, roll.write(before, answer.plan.assignment, answer.plan.degrees))
        except UnusableInput as refused:
            wrong += [f"{each.message}\n{text}" for each in refused.findings]
            continue
        again = reading(after)
        errors = [each for each in verify(again).errors if not any(words in each.message for words in ACROSS)]
        wrong += [f"{each.code} {each.message}\n{after}" for each in errors]
        assert again.problem is not None
        for name in before.problem.job.planning.own:
            assert list(seats(again.problem[name].runs or ())) == list(seats(answer.plan.assignment.of(name))), after
        found["degrees" if answer.plan.degrees else "counts"] += not errors
    print(found)
    assert not wrong, "\n".join(wrong[:3])
    assert found["counts"] >= SAMPLE / 20
    assert found["degrees"] >= SAMPLE / 20
