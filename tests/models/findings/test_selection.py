"""Findings that are ignored by code, by path and by comments; unusable input never is."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Finding, IgnoredFinding, error, warning
from placewright.models.findings.selection import CodeSelection, comments_in, unused_comments
from placewright.models.findings.span import Span

TEXT = """# placewright: ignore[PW1]

a: 1   # placewright: ignore[PW201, pw3]
b: "# placewright:ignore[PW5]"
#placewright: ignore[PW401]
# another comment
c: 'x#placewright: ignore[PW6]'
"""


def at(line: int, code: str = "PW102", file: str = "a.yaml") -> Finding:
    return error(code, "a", "x", Span(file, 0, 1, line, 1))


def lines(text: str) -> list[tuple[tuple[str, ...], list[int]]]:
    return [(comment.codes, list(comment.lines)) for comment in comments_in("a.yaml", text)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_comment_holds_for_its_line_or_for_the_next_one(end: str) -> None:
    assert lines(TEXT.replace("\n", end)) == [(("PW1",), [3]), (("PW201", "PW3"), [3]), (("PW401",), [7])]


def test_the_lines_of_a_shell_command_are_one() -> None:
    text = "# placewright: ignore[PW1]\npython3 -m x \\\n  a=1 \\\n  b=2\nc=3\npython3 \\\n  d=1 # placewright: ignore[PW2]\n"
    assert lines(text) == [(("PW1",), [2, 3, 4]), (("PW2",), [6, 7])]


def test_a_comment_has_its_place() -> None:
    span = comments_in("a.yaml", TEXT)[1].span
    assert TEXT[span.start : span.end] == "# placewright: ignore[PW201, pw3]"
    assert (span.line, span.column) == (3, 8)


@pytest.mark.parametrize(
    "text", ["", "a: 1\n", "placewright:\n  components: {}\n", "# placewright: ignored\n", "x# placewright: ignore[PW1]"]
)
def test_other_text_is_no_comment(text: str) -> None:
    assert all(not comment.codes for comment in comments_in("a.yaml", text))


@pytest.mark.parametrize(
    ("selection", "codes"),
    [
        (CodeSelection(), ["PW104", "PW801", "PW001"]),
        (CodeSelection(ignored=("PW801",)), ["PW104", "PW001"]),
        (CodeSelection(ignored=("PW",)), ["PW001"]),
        (CodeSelection(selected=("PW8",)), ["PW801", "PW001"]),
        (CodeSelection(selected=("PW8",), ignored=("PW801",)), ["PW001"]),
        (CodeSelection(by_path=(("/job/a.yaml", ("PW1",)),)), ["PW801", "PW001"]),
        (CodeSelection(by_path=(("/jo*", ("PW1",)),)), ["PW801", "PW001"]),
        (CodeSelection(by_path=(("/job", ("PW1",)),)), ["PW801", "PW001"]),
        (CodeSelection(by_path=(("/job/b.yaml", ("PW1",)),)), ["PW104", "PW801", "PW001"]),
    ],
)
def test_codes_and_paths(selection: CodeSelection, codes: list[str]) -> None:
    findings = (at(5, "PW104"), warning("PW801", "", "idle"), error("PW001", "", "gone"))
    reported, ignored = selection.split(findings, "/job/a.yaml", {})
    assert [finding.code for finding in reported] == codes
    assert len(ignored) == 3 - len(codes)
    assert not any(item.in_source for item in ignored)


def test_comments_of_every_text_hold_at_either_place_of_a_finding() -> None:
    texts = {"a.yaml": "a: ${b}\n", "b.yaml": "x: 1\nb: 2  # placewright: ignore[PW102]\n"}
    both = error("PW102", "a", "x", Span("a.yaml", 3, 7, 1, 4), origin=Span("b.yaml", 8, 9, 2, 4))
    without_place = warning("PW102", "", "idle")
    reported, ignored = CodeSelection().split([both, at(1), at(2), without_place], "a.yaml", texts)
    assert reported == [at(1), at(2)]
    assert ignored == [IgnoredFinding(both, True), IgnoredFinding(without_place, True)]


def test_a_comment_that_ignores_nothing_is_a_note() -> None:
    def messages(text: str, *findings: Finding, unjudged: tuple[str, ...] = ()) -> list[str]:
        notes = list(unused_comments("a.yaml", text, findings, unjudged))
        assert {(note.code, note.severity.value) for note in notes} <= {("PW806", "note")}
        return [note.message for note in notes]

    text = "a: 1  # placewright: ignore[PW102]\n"
    assert messages(text, at(1)) == []
    assert messages(text, at(2)) == ["nothing is ignored here: no PW102"]
    assert messages(text, unjudged=("PW102",)) == []
    assert messages("# placewright: ignore\na: 1\n", at(2)) == ["the comment names no code"]
    assert messages("# placewright: ignore[PW102, PW999]\na: 1\n", at(2)) == ["there is no code `PW999`"]
