"""How a launch is seen while it comes about: lines that say something new, or one line on a terminal."""

from __future__ import annotations

import io
import sys

import pytest
from placewright.cli.output import progress as steps
from placewright.cli.output.progress import StepOutput, shown_steps
from placewright.runtime.progress import Step

STARTED = [Step("reserving"), *(Step("starting", {"actor": (ready, 3), "agent": (ready // 2, 1)}) for ready in range(4))]


def said(way: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    with shown_steps(way) as told:
        for step in STARTED:
            told(step)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


@pytest.mark.parametrize("way", ["auto", "plain"])
def test_where_no_terminal_is_a_component_is_told_when_it_is_whole(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(way, capsys) == [
        "reserving",
        "starting: actor 0/3, agent 0/1",
        "starting: actor 2/3, agent 1/1",
        "starting: actor 3/3, agent 1/1",
    ]


def test_after_a_while_it_is_told_again(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "PATIENCE", 0.0)
    assert len(said("plain", capsys)) == len(STARTED)


def test_or_nothing_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert said("none", capsys) == []


def test_on_a_terminal_it_is_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with shown_steps("auto") as told:
        for step in STARTED:
            told(step)
    text = terminal.getvalue()
    assert "actor 3/3, agent 1/1" in text
    assert "\x1b[2K" in text  # a line was erased


def test_what_is_printed_between_steps_finds_the_line_gone_and_a_later_step_shows_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    class Told(StepOutput):
        text = ""

        def __call__(self, step: Step) -> None:
            self.text = str(step)

        def clear(self) -> None:
            ended.append(self.text)
            self.text = ""

    monkeypatch.setattr(steps, "ProgressLine", Told)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with shown_steps("auto") as told:
        told(STARTED[0])
        told.clear()
        told(STARTED[-1])
    assert ended == ["reserving", "starting: actor 3/3, agent 1/1"]


def test_names_of_components_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_steps("plain") as told:
        told(Step("starting", {"a\x1b[2Jb": (0, 1)}))
    assert capsys.readouterr().err == "starting: a\\x1b[2Jb 0/1\n"
