"""A launch that may be placed anew, of a plan whose file nobody knows: that neither it nor a framework is asked then is said."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.reading import Reading
from placewright.report.text import render_unchecked
from placewright.runtime.detached.record import record_of
from placewright.runtime.launch import bring_up, launch
from placewright.runtime.recovery.lifetime import RestartPolicy

from ..fake import FakePort
from .launching import Trainer, hanging, plan_of, problem

ASKED = problem("2x4xH100", 8)
SAID = """not checked:
  plan: a restart keeps only sizes and sharing, and asks no framework: launch the plan's file itself"""
NO_READING = """not checked:
  framework: a restart checks no framework's rules: launch a framework's own file with its `reading`"""


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """Of a file, as `launch FILE` reads it."""
    file = tmp_path / "job.yaml"
    file.write_text("cluster: 2x4xH100\ncomponents: {actor: {accelerators: 8, parallel: {tp: 2}}}\n")
    return pw.load(file)


def test_it_is_said_of_a_plan_alone_that_may_be_placed_anew(reading: Reading) -> None:
    assert render_unchecked(RestartPolicy.of(1, None, None).unchecked) == SAID
    assert render_unchecked(RestartPolicy.of(2, ASKED, None).unchecked) == NO_READING
    assert RestartPolicy.of(0, None, None).unchecked == ()
    assert RestartPolicy.of(1, reading.problem, reading).unchecked == ()


def test_it_is_told_and_written_down_at_the_start_and_when_it_was_started_again() -> None:
    port = FakePort(4, 4)
    with ExitStack() as stack:
        running = bring_up(stack, plan_of(ASKED), port, Trainer, 60, policy=RestartPolicy.of(1, None, None), progress=lambda step: None)
        assert render_unchecked(running.unchecked) == SAID
        port.later(5, lambda: port.kill(port.actors[3].start.name))
        running.run(hanging(port))
        assert len(running.recoveries) == 1
        assert render_unchecked(running.unchecked) == SAID
        record = record_of("trial", "plan.json", running, is_simulated=True)
    assert render_unchecked(record.unchecked) == SAID


@pytest.mark.parametrize("known", [False, True])
def test_a_launch_is_told_whether_its_file_is_known(known: bool, reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("placewright.runtime.launch._connect", lambda *arguments: "127.0.0.1:1")
    monkeypatch.setattr("placewright.runtime.launch.bring_up", lambda *arguments, **named: seen.extend(arguments))
    with launch(plan_of(ASKED), simulate=True, restarts=1, reading=reading if known else None):
        (again,) = (each for each in seen if isinstance(each, RestartPolicy))
        assert bool(again.unchecked) is not known
