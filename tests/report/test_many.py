"""Many files: one line for each cause with its files, none for a good file, the counts last."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.findings.finding import IgnoredFinding, Missing, error, warning
from placewright.models.findings.span import Span
from placewright.models.report import Report
from placewright.models.text.document import Program
from placewright.report.many import MAX_CAUSES, render
from placewright.report.text import verdicts


def wrong(name: str, message: str = "`actor` is placed twice", line: int = 3) -> Report:
    return Report(name, "rlinf", (warning("PW801", "", "idle"), error("PW106", "actor", message, Span(name, 4, 5, line, 7))))


GOOD = Report("good.yaml", "rlinf", (warning("PW801", "", "idle"),))
UNSURE = Report("x.yaml", "rlinf", missing=(Missing("ranks not checked", "Pass `--cluster x8`"),))


def test_the_same_cause_is_listed_once_with_its_files() -> None:
    two = replace(
        wrong("two.yaml", "other"), findings=(*wrong("two.yaml", "other").findings, error("PW107", "", "x"), error("PW107", "", "y"))
    )
    reports = [GOOD, *(wrong(f"{letter}.yaml") for letter in "abcde"), UNSURE, two, Report("gone.yaml", "", (error("PW001", "", "gone"),))]
    assert render(reports, skipped=2) == (
        "gone.yaml: error[PW001]: gone\n"
        "error[PW106]: `actor` is placed twice (5 files)\n"
        "  a.yaml:3:7, b.yaml:3:7 and 3 more\n"
        "two.yaml:3:7: error[PW106]: other (and 2 more errors)\n"
        "x.yaml: incomplete: ranks not checked. Pass `--cluster x8`\n"
        "\n"
        "-v shows every finding with its help\n"
        "7 files with errors: PW001 x1, PW106 x6, PW107 x2\n"
        "7 files with warnings: PW801 x7\n"
        "2 files place nothing\n"
        "`placewright explain PW106 PW107 PW001` says more\n"
        "9 files: 1 ok, 1 incomplete, 6 faulty, 1 unusable"
    )


def test_what_one_addition_completes_is_one_cause() -> None:
    add = "Pass `--config-root base`"
    lacking = [replace(UNSURE, file=f"{key}{n}.yaml", missing=(Missing(f"`{key}` is unknown", add),)) for key in "ab" for n in range(3)]
    assert render([*lacking[:2], *lacking[3:]]).splitlines()[:2] == [
        "incomplete: `b` is unknown (and 1 like it). Pass `--config-root base` (5 files)",
        "  a0.yaml, a1.yaml and 3 more",
    ]


def test_good_files_have_no_line() -> None:
    assert render([GOOD, replace(GOOD, file="b.yaml")]) == "2 files with warnings: PW801 x2\n2 files: 2 ok"
    assert render([GOOD, GOOD], quiet=True) == ""


def test_ignored_errors_are_counted_even_if_quiet() -> None:
    hidden = replace(GOOD, ignored=(IgnoredFinding(error("PW106", "", "x"), False),))
    assert render([hidden, GOOD], quiet=True).endswith("2 files: 2 ok; 1 error ignored")
    assert "\x1b" in render([wrong("a.yaml")], colour=True)


@pytest.mark.parametrize("count", [MAX_CAUSES + 1, 500])
def test_causes_are_bounded(count: int) -> None:
    text = render([wrong(f"{number}.yaml", f"message {number}") for number in range(count)])
    assert len(text.splitlines()) == MAX_CAUSES + 7
    assert f"and {count - MAX_CAUSES} cause" in text


def test_names_are_made_safe_for_a_terminal() -> None:
    assert "\x1b" not in render([wrong("a\x1b[31m.yaml", "b\x1b[0m\n")])


def test_programs_of_a_script_are_no_files() -> None:
    programs = [Report("run.sh", "verl", program=Program("m", Span("run.sh", 0, 1, 1, 1), number=number, count=3)) for number in (1, 2, 3)]
    assert verdicts(programs) == "1 file, 3 programs: 3 ok"
    assert verdicts([*programs, GOOD]) == "2 files, 4 programs: 4 ok"
    assert verdicts([GOOD]) == "1 file: 1 ok"
