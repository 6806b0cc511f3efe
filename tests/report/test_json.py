"""JSON for programs: the schema is a promise."""

from __future__ import annotations

import json

from placewright.models.findings.finding import Unchecked, error
from placewright.models.findings.span import Span
from placewright.models.placements.placement import Placement
from placewright.models.placements.plan import Plan
from placewright.models.report import Report
from placewright.report.json import render

FINDING = error("PW102", "actor", "too many", Span("run.yaml", 3, 4, 5, 14), help="write `0-15`")


def test_every_key_of_a_report() -> None:
    report = Report("run.yaml", "rlinf", (FINDING,), (Unchecked("PW501", "actor", "no memory given"),), pending=("env",))
    assert json.loads(render([report])) == {
        "schema": 1,
        "files": [
            {
                "file": "run.yaml",
                "dialect": "rlinf",
                "release": None,
                "level": "training",
                "machines": None,
                "verdict": "faulty",
                "missing": [],
                "findings": [
                    {
                        "code": "PW102",
                        "severity": "error",
                        "subject": "actor",
                        "message": "too many",
                        "line": 5,
                        "column": 14,
                        "help": "write `0-15`",
                    }
                ],
                "unchecked": [{"rule": "PW501", "subject": "actor", "why": "no memory given"}],
                "components": {},
                "pending": ["env"],
            }
        ],
    }


def test_a_finding_in_another_text_names_it() -> None:
    elsewhere = error("PW102", "actor", "too many", Span("base.yaml", 3, 4, 5, 14))
    (finding,) = json.loads(render([Report("run.yaml", "rlinf", (elsewhere,))]))["files"][0]["findings"]
    assert (finding["file"], finding["line"]) == ("base.yaml", 5)


def test_what_is_about_no_file_and_what_places_nothing_stand_at_the_top() -> None:
    data = json.loads(render([], findings=[error("PW011", "", "no cluster")], skipped=3))
    assert (data["files"], data["findings"][0]["code"], data["skipped"]) == ([], "PW011", 3)


def test_placements_only_when_asked_for(colocated: Plan) -> None:
    report = Report("run.yaml", "rlinf", plan=colocated)
    without = json.loads(render([report]))["files"][0]["components"]
    assert without == {"actor": {"world_size": 4}, "rollout": {"world_size": 6}}
    its = json.loads(render([report], placements=True))["files"][0]["components"]["rollout"]["placements"]
    assert [placement["rank"] for placement in its] == list(range(6))
    assert set(its[0]) == set(Placement.__dataclass_fields__)
    assert its[1]["visible_accelerators"] == ["0"]


def test_a_finding_without_a_place_has_no_line() -> None:
    report = Report("gone.yaml", "", (error("PW001", "", "there is no file"),))
    finding = json.loads(render([report]))["files"][0]["findings"][0]
    assert finding["line"] is None
    assert finding["column"] is None


def test_names_that_are_not_unicode_are_still_json() -> None:
    assert json.loads(render([Report("\udc80.yaml", "")]))["files"][0]["file"] == "\udc80.yaml"
