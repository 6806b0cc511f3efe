"""Text that an edit puts into a script arrives as it is meant, whatever quotes stand around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.models.findings.span import Edit, Span, apply_edits
from placewright.models.script.arguments import fit_edit, quote
from placewright.models.script.document import read_script
from placewright.models.text.source import Source

PLACES = [
    "run a.b=HERE",
    "run 'a.b=HERE'",
    'run "a.b=HERE"',
    "run a.b='x HERE y'",
    'run a.b="x HERE"$Z',
    "A=(\n  a.b=HERE # it's\n)\nrun ${A[@]}",
]


def words_of(script: str) -> list[str]:
    read = read_script(Source("run.sh", script))
    assert not read.findings
    return [text.plain for each in read.started for text in each.words]


@pytest.mark.parametrize("place", PLACES)
@given(st.text(alphabet="ab'\"$`\\ [],{}()*!#;&|<>=~", min_size=1, max_size=8))
def test_an_edit_is_read_back(place: str, text: str) -> None:
    start = place.index("HERE")
    edit = fit_edit(place, Edit(Span("run.sh", start, start + 4, 1, start + 1), text))
    before = words_of(place)
    after = words_of(apply_edits(place, [edit]))
    if "${A" not in place:
        assert after == [word.replace("HERE", text) for word in before]


@given(st.text(max_size=12))
def test_a_quoted_text_is_one_word(text: str) -> None:
    if text and "\0" not in text and "\r\n" not in text:  # the lines of a file are read as those of Unix
        assert words_of(f"run {quote(text)}") == ["run", text]
