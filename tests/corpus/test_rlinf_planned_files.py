"""RLinf's own configurations with a profile added: what solve writes into them verifies, at both levels."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Iterator

import pytest
from against_rlinf.corpus import CORPUS, EACH, FILES, FOLDERS, GROUPS
from placewright.models.composition import Composer
from placewright.models.dialects import rlinf
from placewright.models.dialects.load import read
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.placements.assignment import seats
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.planner.plan import plan
from placewright.planner.verify import verify
from placewright.solver.searching.search import solve
from sampling import some

pytestmark = [
    pytest.mark.skipif(not FILES, reason="the corpus is not beside the repository"), pytest.mark.slow, pytest.mark.timeout(600)
]  # fmt: skip

COSTS = "\nprofile_data: {rollout_cost: 200, inference_cost: 30, actor_cost: 60, critic_cost: 50, critic_inference_cost: 20}\n"
ROWS = "{1: 0.5, 2: 0.9, 4: 1.7, 8: 3, 16: 6, 32: 12, 64: 25, 128: 50, 256: 100, 512: 210}"
SHARES = f"\nprofile_data: {{env_profile_data: {ROWS}, rollout_profile_data: {ROWS}, actor_cost: 3}}\n"


@pytest.fixture
def composer() -> Iterator[Composer]:
    folders = {name: str(CORPUS / "yaml" / "examples" / folder) for name, folder in FOLDERS.items()}
    roots = (*(str(CORPUS / "yaml" / "examples" / group / "config") for group in GROUPS), str(CORPUS / "yaml"))
    before = dict(os.environ)
    os.environ.update(folders, REPO_PATH=str(CORPUS / "yaml"))
    yield Composer(roots, allowed=(*folders, "REPO_PATH"))
    os.environ.clear()
    os.environ.update(before)


def profiled(file: Path) -> str:
    """The text with a profile: of a simulator where there is one."""
    text = file.read_text("utf-8")
    return "" if "\nprofile_data:" in text else text + (SHARES if "task_type: embodied" in text else COSTS)


def planned(reading: Reading, composer: Composer, counts: Counter[str]) -> None:
    """Solves, writes, and verifies one file."""
    anew = reading.to_solve
    if anew.problem is None or not anew.problem.job.planning.own:
        counts["not planned"] += 1
        assert any(finding.code in ("PW604", "PW011") for finding in anew.findings) or anew.failed, reading.source.name
        return
    errors = {finding.code for finding in verify(anew).errors}
    assert not errors, f"{reading.source.name}: {errors}"
    assert anew.problem.job.planning.workload is not None
    answer = plan(anew.problem, solve)
    if answer.plan is None:
        counts[f"no plan: {answer.verdict}"] += 1
        return
    try:
        edits = rlinf.write(anew, answer.plan.assignment)
    except UnusableInput as refused:
        counts[refused.findings[0].message.split(": ", 1)[1][:60]] += 1
        return
    text = apply_edits(reading.source.text, edits)
    for level in ("placement", "training"):
        was = read(Source(reading.source.name, reading.source.text), DeclaredNodes(EACH), "rlinf", level, composer)
        now = read(Source(reading.source.name, text), DeclaredNodes(EACH), "rlinf", level, composer)
        assert {each.code for each in verify(now).errors} <= {each.code for each in verify(was).errors}, text[:2000]
        assert now.problem is not None
        for component in now.problem.components:
            assert list(seats(component.runs or ())) == list(seats(answer.plan.assignment.of(component.name))), reading.source.name
    counts["written"] += 1


def test_every_file_of_rlinf_gets_a_plan_that_it_would_start(composer: Composer) -> None:
    counts = Counter[str]()
    files = some(FILES, 4)
    for file in files:
        text = profiled(file)
        try:
            reading = read(Source(str(file), text), DeclaredNodes(EACH), "rlinf", "placement", composer) if text else None
        except UnusableInput:
            continue
        if reading is None or reading.problem is None or verify(reading).errors:
            counts["not right as it is, or profiled already"] += 1
            continue
        planned(reading, composer, counts)
    print(dict(counts))
    assert counts["written"] > len(files) / 2
    assert not any(name.startswith("no plan") for name in counts)
