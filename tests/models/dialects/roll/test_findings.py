"""Texts of computed findings: each is used, each name that the code reports has texts, and its moments exist."""

from __future__ import annotations

import re
from pathlib import Path

from placewright.models.dialects import roll
from placewright.models.dialects.roll import names
from placewright.models.dialects.roll.profile import fact_file
from placewright.models.findings.codes import CODES

SOURCES = "\n".join(path.read_text("utf-8") for path in sorted(Path(str(roll.__file__)).parent.glob("*.py")))
REPORTED = re.compile(r"""report(?:_pair)?\((?:\w+\.)*(?:notes, )?"(\w+)\"""")


def test_every_finding_is_used_and_has_texts() -> None:
    facts = fact_file("findings")
    assert [name for name in facts if f'"{name}"' not in SOURCES] == []
    assert len(REPORTED.findall(SOURCES)) > 40
    assert [name for name in REPORTED.findall(SOURCES) if name not in facts] == []


def test_codes_and_moments_of_findings_exist() -> None:
    for name, fact in fact_file("findings").items():
        assert fact["code"] in CODES and fact["message"], name
        assert all(hasattr(names, note) for note in fact.get("notes", ()) if re.fullmatch("[A-Z_]+", note)), name
