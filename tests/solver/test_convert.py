"""A conversion that would be wrong, or show what must not be shown, is refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Callable

import pytest
from placewright.models.conversion import note_loss, warn_of_loss
from placewright.models.dialects import native
from placewright.models.dialects.dialect import Rendering
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.report import EXACT, LOSSY, REFUSED, Converted
from placewright.models.text.environment import Environment
from placewright.models.text.source import Source
from placewright.solver import convert as module

TEXT = (
    "cluster: 2x8\ncomponents:\n  actor: {placement: 0-7, memory: 40GiB}\n  rollout: {accelerators: 8}\n  critic: {accelerators: [1, 4]}\n"
)


def reading() -> Reading:
    return read(Source("job.yaml", TEXT), None, "native")


@pytest.fixture
def with_render(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Rendering], Rendering]], Converted]:
    """Converts to a dialect whose text is another one than it should be."""

    def converted(change: Callable[[Rendering], Rendering]) -> Converted:
        def render(problem: Problem, *context: object) -> Rendering:
            return change(native.render(problem))

        dialect = SimpleNamespace(render=render, PLACES=native.PLACES, RELEASES=None)
        monkeypatch.setattr(module, "dialect_named", lambda name: dialect)
        return module.convert(reading(), "native")

    return converted


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("placement: 0-7", "placement: 1-8", "`actor` has process 0 elsewhere"),
        ("placement: 0-7", "placement: 0-6", "`actor` has 7 processes, not 8"),
        ("placement: 0-7", "placement: 0-7:0-3", "`actor` has process 0 elsewhere"),
        ("accelerators: 8", "accelerators: 8-16", "`rollout` differs in its most"),
        ("accelerators: [1, 4]", "accelerators: 1-4", "`critic` differs in its counts"),
        ("rollout:", "reference:", "`rollout` is missing"),
        ("memory: 40GiB", "memory: 30GiB", "`actor` differs in its memory"),
    ],
)
def test_what_differs_and_was_not_announced_is_our_own_fault(
    with_render: Callable[[Callable[[Rendering], Rendering]], Converted], before: str, after: str, what: str
) -> None:
    done = with_render(lambda rendering: replace(rendering, text=rendering.text.replace(before, after)))
    assert (done.verdict, done.text) == (REFUSED, "")
    assert what in done.findings[0].message and "fault of placewright" in done.findings[0].message


def test_what_was_announced_is_a_loss(with_render: Callable[[Callable[[Rendering], Rendering]], Converted]) -> None:
    def change(rendering: Rendering) -> Rendering:
        text = rendering.text.replace("placement: 0-7", "placement: 1-8").replace("40GiB", "30GiB")
        return replace(rendering, text=text, losses=(warn_of_loss("actor", "it is elsewhere"),))

    assert with_render(change).verdict == LOSSY


def test_a_remark_announces_no_other_place(with_render: Callable[[Callable[[Rendering], Rendering]], Converted]) -> None:
    def change(rendering: Rendering) -> Rendering:
        return replace(rendering, text=rendering.text.replace("0-7", "1-8"), losses=(note_loss("actor", "its memory is not said"),))

    assert with_render(change).verdict == REFUSED


def test_a_text_that_its_dialect_refuses_is_not_handed_out(with_render: Callable[[Callable[[Rendering], Rendering]], Converted]) -> None:
    done = with_render(lambda rendering: replace(rendering, text=rendering.text.replace("0-7", "0-17")))
    assert done.verdict == REFUSED
    assert done.findings[0].message.startswith("native refuses it: ") and "(PW102)" in done.findings[0].message


def test_a_value_of_the_environment_is_not_written() -> None:
    found = reading()
    assert module.convert(found, "native").verdict == EXACT
    environment = Environment({"NAME": "actor", "RANKS": "0-7"})
    done = module.convert(replace(found, document=replace(found.document, environment=environment)), "native")
    assert done.verdict == REFUSED
    assert "environment variable" in done.findings[0].message


@pytest.mark.parametrize(("placed", "severity"), [("", Severity.WARNING), (", placement: 0-3", Severity.NOTE)])
def test_times_are_not_carried_over_and_that_is_told(placed: str, severity: Severity) -> None:
    """It was called exact, and a search for the new file has other counts."""
    text = f"cluster: 1x8\ncomponents:\n  actor: {{accelerators: [2, 4], seconds: {{2: 9, 4: 5}}{placed}}}\n"
    done = module.convert(read(Source("job.yaml", text), None, "native"), "native")
    (loss,) = done.losses
    assert done.verdict == LOSSY and loss.severity == severity and loss.message.startswith("the times of `actor`, and what `plan` says")
