"""Text is made safe before it reaches a terminal, and colour is used only where it is wanted."""

from __future__ import annotations

import io

import pytest
from placewright.report.terminal import cells, escape, paint, wants_colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("actor", "actor"),
        ("名前 é", "名前 é"),
        ("a\tb\nc\r", r"a\tb\nc\r"),
        ("\x00\x1b\x9b", r"\x00\x1b\x9b"),
        ("\xa0\u3000", r"\xa0\u3000"),
        ("\u200b\u202e\ufeff", r"\u200b\u202e\ufeff"),
        ("\udc80\U000e0041", r"\udc80\U000e0041"),
    ],
)
def test_what_hides_or_moves_shows_its_number(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_columns() -> None:
    assert [cells(text) for text in ("abc", "名前", "e\u0301", "")] == [3, 4, 1, 0]


def test_colour_may_be_forced_but_a_refusal_counts_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for value, wanted in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv("FORCE_COLOR", value)
        assert wants_colour(io.StringIO()) == wanted
    monkeypatch.setenv("FORCE_COLOR", "3")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_colour_needs_a_terminal_and_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_paint_leaves_text_alone_without_colour() -> None:
    assert paint("ok", "green", False) == "ok"
    assert paint("ok", "green", True) == "\x1b[1;32mok\x1b[0m"
