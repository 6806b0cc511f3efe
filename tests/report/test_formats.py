"""Formats for programs: SARIF and JUnit hold to their public schemas, workflow commands are escaped as GitHub reads them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from placewright.cli.main import run
from placewright.cli.pages import page_text
from placewright.models.findings.finding import Missing, error, warning
from placewright.models.findings.span import Edit, Span, apply_edits
from placewright.models.report import Report
from placewright.report.results import VerifyResults, render

DATA = Path(__file__).parents[1] / "data"
TEXT = "a: 1\nb: {c: 'ü',\n  d: 2}\n"
HOSTILE = "x\x1b[31m::error::%0Aé,\r\n]]>&<b>\x00\ud800 '\""
FILE = "conf/a b,c:d%.yaml"
FINDINGS = (
    error("PW102", "b", HOSTILE, Span(FILE, 8, 24, 2, 4), help="write `2`", edit=Edit(Span(FILE, 22, 23, 3, 6), "3"), notes=("why",)),
    warning("PW801", "", "idle", Span("base.yaml", 0, 1, 1, 1), origin=Span(FILE, 0, 1, 1, 1)),
    warning("PW104", "", "no place"),
)
REPORTS = (
    Report(FILE, "verl", FINDINGS, texts={FILE: TEXT, "base.yaml": "x"}),
    Report("run.yaml", "rlinf", missing=(Missing("nodes unknown", "Pass `--cluster x8`"),)),
    Report("/gone.yaml", "unknown", (error("PW001", "", "there is no file"),)),
    Report("good.yaml", "native"),
)
RESULTS = VerifyResults(REPORTS, (error("PW011", "", HOSTILE),), skipped=2, site="https://docs.example.org/", page_of=page_text)


def sarif(results: VerifyResults = RESULTS) -> dict[str, object]:
    return json.loads(render("sarif", results))["runs"][0]


@pytest.mark.parametrize("results", [RESULTS, VerifyResults(), VerifyResults(REPORTS[:1])])
def test_sarif_is_valid(results: VerifyResults) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(gzip.decompress((DATA / "sarif-schema-2.1.0.json.gz").read_bytes()))
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    log = json.loads(render("sarif", results))
    assert list(validator.iter_errors(log)) == []
    assert log["$schema"] == schema["id"]
    del log["runs"][0]["tool"]
    assert not validator.is_valid(log)


def test_a_result_of_sarif_has_its_place_its_page_and_its_fix() -> None:
    run_ = sarif()
    first, second, third, gone = run_["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "conf/a%20b%2Cc%3Ad%25.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 2, "startColumn": 4, "endLine": 3, "endColumn": 8}
    change = first["fixes"][0]["artifactChanges"][0]
    assert change["replacements"] == [
        {"deletedRegion": {"startLine": 3, "startColumn": 6, "endLine": 3, "endColumn": 7}, "insertedContent": {"text": "3"}}
    ]
    assert [result["level"] for result in run_["results"]] == ["error", "warning", "warning", "error"]
    assert second["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert "region" not in third["locations"][0]["physicalLocation"]
    assert gone["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///gone.yaml"}
    rules = run_["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run_["results"])
    assert rules[2]["helpUri"] == "https://docs.example.org/reference/codes/PW102.html"
    assert rules[2]["help"]["text"].startswith("PW102: ")
    assert run_["invocations"][0]["exitCode"] == 2
    assert [note["descriptor"]["id"] for note in run_["invocations"][0]["toolExecutionNotifications"]] == ["PW011", "incomplete"]
    assert "helpUri" not in sarif(VerifyResults(REPORTS))["tool"]["driver"]["rules"][0]


def test_junit_is_valid() -> None:
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(DATA / "junit-10.xsd"))
    schema.validate(render("junit", RESULTS))
    schema.validate(render("junit", VerifyResults()))


def test_junit_counts_what_it_lists() -> None:
    text = render("junit", RESULTS)
    assert text.isascii()
    root = ElementTree.fromstring(text)
    (suite,) = root
    assert [set(node.attrib) for node in (root, suite)] == [
        {"name", "tests", "failures", "errors"},
        {"name", "tests", "failures", "errors", "skipped"},
    ]
    kinds = {case.attrib["name"]: [(child.tag, child.attrib.get("type")) for child in case if child.tag != "system-out"] for case in suite}
    assert kinds == {
        "command line": [("error", "PW011")],
        FILE: [("failure", "PW102")],
        "run.yaml": [("skipped", "incomplete")],
        "/gone.yaml": [("error", "PW001")],
        "good.yaml": [],
    }
    assert {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5", "failures": "1", "errors": "2", "skipped": "1",
    }  # fmt: skip
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.text is not None
    assert "b: {c: 'ü'," in failure.text and "]]>&<b>" in failure.text
    assert "warning[PW801]" in str(suite.findall("testcase/system-out")[0].text)


COMMAND = re.compile(r"::(error|warning|notice) ([^:\r\n]*)::([^\r\n]*)")


def test_workflow_commands_are_read_back() -> None:
    *lines, last = render("github", RESULTS).split("\n")
    read = [COMMAND.fullmatch(line) for line in lines]
    assert all(read)
    properties = [dict(pair.split("=", 1) for pair in match[2].split(",")) for match in read if match]
    assert properties[1] == {"file": "conf/a b%2Cc%3Ad%25.yaml", "line": "2", "endLine": "3", "title": "PW102"}
    assert unquote(properties[1]["file"]) == FILE
    assert properties[2] == {"file": "base.yaml", "line": "1", "endLine": "1", "col": "1", "endColumn": "2", "title": "PW801"}
    message = read[1][3] if read[1] else ""
    assert message.endswith("%0Anote: why%0Ahelp: write `2`")
    assert "::error::%250Aé,\\r%0A]]>" in message and "\x1b" not in message and "\x00" not in message
    assert [match[1] for match in read if match] == ["error", "error", "warning", "warning", "warning", "error"]
    assert last == "4 files: 1 ok, 1 incomplete, 1 faulty, 1 unusable"


def test_paths_below_the_current_folder_are_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    findings = (error("PW010", "", "x", Span(f"{tmp_path}/a.yaml", 0, 1, 1, 1)),)
    assert "file=a.yaml," in render("github", VerifyResults((Report(f"{tmp_path}/a.yaml", "", findings),)))


def test_json_has_ends_edits_and_the_page() -> None:
    (first, second, *_) = json.loads(render("json", RESULTS))["files"][0]["findings"]
    assert (first["line"], first["column"], first["end_line"], first["end_column"]) == (2, 4, 3, 8)
    assert first["edits"] == [{"line": 3, "column": 6, "end_line": 3, "end_column": 7, "text": "3"}]
    assert first["url"] == "https://docs.example.org/reference/codes/PW102.html"
    assert (second["file"], second["end_column"]) == ("base.yaml", 2) and "edits" not in second


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
def test_edits_by_lines_and_columns_make_what_edits_by_offsets_make(end: str) -> None:
    text = TEXT.replace("\n", end)
    start = text.index("{")
    span = Span(FILE, start, text.index("}") + 1, 2, 4)
    report = Report(FILE, "", (error("PW102", "", "x", span, edit=Edit(span, "{}")),), texts={FILE: text})
    (edit,) = json.loads(render("json", VerifyResults((report,))))["files"][0]["findings"][0]["edits"]
    lines = re.split("(?<=\n)|(?<=\r)(?!\n)|(?<=[\x85\u2028])", text)
    offset = lambda line, column: sum(map(len, lines[: line - 1])) + column - 1  # noqa: E731
    begin, stop = offset(edit["line"], edit["column"]), offset(edit["end_line"], edit["end_column"])
    assert text[:begin] + edit["text"] + text[stop:] == apply_edits(text, [Edit(span, "{}")])


@pytest.mark.parametrize("form", ["github", "sarif", "junit"])
@pytest.mark.parametrize("words", [["gone.yaml", "--cluster", "x8"], ["a.yaml", "--cluster", "gone.yaml"], ["empty"]])
def test_unusable_input_is_said_in_the_format(form: str, words: list[str], tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(["verify", *words, "--format", form]) == 2
    printed = capsys.readouterr()
    assert ("PW001" in printed.out or "PW011" in printed.out) and printed.err == ""
