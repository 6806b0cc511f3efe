"""Findings as data: every one is used, every used one exists, and its texts can be filled."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from string import Formatter

import placewright.models.dialects.rlinf as rlinf
import pytest
from placewright.models.dialects.messages import _Sentence
from placewright.models.findings.codes import CODES
from placewright.models.findings.finding import Severity

FOLDER = Path(rlinf.__file__).parent
ENTRIES = json.loads((FOLDER / "facts" / "findings.json").read_text("utf-8"))
TREES = [ast.parse(file.read_text("utf-8")) for file in FOLDER.rglob("*.py")]
CALLS = [node for tree in TREES for node in ast.walk(tree) if isinstance(node, ast.Call)]


def texts(entry: dict[str, object]) -> list[str]:
    return [
        str(text)
        for key in ("message", "label", "help", "notes")
        for text in (entry.get(key) or [] if key == "notes" else [entry.get(key, "")])
    ]


def test_every_finding_is_used() -> None:
    constants = {node.value for tree in TREES for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert ENTRIES.keys() <= constants


def test_every_used_finding_exists() -> None:
    of_methods = [call.args[0] for call in CALLS if isinstance(call.func, ast.Attribute) and call.func.attr == "report"]
    of_functions = [call.args[1] for call in CALLS if isinstance(call.func, ast.Name) and call.func.id == "report"]
    names = [argument.value for argument in (*of_methods, *of_functions) if isinstance(argument, ast.Constant)]
    assert len(names) > 60
    assert {name for name in names if name not in ENTRIES} == set()


@pytest.mark.parametrize("name", ENTRIES)
def test_a_finding_has_a_code_and_texts_that_can_be_filled(name: str) -> None:
    entry = ENTRIES[name]
    assert entry["code"] in CODES
    assert Severity(entry.get("severity", "error"))
    assert entry["message"]
    for text in texts(entry):
        for _, key, spec, _ in Formatter().parse(text):
            assert key is None or re.fullmatch(r"[a-z_]+", key), text
            assert not spec or spec == "," or re.fullmatch(r"[a-z]+", spec), text


def test_numbers_have_nouns_and_verbs() -> None:
    write = _Sentence().format
    assert write("{count:accelerator} {count:are} left", count=1) == "1 accelerator is left"
    assert write("{count:process} {count:do} not divide", count=2) == "2 processes do not divide"
    assert write("{names:words}, {count:,} and {text}", names=["a", "b"], count=1024, text="all") == "`a`, `b`, 1,024 and all"
