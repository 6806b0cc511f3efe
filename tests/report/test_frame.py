"""A finding is shown with its line, a caret under the very characters, and what mends it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.models.findings.finding import Finding, Severity, error, warning
from placewright.models.findings.span import Span
from placewright.models.text.source import Source
from placewright.models.text.tree import Scalar, find
from placewright.report.frame import WIDTH, excerpt, frame
from placewright.report.terminal import cells

TRAIN = "cluster:\n  num_nodes: 2\n  component_placement:\n    actor: 0-7\n    rollout: 0-17\n"


def span_at(text: str, start: int, end: int, file: str = "train.yaml") -> Span:
    line = text.count("\n", 0, start) + 1
    return Span(file, start, end, line, start - (text.rfind("\n", 0, start) + 1) + 1)


def span_of(text: str, part: str, file: str = "train.yaml") -> Span:
    start = text.index(part)
    return span_at(text, start, start + len(part), file)


def test_the_frame_of_the_design() -> None:
    finding = error(
        "PW102",
        "rollout",
        "rank 17 is outside the cluster (2 nodes x 8 GPUs = ranks 0-15)",
        span_of(TRAIN, "0-17"),
        label="18 ranks asked, 16 exist",
        help="write `rollout: 0-15`, or set `num_nodes: 3`",
    )
    assert frame(finding, {"train.yaml": TRAIN}) == (
        "error[PW102]: rank 17 is outside the cluster (2 nodes x 8 GPUs = ranks 0-15)\n"
        "  --> train.yaml:5:14\n"
        "   |\n"
        " 5 |     rollout: 0-17\n"
        "   |              ^^^^ 18 ranks asked, 16 exist\n"
        "   = help: write `rollout: 0-15`, or set `num_nodes: 3`"
    )


def test_without_a_place_there_is_no_frame() -> None:
    finding = error("PW001", "", "there is no file `a.yaml`", help="check the path")
    assert frame(finding, {}) == "error[PW001]: there is no file `a.yaml`\n   = help: check the path"


def test_without_the_text_the_place_alone_is_given() -> None:
    assert frame(warning("PW104", "", "odd", Span("b.yaml", 10, 12, 2, 3)), {}) == "warning[PW104]: odd\n  --> b.yaml:2:3"


def test_an_interpolated_value_shows_both_places() -> None:
    text = "ranks: 0-17\n" + "\n" * 10 + "actor: ${ranks}\n"
    finding = Finding("PW102", Severity.ERROR, "actor", "too many", span_of(text, "${ranks}"), origin=span_of(text, "0-17"))
    assert frame(finding, {"train.yaml": text}) == (
        "error[PW102]: too many\n"
        "   --> train.yaml:12:8\n"
        "    |\n"
        " 12 | actor: ${ranks}\n"
        "    |        ^^^^^^^^\n"
        "note: the value comes from here\n"
        "   --> train.yaml:1:8\n"
        "    |\n"
        "  1 | ranks: 0-17\n"
        "    |        ^^^^"
    )


def test_a_span_of_several_lines_shows_its_first() -> None:
    text = "cluster:\n  actor: 0\n  env: 1\n"
    value = find(Source("a.yaml", text).root, "cluster")
    assert value is not None
    assert excerpt(text, value.span) == ("  actor: 0", 2, 8)


@pytest.mark.parametrize(
    ("line", "part", "before", "under"),
    [
        ("\tactor: 9", "9", 4 + 7, 1),  # a tab is four columns
        ("名前: 9", "9", 6, 1),  # wide characters are two
        ("a: 名前", "名前", 3, 4),
        ("e\u0301: 9", "9", 3, 1),  # a combining accent is none
        ("a\x1b[31m: 9", "9", 11, 1),  # an escape is shown as \x1b
        ("a\u202eb: 9", "9", 10, 1),  # and so is a mark that reverses the line
    ],
)
def test_the_caret_is_right_after_odd_characters(line: str, part: str, before: int, under: int) -> None:
    shown, *caret = excerpt(line, span_of(line, part))
    assert caret == [before, under]
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_value_that_is_not_written_gets_one_caret() -> None:
    text = "actor:\nenv: 1\n"
    value = Source("a.yaml", text).root.get("actor")
    assert isinstance(value, Scalar)
    assert value.is_null
    assert excerpt(text, value.span) == ("actor:", 6, 1)


def test_a_long_line_is_cut_on_both_sides_of_the_caret() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    shown, before, under = excerpt(line, span_of(line, "HERE"))
    assert shown[before : before + under] == "HERE"
    assert shown.startswith("...xxx")
    assert shown.endswith("yyy...")
    assert len(shown) == WIDTH + 6


@pytest.mark.timeout(60)  # looking through the whole line for each would take minutes
def test_many_faults_in_one_endless_line_cost_little() -> None:
    text = "a" * (1 << 20)
    for start in range(0, len(text), 1000):
        assert excerpt(text, Span("a.yaml", start, start + 5, 1, start + 1))[2] == 5


def test_an_endless_name_does_not_fill_the_screen() -> None:
    shown = frame(error("PW102", "", "x" * 100_000, help="y" * 100_000), {})
    assert len(shown) < 2200
    assert "xxx..." in shown


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_every_line_end_of_yaml_ends_the_line(end: str) -> None:
    text = f"a: 1{end}b: 2{end}c: 3"
    entry = Source("a.yaml", text).root.entry("b")
    assert entry is not None
    assert excerpt(text, entry.value.span) == ("b: 2", 3, 1)


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_span_of_any_text_can_be_shown(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    shown, before, under = excerpt(text, span_at(text, start, min(start + length, len(text))))
    assert 0 <= before <= cells(shown)
    assert under >= 1
    assert cells(shown) <= WIDTH + 6
    assert all(character.isprintable() for character in shown)


def test_nothing_in_a_message_can_move_the_cursor() -> None:
    finding = error("PW107", "x", "group `\x1b[2J` is unknown", Span("\n.yaml", 0, 1, 1, 1), label="\r", help="\u200b")
    shown = frame(finding, {"\n.yaml": "\x07"})
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert r"`\x1b[2J`" in shown
    assert r"--> \n.yaml:1:1" in shown


def test_colour_changes_no_character() -> None:
    import re

    finding = error("PW102", "a", "message", span_of(TRAIN, "0-17"), label="label", help="help")
    texts = {"train.yaml": TRAIN}
    painted = frame(finding, texts, colour=True)
    assert painted != frame(finding, texts)
    assert re.sub("\x1b\\[[0-9;]*m", "", painted) == frame(finding, texts)
