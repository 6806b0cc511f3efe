"""What is offered where there is no plan: with every single change there is one."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Callable

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from sampling import examples


def random_job(random: Random) -> str:
    """Two or three components on one to three of each of two models, of which some are apart, large, or short of time."""
    names = ("a", "b", "c")[: random.randint(2, 3)]
    parts = []
    for name in names:
        count = random.randint(1, 2)
        keys = [f"accelerators: {count}-{count + random.randint(0, 2)}", f"seconds: {{1: {random.randint(20, 60)}}}"]
        keys += ["accelerator: H100"] if random.random() < 0.6 else []
        keys += [f"disjoint_from: {names[names.index(name) - 1]}"] if name != "a" and random.random() < 0.5 else []
        keys += [f"memory: {random.randint(30, 90)}GiB"] if random.random() < 0.4 else []
        parts.append(f"  {name}: {{{', '.join(keys)}}}")
    limits = [f"seconds: {random.randint(20, 120)}"] if random.random() < 0.4 else []
    limits += [f"accelerators: {random.randint(1, 3)}"] if random.random() < 0.3 else []
    budget = f", budget: {{{', '.join(limits)}}}" if limits else ""
    cluster = f"1x{random.randint(1, 3)}xH100+1x{random.randint(1, 3)}xA100"
    lines = "\n".join(parts)
    return f"cluster: {cluster}\ncomponents:\n{lines}\nplan: {{workflow: {' -> '.join(names)}{budget}}}\n"


def in_line_of(name: str, pattern: str, new: str) -> Callable[[str], str]:
    """An edit of what a component says."""
    return lambda job: re.sub(rf"(?m)^(  {name}: .*){pattern}", rf"\g<1>{new}", job)


def edited(job: str, change: str) -> str:
    """The job with a change that is offered."""
    for part in change.split(" and "):
        before = job
        if found := re.match(r"ask for (\d+) instead of (\S+) for (\w)", part):
            job = in_line_of(found[3], r"accelerators: [\d-]+", f"accelerators: {found[1]}")(job)
        elif found := re.match(r"set `memory` of (\w) to (\w+)", part):
            job = in_line_of(found[1], r"memory: \w+", f"memory: {found[2]}")(job)
        elif found := re.match(r"drop `(\w+)(?:: \w)?` of (\w)", part):
            job = in_line_of(found[2], rf", {found[1]}: \w+", "")(job)
        elif found := re.match(r"(?:allow )?`(\w+): ([\d.]+)`", part):
            start, _, budget = job.rpartition("budget")
            job = start + "budget" + re.sub(rf"{found[1]}: [\d.]+", f"{found[1]}: {found[2]}", budget)
        elif found := re.match(r"add (\d+) nodes? with (\d+) (\w+)", part):
            job = job.replace("\n", f"+{found[1]}x{found[2]}x{found[3]}\n", 1)
        elif found := re.match(r"write `scope: \[(\w+)\]`", part):
            job = job.replace("plan: {", f"plan: {{scope: [{found[1]}], ")
        assert job != before, part
    return job


def solved(folder: Path, job: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(job, encoding="utf-8")
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("seed", range(examples(20)))
def test_every_change_that_is_offered_has_a_plan(seed: int, tmp_path: Path) -> None:
    job = random_job(Random(seed))
    answer = solved(tmp_path, job)
    if answer.verdict != IMPOSSIBLE or answer.findings[0].help.startswith(("no small change", "drop one of")):
        return
    for change in answer.findings[0].help.split("; or "):
        assert solved(tmp_path, edited(job, change)).plan is not None, (job, answer.findings[0].help, change)


@pytest.mark.parametrize(
    ("asked", "others", "help_text"),
    [
        ("accelerators: 6, seconds: {4: 10}, accelerator: H100", 8, "ask for 4 instead of 6 for a; or drop `accelerator` of a; or add "),
        ("accelerators: 6, seconds: {4: 10}, accelerator: H100", 1, "ask for 4 instead of 6 for a; or add "),
        ("accelerators: 2, seconds: {2: 10}, accelerator: B200", 8, "drop `accelerator` of a"),
        ("accelerators: 4, seconds: {2: 10}, scaling: table", 2, "ask for 2 instead of 4 for a; or write `seconds` of a"),
        ("accelerators: 4, seconds: {2: 10}, samples: 6", 2, "ask for 3 instead of 4 for a; or write `seconds` of a"),
    ],
)
def test_of_a_component_that_no_plan_can_run_the_changes_are_tried_too(asked: str, others: int, help_text: str, tmp_path: Path) -> None:
    parts = f"components:\n  a: {{{asked}}}\n  b: {{accelerators: 1, seconds: {{1: 10}}}}\n"
    (finding,) = solved(tmp_path, f"cluster: 1x4xH100+1x{others}xA100\n{parts}plan: {{workflow: a -> b}}\n").findings
    assert "no plan can run `a`" in finding.message and finding.help.startswith(help_text)


def test_verify_tries_nothing_and_says_who_does(tmp_path: Path) -> None:
    parts = "components:\n  a: {accelerators: 6, seconds: {4: 10}}\n  b: {accelerators: 1, seconds: {1: 10}}\n"
    (tmp_path / "job.yaml").write_text(f"cluster: 1x4xH100\n{parts}plan: {{workflow: a -> b}}\n")
    (finding,) = pw.verify(tmp_path / "job.yaml").findings
    assert finding.message == "impossible: no plan can run `a`: a asks for 6 accelerators (the cluster has 4)"
    assert finding.notes == ("a can have 1, 2, 3, 4",)
    assert finding.help == "`placewright solve` says which changes would make it possible"


@pytest.mark.parametrize("said", ["seconds: {H100: {2: 8}}", "seconds: {H100: {2: 8}, A100: {1: 10}}, scaling: table"])
def test_a_model_that_the_plan_chose_is_no_demand_of_the_file(said: str, tmp_path: Path) -> None:
    """The file has no key for it that could be dropped."""
    text = "cluster: 1x2xH100+1x1xA100\nplan: {}\ncomponents:\n  a: {accelerators: 2, %s, spread: {level: node, domains: %s}}\n"
    answer = solved(tmp_path, text % (said, 2))
    (finding,) = answer.findings
    assert answer.verdict == IMPOSSIBLE and finding.help == "add 1 node with 2 H100; or spread a over 1 node instead of 2"
    assert "line 4: the plan that was tried has a on H100 (the cluster has 2)" in finding.notes
    assert solved(tmp_path, text % (said, 1)).plan is not None
