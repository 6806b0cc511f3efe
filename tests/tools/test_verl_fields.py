"""Fields of dataclasses are read from class bodies, with those of their bases, one release after the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placewright.tools.verl_fields import fields_of, main

BODY = """
class Base:
    _target_: str = ""
    _hidden: ClassVar[str] = ""

@dataclass
class ActorConfig(base.Base):
    strategy: str = "fsdp"
    def method(self) -> None: ...

@dataclass
class Unnamed:
    x: int = 0
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    file = tmp_path / "verl" / "workers" / "config" / "actor.py"
    file.parent.mkdir(parents=True)
    file.write_text(BODY)
    return tmp_path


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    folder = tmp_path / "facts"
    folder.mkdir()
    releases = [{"name": name} for name in ("0.5.0", "0.6.0", "0.7.0")]
    (folder / "releases.json").write_text(json.dumps({"releases": releases}))
    (folder / "ppo_trainer.json").write_text('{"actor._target_": [["", "", "verl.workers.config.ActorConfig"]]}')
    return folder


def test_fields_have_those_of_the_bases(checkout: Path) -> None:
    assert fields_of(checkout)["ActorConfig"] == {"_target_", "strategy"}


def test_a_release_adds_and_takes_away(checkout: Path, facts: Path) -> None:
    def read(release: str) -> object:
        assert main(["--release", release, "--facts", str(facts), str(checkout)]) == 0
        return json.loads((facts / "fields.json").read_text())

    assert read("0.6.0") == {"ActorConfig": [["", "0.7.0", "_target_ strategy"]]}
    file = checkout / "verl" / "workers" / "config" / "actor.py"
    file.write_text(BODY.replace('strategy: str = "fsdp"', "engine: str"))
    assert read("0.7.0") == {"ActorConfig": [["", "", "_target_"], ["", "0.7.0", "strategy"], ["0.7.0", "", "engine"]]}
    with pytest.raises(SystemExit, match=r"0\.8\.0 is not a known release"):
        read("0.8.0")
