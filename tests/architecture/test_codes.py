"""A code that is not in the table does not exist, and none in the table is idle."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import placewright
from placewright.models.findings.codes import CODES

from .conftest import nodes_of

CODE = re.compile(r"PW\d{3}")
BOUNDARY = "PW100"  # no code itself: those below it make the input unusable


def used(modules: dict[str, ast.Module]) -> dict[str, str]:
    """code -> a module in which it stands as a string of its own, or a file of facts; docstrings and messages do not count."""
    found = {}
    for name, tree in modules.items():
        if name == "models/findings/codes.py":
            continue
        for node in nodes_of(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value) and node.value != BOUNDARY:
                found[node.value] = name
    for file in Path(placewright.__file__).parent.glob("models/dialects/*/facts/*.json"):
        for code in re.findall(r'"code": "(PW\d{3})"', file.read_text("utf-8")):
            found.setdefault(code, file.name)
    return found


def test_every_code_that_is_used_has_a_title(modules: dict[str, ast.Module]) -> None:
    assert {code: name for code, name in used(modules).items() if code not in CODES} == {}


def test_every_code_that_has_a_title_is_used(modules: dict[str, ast.Module]) -> None:
    assert sorted(set(CODES) - set(used(modules))) == []


def test_codes_and_titles_are_unlike_each_other() -> None:
    assert all(CODE.fullmatch(code) for code in CODES)
    assert len(set(CODES.values())) == len(CODES)
