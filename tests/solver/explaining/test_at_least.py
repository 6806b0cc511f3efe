"""The accelerators that are said to be needed at the least are a bound: no answer of any random small job uses fewer."""

from __future__ import annotations

from random import Random

import placewright as pw
import pytest
from placewright.models.dialects import native
from placewright.models.findings.finding import UnusableInput
from placewright.models.reading import Reading
from placewright.models.resolving import with_models
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.solver.explaining.needs import needs_of


def read(components: str, cluster: str = "2x4", plan: str = "") -> Reading:
    text = f"cluster: {cluster}\ncomponents: {{{components}}}\n" + f"plan: {{{plan}}}\n" * bool(plan)
    return with_models(native.read(Document.of(Source("job.yaml", text)), None))


def least(reading: Reading) -> int:
    """What `explain` says that is needed in all."""
    assert reading.problem is not None
    needs = needs_of(reading.problem, reading.document)
    return needs.accelerators + needs.open


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ("a: {accelerators: 2-8, seconds: {2: 9}}, b: {accelerators: 4, seconds: {4: 9}}", 4),  # in turn, on the same
        ("a: {accelerators: 2-8, seconds: {2: 9}}, b: {accelerators: 4, seconds: {4: 9}, disjoint_from: a}", 6),
        ("a: {accelerators: 2-8, seconds: {2: 9}}, b: {accelerators: 3, seconds: {3: 9}}, c: {accelerators: 1}", 4),  # c beside both
        ("a: {accelerators: 2-8}, b: {accelerators: 3}", 5),
        ("a: {accelerators: 2-8}, b: {accelerators: 3, within: a}", 3),
        ("a: {accelerators: 2-8}, b: {accelerators: 2, within: a}, c: {accelerators: 2, within: a}, d: {accelerators: 1}", 5),
        ("a: {accelerators: 4-8}, b: {placement: 0-2, within: a}", 4),  # one more than those of b
        ("a: {accelerators: 2, within: b}, b: {placement: 0-2}", 3),
        ("a: {accelerators: 2-8, parallel: {tp: [4, 1]}}", 2),
        ("a: {accelerators: 3-8, parallel: {tp: [4, 2]}}, b: {accelerators: 1, parallel: {pp: 3}, colocate_with: a}", 6),
    ],
)
def test_what_may_share_counts_once_and_what_is_apart_adds_up(components: str, expected: int) -> None:
    assert least(read(components)) == expected


def test_of_many_that_may_share_what_two_that_are_apart_need_is_found() -> None:
    each = [f"c{place}: {{accelerators: {1 + place % 5}-40, seconds: {{8: 9}}}}" for place in range(20)]
    each[4] = "c4: {accelerators: 5-40, seconds: {8: 9}, disjoint_from: c3}"  # the only pair that is apart
    assert least(read(", ".join(each), "8x8")) == 5 + 4


def job(random: Random, timed: bool) -> Reading:
    """One of 2 to 4 components on at most 8 accelerators, with relations, degrees and given ranks as they come."""
    names, parts = "abcd"[: random.randint(2, 4)], []
    for place, name in enumerate(names):
        count = random.randint(1, 3)
        hints = [f"accelerators: {count}-{random.randint(count, 8)}"]
        if random.random() < 0.15:
            hints = [f"placement: {place}-{place + random.randint(0, 1)}"]
        elif random.random() < 0.4:
            hints.append(f"parallel: {{tp: {random.choice(('2', '[1, 2]', '[4, 2]', '[2, 1]'))}}}")
        if timed and random.random() < 0.8:
            hints.append(f"seconds: {{1: {random.randint(5, 99)}}}")
        if place and random.random() < 0.4:
            kind = random.choice(("colocate_with", "disjoint_from", "within", "within"))
            hints.append(f"{kind}: {random.choice(names[:place])}")
        parts.append(f"{name}: {{{', '.join(hints)}}}")
    return read(", ".join(parts), random.choice(("1x4", "2x3", "2x4")), "minimise: accelerators" if timed and random.random() < 0.7 else "")


@pytest.mark.slow
@pytest.mark.parametrize("timed", [True, False])
def test_no_answer_of_a_random_job_uses_fewer(timed: bool) -> None:
    answered = met = 0
    for seed in range(120):
        reading = job(Random(f"{seed} {timed}"), timed)
        if reading.failed or reading.problem is None:
            continue
        try:
            answer = pw.solve(reading, sandbox=False)
        except UnusableInput:
            continue  # what its given ranks break
        if answer.plan is None:
            continue
        masks = [answer.plan.assignment.masks(each.name) for each in reading.problem.components]
        used = {(node, index) for its in masks for (node, _), mask in its.items() for index in range(8) if mask >> index & 1}
        assert least(reading) <= len(used), reading.source.text
        answered, met = answered + 1, met + (least(reading) == len(used))
    assert answered > 50
    assert met > 20
