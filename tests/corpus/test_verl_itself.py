"""verl itself as the oracle: its defaults as Hydra composes them, and what its programs make of command lines, up to their first step.

Runs where the environment variable PLACEWRIGHT_VERL names a checkout of verl with its recipes, with hydra. Stand-ins take the place of
torch, Megatron, Ray and the inference engines (against_verl/stand_ins.py); the arithmetic, the checks and their order are verl's own.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from against_verl.comparison import Answers, asked, of_scripts
from against_verl.configurations import PROGRAMS, Dice
from against_verl.differences import REASONS, reason_of
from against_verl.scripts import Script, scripts
from sampling import examples

CHECKOUT = os.environ.get("PLACEWRIGHT_VERL", "")
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl" / "golden" / "overrides.jsonl.gz"
pytestmark = [
    pytest.mark.skipif(not CHECKOUT, reason="PLACEWRIGHT_VERL names no checkout of verl"),
    pytest.mark.slow,
    pytest.mark.timeout(1200),
]

SAMPLE = examples(200)
"""How many command lines of each program are compared; the more, the rarer the difference that is found."""

SEED = 2026


@pytest.mark.parametrize("program", PROGRAMS)
def test_random_command_lines_fail_where_verl_fails_and_come_to_the_same_numbers(program: str) -> None:
    pytest.importorskip("hydra", reason="hydra-core, which composes verl's configurations, is not installed")
    dice = Dice(SEED)
    counts = counted(list(asked(CHECKOUT, (dice.question(program) for _ in range(SAMPLE)))), program)
    assert 0 < counts["fine"] < SAMPLE * 0.96
    assert sum(counts[f"on purpose: {name}"] for name in REASONS) < SAMPLE / 20


@pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus is not beside the repository")
def test_the_scripts_of_verl_fail_where_verl_fails() -> None:
    pytest.importorskip("hydra", reason="hydra-core, which composes verl's configurations, is not installed")
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        files = [record["file"] for record in map(json.loads, lines) if record["source"] == "executed"]
    found = list(scripts(Path(CHECKOUT), files))
    known = [each for each in found if isinstance(each, Script)]
    counts = counted(list(of_scripts(CHECKOUT, known)), f"{len(known)} of {len(found)} scripts")
    assert len(known) > 190
    assert sum(count for what, count in counts.items() if what.startswith("on purpose")) == 12


def counted(answers: list[Answers], what: str) -> Counter[str]:
    """How many are fine, fail in which stage, or differ on purpose; none may differ otherwise."""
    counts: Counter[str] = Counter()
    wrong = []
    for each in answers:
        reason = reason_of(each)
        counts[f"on purpose: {reason}" if reason else f"fails: {each.stage}" if each.stage else "fine"] += 1
        if reason is None:
            wrong.append(str(each))
    print(f"\n{what}: {dict(counts)}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(answers)} differ", *sorted(wrong, key=len)[:3]])
    return counts
