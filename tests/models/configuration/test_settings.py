"""Settings by their path: numbers, flags and words, known or not."""

from __future__ import annotations

import pytest
from placewright.models.configuration.notes import Notes
from placewright.models.configuration.settings import Settings
from placewright.models.text.document import Document
from placewright.models.text.interpolation import Interpolator
from placewright.models.text.source import Source


def settings(text: str) -> tuple[Notes, Settings]:
    document = Document.of(Source("run.yaml", text))
    notes = Notes(document, "RLinf")
    return notes, Settings(notes, Interpolator.of(document, ()))


def test_values_are_found_through_interpolations_of_their_maps() -> None:
    _, its = settings("env: {train: '${base}'}\nbase: {total: '${size}'}\nsize: 8\n")
    amount = its.whole("env.train.total", "PW401")
    assert amount is not None and (amount.value, amount.name) == (8, "env.train.total")
    assert amount.becomes(4) is None  # it is written elsewhere


@pytest.mark.parametrize(("text", "value"), [("8", 8), ("8.0", 8), ("0x10", 16), ("1_000", 1000)])
def test_whole_numbers(text: str, value: int) -> None:
    _, its = settings(f"size: {text}\n")
    amount = its.whole("size", "PW401")
    assert amount is not None and amount.value == value
    edit = amount.becomes(4)
    assert edit is not None and (edit.span.line, edit.text) == (1, "4")


def test_a_missing_number_has_its_default() -> None:
    _, its = settings("a: 1\n")
    amount = its.whole("b", "PW401", 3)
    assert amount is not None and amount.value == 3 and amount.span is None
    assert its.whole("b", "PW401") is None


def test_what_is_wrong_or_unknown_is_said_once() -> None:
    notes, its = settings("a: many\nb: '${oc.env:B}'\nc: '8'\n")
    for _ in range(2):
        assert its.whole("a", "PW401") is None
        assert its.whole("b", "PW401") is None
        assert its.whole("c", "PW401") is None
    assert [finding.subject for finding in notes.findings] == ["a", "c"]
    assert notes.findings[1].edit is not None and notes.findings[1].edit.text == "8"
    assert [each.subject for each in notes.unchecked] == ["b"]


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("false", False), ("null", False), ("0", False), ("'no'", True), ("{}", False), ("[1]", True)]
)
def test_flags_are_what_counts_as_true(text: str, value: bool) -> None:
    _, its = settings(f"flag: {text}\n")
    assert its.flag("flag", "PW401") is value
    assert its.flag("missing", "PW401") is False


def test_words() -> None:
    _, its = settings("kind: fsdp\nnone: null\n")
    assert (its.word("kind", "PW401"), its.word("none", "PW401"), its.word("missing", "PW401")) == ("fsdp", "", "")
