"""Every edit that a finding offers was tried: the finding is gone afterwards, nothing else is broken by it, and all can be made at once."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Iterator

import pytest
from placewright.models.composition import Composer
from promises import MACHINES, NODES, broken_promises, judge
from sampling import some, stated
from scenario import Scenario

HERE = Path(__file__).parent
LEVELS = ("placement", "training")


def scenarios() -> Iterator[tuple[str, str]]:
    for path in sorted((HERE / "scenarios").rglob("*.scenario")):
        for section in Scenario.parse(path.read_text("utf-8")).sections:
            if section.word == "file" and len(section.rest.split()) == 1 and "component_placement" in section.body:
                yield f"{path.stem}/{section.rest}", section.body
    for path in sorted((HERE / "models" / "dialects" / "rlinf" / "broken").glob("*.yaml")):
        yield path.name, path.read_text("utf-8")


@pytest.mark.parametrize(("number", "text"), [pytest.param(number, text, id=name) for number, (name, text) in enumerate(scenarios())])
def test_every_edit_of_a_scenario_keeps_its_promise(number: int, text: str) -> None:
    for machines, level in some([*product(MACHINES, LEVELS)], 8, number):
        assert broken_promises(judge("run.yaml", machines, level, Composer(frameworks=stated("rlinf", number))), text) == []


def roll_scenarios() -> Iterator[tuple[str, str]]:
    for path in sorted((HERE / "scenarios" / "roll").glob("*.scenario")):
        for section in Scenario.parse(path.read_text("utf-8")).sections:
            if section.word == "file":
                yield f"{path.stem}/{section.rest}", section.body
    for path in sorted((HERE / "models" / "dialects" / "roll" / "broken").glob("*.yaml")):
        yield path.name, path.read_text("utf-8")


@pytest.mark.parametrize(("number", "text"), [pytest.param(number, text, id=name) for number, (name, text) in enumerate(roll_scenarios())])
def test_every_edit_of_a_scenario_of_roll_keeps_its_promise(number: int, text: str) -> None:
    for machines, level in some([*product(MACHINES, LEVELS)], 8, number):
        assert broken_promises(judge("run.yaml", machines, level, Composer(frameworks=stated("roll", number)), "roll"), text) == []


def verl_scenarios() -> Iterator[tuple[str, str, str]]:
    for folder in ("verl", "script"):
        for path in sorted((HERE / "scenarios" / folder).glob("*.scenario")):
            for section in Scenario.parse(path.read_text("utf-8")).sections:
                if section.word == "file" and section.rest.endswith((".sh", ".yaml", ".txt")):
                    yield f"{path.stem}/{section.rest}", section.rest, section.body


@pytest.mark.parametrize(
    ("number", "name", "text"), [pytest.param(number, name, text, id=label) for number, (label, name, text) in enumerate(verl_scenarios())]
)
def test_every_edit_of_a_scenario_of_verl_keeps_its_promise(number: int, name: str, text: str) -> None:
    for machines, level in some([*product(NODES, LEVELS)], 12, number):
        assert broken_promises(judge(name, machines, level, Composer(frameworks=stated("verl", number)), "verl"), text) == [], (
            machines,
            level,
        )
