"""The page of every code: it is there, it is short, and what its examples show is what the real command says."""

from __future__ import annotations

import ast
import inspect
import re
import runpy
import shlex
from pathlib import Path

import placewright
import pytest
from placewright.cli.main import run
from placewright.cli.options.shared import read_machines
from placewright.cli.pages import page_of
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.findings.codes import CODES, FAMILIES
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import Edit, apply_edits
from placewright.planner.verify import verify
from placewright.report.explain import WIDTH, render
from placewright.report.page import Example, parse_page
from placewright.solver.advice import ADVICE
from placewright.solver.rules import RULES

PAGES = Path(next(iter(placewright.__path__))) / "report" / "pages"
LONGEST = 60
CODE = re.compile(r"(?:error|warning|note(?=\[PW(?:60[38]|806)\]))\[(PW\d{3})\]")
"""A code as the output shows it; a note is not a fault, but PW603, PW608 and PW806 may be notes alone."""

NEEDS_RAY = "needs Ray: tests/scenarios/launch and tests/runtime play it"
NOT_RUN = {
    "PW008": "the right example makes a plan and launches it, which needs Ray",
    "PW009": "needs a plan that was made before; tests/models/placements/test_plan_file.py changes one",
    "PW610": "no file makes a solver lie; tests/solver/sandbox/test_liars.py has solvers that do",
    **{code: NEEDS_RAY for code in CODES if code.startswith("PW7")},
}
"""Codes with a transcript that is not played here, and why."""

PLAYED = sorted(set(CODES) - set(NOT_RUN))


def play(examples: tuple[Example, ...], command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """(exit code, all output) of the command in a folder that holds the files of the examples, without those of other commands."""
    for example in examples:
        if example.command not in ("", command):
            continue
        if name := example.file or file_of(command):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(example.text, "utf-8")
    code = run(shlex.split(command))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def file_of(command: str) -> str:
    return next((word for word in command.split()[1:] if not word.startswith("-")), "")


def command_of(*sides: tuple[Example, ...]) -> str:
    return next(example.command for examples in sides for example in examples if example.command)


def commands_of(*sides: tuple[Example, ...]) -> list[str]:
    """Those of the first side that has some: each file that has one is an example by itself."""
    return next(found for examples in sides if (found := [example.command for example in examples if example.command]))


def only_language(examples: tuple[Example, ...]) -> str:
    languages = {example.language for example in examples}
    return languages.pop() if len(languages) == 1 else ""


def test_every_code_has_a_page_and_no_page_lacks_a_code() -> None:
    assert {path.stem for path in PAGES.iterdir()} == set(CODES)


def test_every_code_has_a_family_and_no_family_is_empty() -> None:
    assert {code[:3] for code in CODES} == set(FAMILIES)


def test_a_page_is_short_plain_and_points_to_codes_that_exist() -> None:
    for code in CODES:
        page = page_of(code)
        text = render(page)
        assert text.isascii(), code
        assert len(text.splitlines()) <= LONGEST, code
        shown = "".join(example.text for example in (*page.wrong, *page.right))
        assert [line for line in text.splitlines() if len(line) > WIDTH and line.strip() not in shown] == [], code
        assert page.wrong and page.right and page.fix, code
        assert set(page.see_also) <= set(CODES) - {code}, code
        assert set(re.findall(r"PW\d{3}", page.text + page.fix)) <= set(CODES), code


def test_both_examples_differ_in_few_lines() -> None:
    """What is right and what is wrong is seen at once."""
    for code in CODES:
        page = page_of(code)
        if only_language(page.wrong) == only_language(page.right) == "yaml":
            wrong, right = (set("".join(example.text for example in side).splitlines()) for side in (page.wrong, page.right))
            assert len(right - wrong) <= 4 and len(wrong - right) <= 4, code


@pytest.mark.parametrize("code", PLAYED)
def test_the_wrong_example_gives_exactly_its_code_and_an_edit_that_is_offered_makes_it_clean(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = page_of(code)
    monkeypatch.chdir(tmp_path)
    if only_language(page.wrong) == "python":
        with pytest.raises(UnusableInput) as raised:
            program(page.wrong, tmp_path)
        assert {finding.code for finding in raised.value.findings} == {code}
        return
    if only_language(page.wrong) == "console":
        command, _, output = page.wrong[0].text.removeprefix("$ placewright ").partition("\n")
        _, text = play((), command, tmp_path, capsys)
        assert output in text
    else:
        for command in commands_of(page.wrong):
            _, text = play(page.wrong, command, tmp_path, capsys)
            assert set(CODE.findall(text)) == {code}
            if only_language(page.wrong) == "yaml" and (edits := edits_for(command)):
                assert run(shlex.split(edited(command, edits))) == 0
                assert CODE.findall(capsys.readouterr().out) == []
    assert set(CODE.findall(text)) == {code}


@pytest.mark.parametrize("code", PLAYED)
def test_the_right_example_is_clean(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = page_of(code)
    monkeypatch.chdir(tmp_path)
    if only_language(page.right) == "python":
        program(page.right, tmp_path)
        return
    for command in commands_of(page.right, page.wrong):
        exit_code, text = play(page.right, command, tmp_path, capsys)
        assert CODE.findall(text) == []
        assert exit_code == 0


def edits_for(command: str) -> dict[str, list[Edit]]:
    """What the findings of a command offer to change, by the text that it is in."""
    words = shlex.split(command)
    settings = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
    machines = read_machines(words[words.index("--cluster") + 1]) if "--cluster" in words else None
    level = words[words.index("--level") + 1] if "--level" in words else "placement"
    frameworks = tuple(words[at + 1] for at, word in enumerate(words) if word == "--framework")
    report = verify(load(file_of(command), machines, "auto", level, Composer((), tuple(settings), (), frameworks)))
    found: dict[str, list[Edit]] = {}
    for finding in report.findings:
        if finding.edit and finding.edit not in found.setdefault(finding.edit.span.file, []):
            found[finding.edit.span.file].append(finding.edit)
    return found


def edited(command: str, edits: dict[str, list[Edit]]) -> str:
    """The command after the edits were made, in its files or in its own settings."""
    for name, its in edits.items():
        if name == "--set":
            before = command[command.index("--set") :]
            command = command.replace(before, apply_edits(before, its))
        else:
            Path(name).write_text(apply_edits(Path(name).read_text("utf-8"), sorted(its, key=lambda edit: edit.span.start)), "utf-8")
    return command


@pytest.mark.parametrize("code", NOT_RUN)
def test_a_transcript_that_is_not_played_shows_its_code_and_real_options(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert NOT_RUN[code]
    page = page_of(code)
    shown = "".join(example.text for example in page.wrong)
    assert set(CODE.findall(shown)) == {code} or only_language(page.wrong) != "console"
    lines = [line for example in (*page.wrong, *page.right) for line in example.text.splitlines() if line.startswith("$ placewright ")]
    assert lines or page.wrong[0].command
    for line in lines:
        verb = line.split()[2]
        assert run([verb, "--help"]) == 0
        known = capsys.readouterr().out
        assert all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known) for word in line.split()[3:] if word.startswith("-")), line


def test_a_plan_that_is_none_is_refused_as_its_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = page_of("PW008")
    _, text = play(page.wrong, command_of(page.wrong), tmp_path, capsys)
    assert CODE.findall(text) == ["PW008"]


@pytest.mark.parametrize("rule", [*RULES, *ADVICE], ids=lambda rule: rule.code)
def test_the_page_of_a_rule_begins_with_what_the_rule_says_of_itself(rule: object) -> None:
    said = inspect.cleandoc(type(rule).__doc__ or "").replace("``", "`")
    page = page_of(rule.code)  # type: ignore[attr-defined]
    assert page.text.startswith(" ".join(said.split("\n\n")[0].split()))
    assert page.source.startswith(" ".join(said.partition("Source: ")[2].split()).rstrip("."))


def test_the_source_in_rlinf_names_a_file_of_its_package() -> None:
    for code in CODES:
        source = page_of(code).source
        if source.startswith("RLinf"):
            assert re.search(r"\brlinf/[\w/]+", source), code


def test_a_program_in_an_example_is_python() -> None:
    for code in CODES:
        for example in (*page_of(code).wrong, *page_of(code).right):
            if example.language == "python":
                ast.parse(example.text)


def program(examples: tuple[Example, ...], folder: Path) -> None:
    """Runs the program of an example."""
    path = folder / "program.py"
    path.write_text(examples[0].text, "utf-8")
    runpy.run_path(str(path))


WHOLE = """Ranks count
from 0.

## Wrong
```yaml verify a.yaml --cluster 1x8
a: 1
```
```yaml file b.yaml
b: 2
```

## Right
```yaml
a: 2
```

## Fix
Write 2,
or 3.

Give up.

## See also
PW103, PW101
"""


def test_a_page_is_parsed_into_its_parts() -> None:
    page = parse_page("PW102", WHOLE, "A rule.", "A paper")
    assert page.text == "A rule.\n\nRanks count from 0."
    assert page.wrong == (
        Example("yaml", "a: 1\n", "verify a.yaml --cluster 1x8", "a.yaml"),
        Example("yaml", "b: 2\n", "", "b.yaml"),
    )
    assert page.right == (Example("yaml", "a: 2\n"),)
    assert page.fix == "Write 2, or 3.\n\nGive up."
    assert page.source == "A paper"
    assert page.see_also == ("PW103", "PW101")


@pytest.mark.parametrize("text", ["", WHOLE.replace("## Fix", "## Cure"), "## Right\n\n## Wrong\n\n## Fix\n"])
def test_a_text_without_the_sections_is_no_page(text: str) -> None:
    with pytest.raises(ValueError, match="the page of PW102 has the sections"):
        parse_page("PW102", text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("PW1O2", "PW102"), ("102", "PW102"), ("error[PW102]", "PW102"), ("memory", "PW501"), ("PW2o1", "PW201"), ("Stride", "PW206")],
)
def test_a_code_that_does_not_exist_names_the_one_that_was_meant(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"there is no code .*; did you mean {meant} \("):
        page_of(name)


def test_what_is_like_no_code_is_told_where_the_codes_are() -> None:
    with pytest.raises(ValueError, match="`placewright explain` lists all codes"):
        page_of("zz")
