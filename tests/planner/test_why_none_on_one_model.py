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
    if answer.verdict != IMPOSSIBLE:
        return
    help_text = answer.findings[0].help
    assert not re.search(r"add \d+ accelerator", help_text)
    if added := re.search(r"add (?:(\d+) node.? with )?(\d+) (H100|A100)", help_text):
        grown = f"1+{added[1] or 1}x{added[2]}x{added[3]}\n"
        assert solved(tmp_path, job.replace("\n", grown[1:], 1)).planned is not None
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


@pytest.mark.parametrize(
    ("asked", "others", "help_text"),
    [
        ("accelerators: 6, seconds: {4: 10}, accelerator: H100", 8, "write `accelerators: 4`, or leave out"),
        ("accelerators: 6, seconds: {4: 10}, accelerator: H100", 1, "write `accelerators: 4`"),
        (
            "accelerators: 8, parallel: {tp: 8}, seconds: {8: 10}, accelerator: H100",
            8,
            "lower its degrees, or let it use larger nodes, or leave out",
        ),
        (
            "accelerators: 2, seconds: {2: 10}, accelerator: B200",
            8,
            "name another, or leave `accelerator` out; how many it asks for is `accelerators`",
        ),
    ],
)
def test_what_can_be_run_in_no_way_on_its_model_may_be_on_others_where_these_help(
    asked: str, others: int, help_text: str, tmp_path: Path
) -> None:
    parts = f"components:\n  a: {{{asked}}}\n  b: {{accelerators: 1, seconds: {{1: 10}}}}\n"
    (finding,) = solved(tmp_path, f"cluster: 1x4xH100+1x{others}xA100\n{parts}plan: {{workflow: a -> b}}\n").findings
    assert "can be run in no way" in finding.message
    assert finding.help == help_text + " the `accelerator` of `a`, which may then be on others" * help_text.endswith("leave out")


UNTRIED = "(not tried here; `placewright solve` tries it)"


@pytest.mark.parametrize(
    ("demand", "tried", "untried"),
    [
        ("", "write `accelerators: 3`", f"write `accelerators: 4` {UNTRIED}"),  # 4 leave none for b, that is on 1
        (
            ", accelerator: H100",
            "write `accelerators: 4`, or leave out the `accelerator` of `a`, which may then be on others",
            f"write `accelerators: 4`, or leave out the `accelerator` of `a`, which may then be on others {UNTRIED}",
        ),
        (
            ", accelerator: H100, parallel: {tp: 4}, spread: {level: node, domains: 2}",
            "write `accelerators: 4`, and loosen what else is asked: with that alone no plan was found",
            f"write `accelerators: 4`, or leave out the `accelerator` of `a`, which may then be on others {UNTRIED}",
        ),
    ],
)
def test_a_count_is_proposed_that_was_tried_or_is_said_not_to_be(demand: str, tried: str, untried: str, tmp_path: Path) -> None:
    """`verify` searches nothing, and says so; `solve` names what it placed: by its spread it can have none of the counts of one model."""
    asked = f"a: {{accelerators: {8 if 'tp' in demand else 6}, seconds: {{4: 10}}{demand}}}"
    job = f"cluster: 1x4xH100{'+1x4xA100' if demand else ''}\ncomponents:\n  {asked}\n  b: {{accelerators: 1, seconds: {{1: 10}}}}\nplan: {{workflow: a -> b}}\n"
    (finding,) = solved(tmp_path, job).findings
    assert finding.help == tried
    (finding,) = pw.verify(tmp_path / "job.yaml").findings
    assert finding.help == untried


@pytest.mark.parametrize(
    ("asked", "help_text"),
    [
        ("seconds: {8: 10}, samples: 7", "write `accelerators: 7`"),
        ("seconds: {2: 10}, scaling: table", "write `accelerators: 2`, and loosen what else is asked: with that alone no plan was found"),
    ],
)
def test_counts_that_divide_samples_or_are_in_a_table_are_tried_too(asked: str, help_text: str, tmp_path: Path) -> None:
    parts = f"  a: {{accelerators: 8, {asked}}}\n  b: {{accelerators: 4-8, seconds: {{4: 10}}, colocate_with: a}}\n"
    (finding,) = solved(tmp_path, f"cluster: 1x8xH100\ncomponents:\n{parts}plan: {{workflow: b -> a}}\n").findings
    assert finding.help == help_text


@pytest.mark.parametrize("said", ["seconds: {H100: {2: 8}}", "seconds: {H100: {2: 8}, A100: {1: 10}}, scaling: table"])
def test_a_model_that_the_plan_chose_is_no_demand_of_the_file(said: str, tmp_path: Path) -> None:
    """The file has no key for it that could be dropped."""
    text = "cluster: 1x2xH100+1x1xA100\nplan: {}\ncomponents:\n  a: {accelerators: 2, %s, spread: {level: node, domains: %s}}\n"
    answer = solved(tmp_path, text % (said, 2))
    (finding,) = answer.findings
    assert answer.verdict == IMPOSSIBLE and finding.help == "spread a over 1 node instead of 2"
    assert "line 4: the plan that was tried has a on H100 (the cluster has 2)" in finding.notes
    assert solved(tmp_path, text % (said, 1)).plan is not None
    (written,) = solved(tmp_path, text % ("seconds: {2: 8}, accelerator: H100", 2)).findings
    assert "line 4: a may use only H100 (the cluster has 2)" in written.notes and "drop `accelerator` of a" in written.help
