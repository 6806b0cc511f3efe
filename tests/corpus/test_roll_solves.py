"""Roles of random ROLL configurations left to hints: what is solved and written verifies, and ROLL's own checks take it.

Where the environment variable PLACEWRIGHT_ROLL names a checkout of ROLL, its own code is asked.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import pytest
import yaml
from against_roll.configurations import PER_NODE, Dice, Question
from placewright.models.dialects import roll
from placewright.models.dialects.dialect import Machines
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import examples

CHECKOUT = os.environ.get("PLACEWRIGHT_ROLL", "")
SAMPLE, SEED = examples(30), 2027
PIPELINES = ("rlvr", "agentic", "dpo", "distill", "sft")
ACROSS = ("pairs at once", "get no logits", "data parallel ranks of teacher", "cannot send from a GPU to itself")
"""What depends on the amounts of two roles together is found when the answer is written, and told then."""


class Solved(NamedTuple):
    """A configuration with the answer in it, and what is still wrong with it."""

    pipeline: str
    text: str
    errors: tuple[Finding, ...]


def opened(question: Question, chance: random.Random) -> str:
    """The file with hints instead of ids for some of its roles."""
    config = question.written
    roles = [key for key, block in config.items() if isinstance(block, dict) and "device_mapping" in block]
    hints: dict[str, Any] = {}
    for role in [each for each in roles if chance.random() < 0.7] or roles[:1]:
        count = len(set(json.loads(config[role].pop("device_mapping"))))
        hints[role] = {"accelerators": chance.choice([count, count, f"1-{count}", f"{count}-{count + 8}"])}
        others = [each for each in roles if each != role]
        if others and chance.random() < 0.3:
            hints[role][chance.choice(["colocate_with", "disjoint_from"])] = chance.choice(others)
    return str(yaml.safe_dump({**config, "placewright": {"components": hints}}, sort_keys=False))


def answers(seed: int) -> Iterator[Solved | None]:
    """Every answer; None where there is none."""
    chance = random.Random(seed)
    for question in Dice(seed).questions(SAMPLE, *PIPELINES):
        text, cluster = opened(question, chance), read_shorthand(chance.choice(["1x8", "2x8", "4x8"]))

        def reading(text: str, cluster: Machines = cluster) -> Reading:
            return read(Source("train.yaml", text), cluster, "roll", "training")

        before = reading(text)
        if before.problem is None or verify(before).errors:
            continue
        answer = solve(before.problem)
        if answer.plan is None:
            assert answer.findings, text
            yield None
            continue
        after = apply_edits(text, roll.write(before, answer.plan.assignment))
        yield Solved(question.pipeline, after, verify(reading(after)).errors)


def test_what_is_written_verifies() -> None:
    found = list(answers(SEED))
    wrong = [f"{error.code} {error.message}\n{each.text}" for each in found if each for error in each.errors if not _across(error)]
    print(Counter("none" if each is None else "across" if each.errors else "solved" for each in found))
    assert not wrong, "\n".join(wrong[:3])
    assert sum(1 for each in found if each and not each.errors) >= SAMPLE / 8


def _across(error: Finding) -> bool:
    return any(words in error.message for words in ACROSS)


@pytest.mark.skipif(not CHECKOUT, reason="PLACEWRIGHT_ROLL names no checkout of ROLL")
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_roll_takes_what_is_written() -> None:
    pytest.importorskip("omegaconf", reason="omegaconf, which ROLL is written with, is not installed")
    solved = [each for each in answers(SEED + 1) if each and not each.errors]
    program = Path(__file__).parent / "against_roll" / "own.py"
    configs = [{key: value for key, value in yaml.safe_load(each.text).items() if key != "placewright"} for each in solved]
    lines = "\n".join(json.dumps({"pipeline": each.pipeline, "config": config}) for each, config in zip(solved, configs))
    done = subprocess.run(
        [sys.executable, str(program), CHECKOUT, str(PER_NODE)], input=f"{lines}\n", capture_output=True, text=True, check=True
    )
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(theirs) == len(solved) > 0
    wrong = [f"ROLL {its}\n{each.text}" for each, its in zip(solved, theirs) if its]
    assert not wrong, "\n".join(wrong[:3])
