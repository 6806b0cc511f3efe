"""Every edit that a finding offers was tried: the finding is gone afterwards, nothing else is broken by it, and all can be made at once."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest
from promises import MACHINES, NODES, broken_promises, judge
from scenario import Scenario

HERE = Path(__file__).parent


def scenarios() -> Iterator[tuple[str, str]]:
    for path in sorted((HERE / "scenarios").rglob("*.scenario")):
        for section in Scenario.parse(path.read_text("utf-8")).sections:
            if section.word == "file" and len(section.rest.split()) == 1 and "component_placement" in section.body:
                yield f"{path.stem}/{section.rest}", section.body
    for path in sorted((HERE / "models" / "dialects" / "rlinf" / "broken").glob("*.yaml")):
        yield path.name, path.read_text("utf-8")


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in scenarios()])
def test_every_edit_of_a_scenario_keeps_its_promise(text: str) -> None:
    for machines in MACHINES:
        for level in ("placement", "training"):
            assert broken_promises(judge("run.yaml", machines, level), text) == []


def roll_scenarios() -> Iterator[tuple[str, str]]:
    for path in sorted((HERE / "scenarios" / "roll").glob("*.scenario")):
        for section in Scenario.parse(path.read_text("utf-8")).sections:
            if section.word == "file":
                yield f"{path.stem}/{section.rest}", section.body
    for path in sorted((HERE / "models" / "dialects" / "roll" / "broken").glob("*.yaml")):
        yield path.name, path.read_text("utf-8")


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in roll_scenarios()])
def test_every_edit_of_a_scenario_of_roll_keeps_its_promise(text: str) -> None:
    for machines in MACHINES:
        for level in ("placement", "training"):
            assert broken_promises(judge("run.yaml", machines, level, dialect="roll"), text) == []


def verl_scenarios() -> Iterator[tuple[str, str, str]]:
    for folder in ("verl", "script"):
        for path in sorted((HERE / "scenarios" / folder).glob("*.scenario")):
            for section in Scenario.parse(path.read_text("utf-8")).sections:
                if section.word == "file" and section.rest.endswith((".sh", ".yaml", ".txt")):
                    yield f"{path.stem}/{section.rest}", section.rest, section.body


@pytest.mark.parametrize(("name", "text"), [pytest.param(name, text, id=label) for label, name, text in verl_scenarios()])
def test_every_edit_of_a_scenario_of_verl_keeps_its_promise(name: str, text: str) -> None:
    for machines in NODES:
        for level in ("placement", "training"):
            assert broken_promises(judge(name, machines, level, dialect="verl"), text) == [], (machines, level)
