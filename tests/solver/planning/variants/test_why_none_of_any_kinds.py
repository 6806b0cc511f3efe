"""Where nothing is possible, what is needed at least and what helps are those of plans on several kinds of accelerators too."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer

JOB = """
cluster: 1xFIRSTxH100+1xSECONDxA100
components:
PARTS
plan: {workflow: COST, BUDGET}
"""


def random_job(random: Random) -> str:
    """Two or three components on one to three of each of two models; one at least is told how long it takes on which."""
    parts = []
    for name in ("a", "b", "c")[: random.randint(2, 3)]:
        least, one = random.randint(1, 3), random.randint(20, 60)
        times = f"[{{accelerators: 1, seconds: {one}, accelerator: H100}}, {{accelerators: 1, seconds: {one + random.randint(0, 9)}, accelerator: A100}}]"
        timed = times if not parts or random.random() < 0.3 else f"{{1: {one}}}"
        parts.append(f"  {name}: {{accelerators: {least}-6, scaling: linear, seconds: {timed}}}")
    chain = " -> ".join(part.split(":")[0].strip() for part in parts)
    counts = random.randint(1, 3), random.randint(1, 3)
    return JOB.replace("FIRST", f"{counts[0]}").replace("SECOND", f"{counts[1]}").replace("PARTS", "\n".join(parts)).replace("COST", chain)


def solved(folder: Path, job: str, budget: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(job.replace(", BUDGET", f", {budget}" if budget else ""), encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_needed_at_least_is_no_more_than_the_best_takes_and_what_is_to_be_allowed_is_enough(seed: int, tmp_path: Path) -> None:
    job = random_job(Random(seed))
    free = solved(tmp_path, job, "").planned
    if free is None:
        return
    assert free.proved
    best = free.price[0] / 1e9
    none = solved(tmp_path, job, f"budget: {{seconds: {best * 0.97:.3f}}}")
    assert none.verdict == IMPOSSIBLE
    finding = none.findings[0]
    least = re.search(r"takes at least ([0-9.]+) seconds", finding.message)
    assert least is None or float(least[1]) <= best + 0.001
    allow = re.search(r"allow (?:at least )?`seconds: ([0-9.]+)`", finding.help)
    assert allow is not None, finding
    if "at least `seconds" in finding.help:
        return  # by arithmetic, before anything is planned
    again = solved(tmp_path, job, f"budget: {{seconds: {allow[1]}}}").planned
    assert again is not None and abs(again.price[0] / 1e9 - best) <= 0.001


ON_BOTH = "[{accelerators: 1, seconds: 50, accelerator: H100}, {accelerators: 1, seconds: 52, accelerator: A100}]"
FOUR = "{accelerators: 1-4, seconds: {1: 50, 4: 20}}"


@pytest.mark.parametrize(
    ("parts", "least", "enough"),
    [
        (f"  a: {FOUR}\n  b: {FOUR}\n  env: {{accelerators: 1, accelerator: H100, seconds: {{1: 3}}}}", "51.378", "51.378"),
        (f"  a: {FOUR}\n  b: {{accelerators: 1-4, scaling: linear, seconds: {ON_BOTH}}}", "32.5", "33"),
    ],
)
def test_what_is_needed_is_not_what_plans_on_one_kind_each_need(parts: str, least: str, enough: str, tmp_path: Path) -> None:
    """With each on one kind these take 66.246 and 56.623 seconds at least; the second is on four of both models by the slower of them."""
    chain = "a -> env -> b" if "env" in parts else "a -> b"
    job = JOB.replace("FIRST", "2").replace("SECOND", "2").replace("PARTS", parts).replace("COST", chain)
    (finding,) = solved(tmp_path, job, "budget: {seconds: 30}").findings
    assert finding.message == f"impossible: an iteration takes at least {least} seconds, 30 are allowed"
    assert finding.help == f"allow `seconds: {enough}`"
