"""The peak of the bill is what `verify` counts in the file that was written: it refuses accelerators with one MiB less, and only those."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.dialects import native
from placewright.models.findings.span import apply_edits
from placewright.planner.accounting import account_of
from sampling import examples

PHASES = ("generate", "infer", "train", "score")
CLUSTER = "cluster: {{nodes: [{{accelerators: {{count: 5, model: H100, memory: {memory}MiB}}}}]}}\n"
MUCH = 200_000


def job(seed: int) -> str:
    """Up to four components that hold memory all the time or in phases, with seconds and without, alone or with others.

    Sometimes there is one more whose ranks are given.
    """
    draw = Random(seed)
    rows, timed, untimed = [], [], []
    for name in "abcd"[: draw.randint(2, 4)]:
        phases = draw.sample(PHASES, draw.choice((0, 1, 1, 1, 2)))
        said = [f"memory: {draw.randint(9_000, 20_000)}MiB"] if draw.random() < 0.9 else []
        said += [f"offloaded: {draw.randint(1, 9_000)}MiB"] if phases and said and draw.random() < 0.6 else []
        # The first always has a time, or nothing would be planned.
        if not timed or draw.random() < 0.5:
            by_phase = "{" + ", ".join(f"{phase}: {{2: {draw.randint(1, 90)}}}" for phase in phases) + "}"
            said.append(f"seconds: {by_phase}" if len(phases) > 1 and draw.random() < 0.7 else f"seconds: {{2: {draw.randint(1, 90)}}}")
            said += [f"phase: [{', '.join(phases)}]"] if phases else []
            timed.append(name)
        else:
            said += [f"phase: [{', '.join(phases)}]"] if phases else []
            said.append(f"colocate_with: {draw.choice(timed)}" if draw.random() < 0.7 else "accelerators: 1")
            untimed.append(name)
        rows.append(f"  {name}: {{{', '.join(said)}}}")
    if draw.random() < 0.4:
        phase = f", phase: {draw.choice(PHASES)}" if draw.random() < 0.7 else ""
        rows.append(f"  given: {{placement: 4, memory: {draw.randint(9_000, 40_000)}MiB{phase}}}")
    model = draw.choice(("stream", "stream", "steady"))
    return "\n".join(["components:", *rows, f"plan: {{cost_model: {model}, nested: {draw.choice(('true', 'false'))}}}", ""])


def errors(text: str, path: Path) -> list[str]:
    path.write_text(text)
    return [finding.code for finding in pw.verify(path).errors]


@pytest.mark.slow
def test_verify_counts_what_the_bill_says(tmp_path: Path) -> None:
    path, seen = tmp_path / "job.yaml", Counter[str]()
    for seed in range(count := examples(40)):
        path.write_text(CLUSTER.format(memory=MUCH) + job(seed))
        reading = pw.load(path)
        answer = pw.solve(path, sandbox=False)
        assert answer.plan is not None and answer.planned is not None and reading.problem is not None, path.read_text()
        bills = account_of(reading.problem, answer.planned).bills
        peak = max(its.peak.mebibytes for its in bills)
        written = apply_edits(path.read_text(), native.write(reading, answer.plan.assignment, answer.plan.degrees))
        if peak:
            assert errors(written.replace(f"{MUCH}MiB", f"{peak}MiB"), path) == [], written
        if peak > 1:
            found = errors(written.replace(f"{MUCH}MiB", f"{peak - 1}MiB"), path)
            assert found and set(found) == {"PW501"}, written
            seen["judged"] += 1
            seen["shared"] += any(len(its.block.components) > 1 for its in bills)
            seen["given"] += max(bills, key=lambda its: its.peak.mebibytes).block.components == ("given",)
            seen["in a phase without seconds"] += any(its.peak.segment is None for its in bills)
    assert (
        seen["judged"] > count * 3 // 4 and seen["shared"] > count // 5 and seen["in a phase without seconds"] > count // 8 < seen["given"]
    ), seen
