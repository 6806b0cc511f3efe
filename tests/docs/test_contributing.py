"""CONTRIBUTING names what an addition really touches: what the additions of the past stand in."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Iterator

import pytest
from placewright.cli.main import VERBS
from placewright.models.findings.codes import CODES
from placewright.solver.rule import Rule
from placewright.solver.rules import RULES

from .page import CONTRIBUTING, README, ROOT

FOLDERS = ("models", "planner", "solver", "runtime", "report", "cli")
FRAMEWORKS = ("rlinf", "roll", "verl")
USED_ELSEWHERE = {"AllPlaced", "EvenShares", "ModelDivides", "NoOverlap", "NodeGroup", "ReplicaOnWholeNodes"}
"""Rules whose arithmetic something else asks too, or whose name something else has."""


@cache
def modules() -> dict[str, ast.Module]:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in files}


@cache
def section(title: str) -> str:
    """The text below a heading such as `### A rule: 4 files`, up to the tests of such an addition."""
    match = re.search(rf"^### {title}.*?(?=^###|^Tests:|^## )", CONTRIBUTING.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert match, title
    return match[0]


def named(title: str) -> set[str]:
    """The files that the numbered lines of a section name."""
    lines = re.split(r"^\d\. ", section(title), flags=re.MULTILINE)[1:]
    return {name for line in lines for name in re.findall(r"`([\w/.]+\.(?:py|toml|md|yml))`", line)}


def said(title: str) -> int:
    """How many files a heading says."""
    match = re.search(r"(\d+) files", section(title).splitlines()[0])
    assert match
    return int(match[1])


@cache
def words() -> dict[str, set[str]]:
    """file -> every name, and every string, that it has in its code."""
    return {file: set(_words_of(tree)) for file, tree in modules().items()}


def _words_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").rpartition(".")[2]
            yield from (alias.name for alias in node.names)
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield repr(node.value)


def files_with(word: str) -> set[str]:
    return {file for file, found in words().items() if word in found}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_a_rule_is_in_as_many_files_as_is_said(rule: Rule[object]) -> None:
    module = type(rule).__module__.removeprefix("placewright.")
    assert rule.code in CODES
    assert (ROOT / "report" / "pages" / f"{rule.code}.md").exists()
    importers = files_with(f"{module.rpartition('.')[2]}.{type(rule).__name__}")
    if type(rule).__name__ not in USED_ELSEWHERE:
        assert importers == {"solver/rules/__init__.py"}
    assert said("A rule") == len({f"{module}.py", "models/findings/codes.py", f"{rule.code}.md", "solver/rules/__init__.py"})


def test_a_relation_is_in_the_files_that_are_named() -> None:
    files = files_with("RANK_ALIGNED")
    assert files == named("A relation") - {"solver/patterns/applies.py", "planner/problem.py"}
    assert len(files) == said("A relation")
    assert len(files_with("NOT_FEWER")) == 11
    assert "eleven for `not fewer`" in CONTRIBUTING.read_text("utf-8")


def test_a_dialect_is_in_its_folder_and_the_files_that_are_named() -> None:
    outside = [{file for file in files_with(repr(name)) if not file.startswith(f"models/dialects/{name}/")} for name in FRAMEWORKS]
    common = set.intersection(*outside)
    assert common == named("A dialect") - {"models/dialects/dialect.py", "__init__.py"} == {"models/dialect_names.py"}


def test_a_verb_is_in_the_files_that_are_named() -> None:
    table = README.read_text("utf-8").partition("## Verbs")[2].partition("## ")[0]
    for verb in VERBS:
        assert (ROOT / "cli" / f"{verb.replace('-', '_')}.py").exists()
        assert f"`{verb}`" in table
    assert named("A verb") == {"cli/NAME.py", "cli/main.py", "README.md"}
    assert said("A verb") == 3


def test_every_folder_and_file_that_is_named_is_there() -> None:
    names = re.findall(r"`((?:[\w.]+/)+[\w.]*)`", CONTRIBUTING.read_text("utf-8"))
    placeholders = ("NAME", "CODE", "FOLDER")
    assert [name for name in names if not any(word in name for word in placeholders) and not Path(ROOT, name).exists()] == []
