"""Texts fit a terminal of 40 to 200 columns; nothing is lost, source lines and patches stay as they are."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.report.terminal import cells
from placewright.report.wrapping import columns_of, fit_columns

WORDS = st.lists(st.sampled_from(["a", "bcd", "`x y`", "名前", "\x1b[1mbold\x1b[0m", "0-7,", "  "]), max_size=60).map(" ".join)


def plain(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


@given(st.sampled_from(["", "  ", "   = note: ", "error[PW102]: "]), WORDS, st.integers(40, 200))
def test_lines_fit_and_no_word_is_lost(head: str, words: str, columns: int) -> None:
    text = head + words
    shown = fit_columns(text, columns)
    assert all(cells(plain(line)) <= columns for line in shown.split("\n") if plain(line).strip())
    assert shown.split() == text.split()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run.yaml: ok: one two three four five six", "run.yaml: ok: one two three four five\n  six"),
        ("   = note: one two three four five six seven", "   = note: one two three four five six\n           seven"),
        ("  PW501 actor: one two three four five six", "  PW501 actor: one two three four five\n    six"),
        ("one two three four five six `a command x8`", "one two three four five six\n  `a command x8`"),
        ("one two three four five six seven i 0.03 s, y", "one two three four five six seven i\n  0.03 s, y"),
        (f"{'x' * 50} y", f"{'x' * 50}\n  y"),
        ("short", "short"),
        (" 12 | " + "x " * 40, " 12 | " + "x " * 40),
        ("    | " + "^ " * 40, "    | " + "^ " * 40),
        (f"--- a\n+++ a\n-{'x ' * 40}\n+{'y ' * 40}", f"--- a\n+++ a\n-{'x ' * 40}\n+{'y ' * 40}"),
        (f"--- a\n\n{'x ' * 21}y", f"--- a\n\n{('x ' * 20).strip()}\n  x y"),
        (f"`{'a ' * 35}` and `c d`", f"`{('a ' * 20).strip()}\n  {('a ' * 15).strip()} ` and\n  `c d`"),
    ],
)
def test_later_lines_are_indented_below_the_text(text: str, shown: str) -> None:
    assert fit_columns(text, 40) == shown


def test_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert columns_of(io.StringIO()) == columns_of(None) == 100
    monkeypatch.setenv("COLUMNS", "120")
    assert (columns_of(Terminal()), columns_of(io.StringIO())) == (120, 100)
    for value, columns in (("10", 40), ("999", 200), ("x", 100), ("0", 100)):
        monkeypatch.setenv("COLUMNS", value)
        assert columns_of(Terminal()) == columns
