"""A report in text: findings, sizes, what was not checked; the verdict last."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.findings.finding import Missing, Unchecked, error, warning
from placewright.models.findings.span import Span
from placewright.models.placements.plan import Plan
from placewright.models.report import Report, exit_code
from placewright.report.text import render, summary

FAULTY = Report(
    "bad.yaml",
    "rlinf",
    (warning("PW104", "", "odd"), error("PW107", "", "unknown", Span("bad.yaml", 3, 4, 1, 4))),
    texts={"bad.yaml": "a: 1\n"},
)
UNUSABLE = Report("gone.yaml", "", (error("PW001", "", "there is no file `gone.yaml`", help="check the path"),))


@pytest.fixture
def good(colocated: Plan) -> Report:
    return Report(
        "run.yaml", "rlinf", unchecked=(Unchecked("PW501", "actor", "no memory given"),), plan=colocated, texts={"run.yaml": "a: 1\n"}
    )


def test_a_good_file(good: Report) -> None:
    assert render(good) == (
        "component  world size  nodes  accelerators  ranks\n"
        "actor               4      1             4  0-3\n"
        "rollout             6      2             4  0-1,4-5\n"
        "\n"
        "not checked:\n"
        "  PW501 actor: no memory given\n"
        "\n"
        "run.yaml: ok: placement and training arithmetic of a rlinf file; 2 components, 10 processes on 2 nodes; not checked: memory"
    )


def test_a_faulty_file() -> None:
    assert render(FAULTY) == (
        "warning[PW104]: odd\n\nerror[PW107]: unknown\n  --> bad.yaml:1:4\n   |\n 1 | a: 1\n   |    ^\n\n"
        "`placewright explain PW107` says more\n\n"
        "bad.yaml: faulty: 1 error, 1 warning; placement and training arithmetic of a rlinf file"
    )


def test_an_unusable_file() -> None:
    assert render(UNUSABLE).splitlines()[-1] == "gone.yaml: unusable: 1 error"


def test_placements_are_listed_when_asked_for(good: Report) -> None:
    lines = render(good, placements=True).splitlines()
    assert sum(line.startswith("  ") and "node-" in line for line in lines) == 10


def test_what_is_left_to_solve_is_said() -> None:
    report = Report("h.yaml", "native", pending=("actor", "env"), level="placement", machines="2x8xH100")
    assert render(report) == "h.yaml: ok: placement of a native file on 2x8xH100; to solve: actor, env"


def test_what_is_missing_is_said_with_what_to_add_first(good: Report) -> None:
    missing = (Missing("memory not checked: sizes unknown", "Pass `--cluster x8`"), Missing("more", "Add it"))
    report = replace(good, missing=missing, plan=None)
    about = "placement and training arithmetic of a rlinf file"
    assert render(report).splitlines()[-1] == f"run.yaml: incomplete: memory not checked: sizes unknown. Pass `--cluster x8` ({about})"
    assert summary([report, FAULTY, UNUSABLE, good]).splitlines()[-1] == "4 files: 1 ok, 1 incomplete, 1 faulty, 1 unusable"
    assert exit_code([each.verdict for each in (good, report)]) == 5
    assert exit_code([each.verdict for each in (report, FAULTY)]) == 1


def test_equal_reasons_are_one_line() -> None:
    report = Report("a.yaml", "rlinf", unchecked=tuple(Unchecked("PW102", name, "no cluster given") for name in ("actor", "env", "actor")))
    assert "  PW102 actor, env: no cluster given\n" in render(report)


def test_many_files_end_with_their_sum(good: Report) -> None:
    assert summary([good, good, FAULTY, UNUSABLE]) == (
        "2 files with errors: PW001 x1, PW107 x1\n1 file with warnings: PW104 x1\n"
        "`placewright explain PW107 PW001` says more\n4 files: 2 ok, 1 faulty, 1 unusable"
    )
    assert summary([good, good], skipped=12) == "12 files place nothing\n2 files: 2 ok"
