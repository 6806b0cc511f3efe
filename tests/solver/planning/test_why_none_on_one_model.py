"""Where components may use one model of accelerators alone, and nothing is possible, others are proposed where a plan was found with these."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer

NAMED = ", accelerator: H100"


def random_job(random: Random) -> str:
    """Two or three components with a model of their own, or without, on one to three of each of two; they are apart, or time is short."""
    names = ("a", "b", "c")[: random.randint(2, 3)]
    parts = []
    for name in names:
        count = random.randint(1, 2)
        apart = f", disjoint_from: {names[names.index(name) - 1]}" if name != "a" and random.random() < 0.6 else ""
        model = NAMED if random.random() < 0.7 else ""
        parts.append(
            f"  {name}: {{accelerators: {count}-{count + random.randint(0, 2)}, seconds: {{1: {random.randint(20, 60)}}}{model}{apart}}}"
        )
    budget = f", budget: {{seconds: {random.randint(20, 120)}}}" if random.random() < 0.5 else ""
    lines = "\n".join(parts)
    cluster = f"1x{random.randint(2, 3)}xH100+1x{random.randint(1, 3)}xA100"
    return f"cluster: {cluster}\ncomponents:\n{lines}\nplan: {{workflow: {' -> '.join(names)}{budget}}}\n"


def solved(folder: Path, job: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(job, encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("seed", range(60))
def test_other_models_are_proposed_just_where_they_help(seed: int, tmp_path: Path) -> None:
    job = random_job(Random(seed))
    answer = solved(tmp_path, job)
    if answer.verdict != IMPOSSIBLE or "can be run in no way" in answer.findings[0].message:
        return
    help_text = answer.findings[0].help
    proposed = re.search(r"leave out the `accelerator` of ([^,]*), which", help_text)
    if proposed is None:
        together = "leave out the `accelerator`" in help_text or "together would be" in answer.findings[0].message
        assert together or "at least `" in help_text or solved(tmp_path, job.replace(NAMED, "")).planned is None or NAMED not in job
        return
    for name in re.findall(r"`(\w+)`", proposed[1]):
        job = re.sub(rf"(  {name}: .*){NAMED}", r"\1", job)
    assert solved(tmp_path, job).planned is not None


@pytest.mark.parametrize(("on", "of"), [(2, "`a`"), (4, "`a` and `b`")])
def test_one_component_alone_is_proposed_if_that_is_enough(on: int, of: str, tmp_path: Path) -> None:
    """Two and two on two of each model, or at once on four: of which one may use the others, or both have to."""
    apart = ", disjoint_from: a" if on == 2 else ""
    budget = "" if on == 2 else ", budget: {seconds: 30}"
    parts = f"  a: {{accelerators: 1-4, seconds: {{1: 60}}, scaling: linear{NAMED}}}\n  b: {{accelerators: 1-4, seconds: {{1: 60}}, scaling: linear{NAMED}}}"
    parts = (
        parts
        if on == 4
        else f"  a: {{accelerators: 2, seconds: {{2: 9}}{NAMED}}}\n  b: {{accelerators: 2, seconds: {{2: 9}}{NAMED}{apart}}}"
    )
    job = f"cluster: 1x2xH100+1x2xA100\ncomponents:\n{parts}\nplan: {{workflow: a -> b{budget}}}\n"
    (finding,) = solved(tmp_path, job).findings
    assert f"leave out the `accelerator` of {of}, which may then be on others" in finding.help
