"""A profile from a made-up checkout: what a second release changes is a line a key, and reading it back gives what it was made from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placewright.models.releases.configurations import Configurations
from placewright.models.releases.release import UNSTORED_VALUE, Releases
from placewright.tools.flattened import configurations
from placewright.tools.profiles import PATTERNS, main

TRAINER = """\
defaults:
  - model_engine: dp
  - actor@actor: ${model_engine}_actor
  - _self_
trainer: {nnodes: 1, gpus: %(gpus)s, logger: [console], extra: {}}
data: {size: '${trainer.gpus}', path: %(path)s}
"""
FILES = {
    "ppo_trainer.yaml": TRAINER,
    "model_engine/dp.yaml": "# @package _global_\nmodel_engine: dp\n",
    "model_engine/megatron.yaml": "# @package _global_\nmodel_engine: megatron\n",
    "actor/dp_actor.yaml": "strategy: fsdp\nsize: -1\n",
    "actor/megatron_actor.yaml": "strategy: megatron\ntp: 1\n",
    "own_trainer.yaml": "defaults: [ppo_trainer, _self_]\ntrainer: {nnodes: 2}\n",
    "part.yaml": "nothing: 1\n",
}


def checkout(folder: Path, gpus: int = 8, **more: str) -> Path:
    for name, text in {**FILES, **{key.replace("__", "/") + ".yaml": value for key, value in more.items()}}.items():
        file = folder / "verl" / "trainer" / "config" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text % {"gpus": gpus, "path": "a" * 90} if "%(" in text else text)
    return folder


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    folder = tmp_path / "facts"
    folder.mkdir()
    (folder / "releases.json").write_text('{"framework": "verl", "package": "verl", "releases": []}')
    return folder


def add(facts: Path, release: str, place: Path, *more: str) -> None:
    given = ["--framework", "verl", "--release", release, "--commit", "0" * 40, "--date", "2026-01-01", "--facts", str(facts), *more]
    assert main([*given, str(place)]) == 0


def known(facts: Path) -> Configurations:
    names = [each["name"] for each in json.loads((facts / "releases.json").read_text())["releases"]]
    return Configurations(facts, Releases(names))


def test_a_release_is_read_back_as_it_was(facts: Path, tmp_path: Path) -> None:
    add(facts, "1.0", checkout(tmp_path / "a"))
    add(
        facts,
        "2.0",
        checkout(
            tmp_path / "b", 4, actor__veomni_actor="strategy: veomni\n", model_engine__veomni="# @package _global_\nmodel_engine: veomni\n"
        ),
    )
    read = known(facts)
    for index, place in enumerate((tmp_path / "a", tmp_path / "b")):
        for name, flat in configurations(PATTERNS, (str(place),), ("ppo_trainer",)).items():
            composed = read.compose(name, index)
            assert composed is not None and composed.keys == flat.keys
            for choice, other in flat.options.items():
                chosen = read.compose(name, index, dict([choice.split("=")]))
                assert chosen is not None and chosen.keys == other.keys
    first = read.compose("ppo_trainer", 0)
    assert first is not None
    assert (first.keys["trainer.gpus"], first.keys["data.size"], first.keys["actor.strategy"]) == (8, "${trainer.gpus}", "fsdp")
    assert (first.keys["trainer.extra"], first.keys["trainer.logger"], first.keys["data.path"]) == ({}, UNSTORED_VALUE, UNSTORED_VALUE)
    assert "part" not in read.index


def test_what_did_not_change_is_no_line_more(facts: Path, tmp_path: Path) -> None:
    add(facts, "1.0", checkout(tmp_path / "a"))
    before = {file.name: file.read_text() for file in facts.iterdir() if file.name != "releases.json"}
    add(facts, "1.1", checkout(tmp_path / "b"))
    assert {file.name: file.read_text() for file in facts.iterdir() if file.name != "releases.json"} == before
    add(facts, "2.0", checkout(tmp_path / "c", 4))
    changed = [
        line
        for file in facts.iterdir()
        if file.name != "releases.json"
        for line in file.read_text().splitlines()
        if line not in before[file.name].splitlines()
    ]
    assert [line.rstrip(",") for line in changed] == ['  "trainer.gpus": [["", "2.0", 8], ["2.0", "", 4]]']


def test_a_release_between_two_leaves_both(facts: Path, tmp_path: Path) -> None:
    add(facts, "1.0", checkout(tmp_path / "a", 1))
    add(facts, "3.0", checkout(tmp_path / "c", 3))
    add(facts, "2.0", checkout(tmp_path / "b", 2), "--before", "3.0")
    read = known(facts)
    assert read.releases.names == ("1.0", "2.0", "3.0")
    assert [composed.keys["trainer.gpus"] for index in range(3) if (composed := read.compose("ppo_trainer", index))] == [1, 2, 3]


def test_one_that_stands_on_another_holds_what_it_changes_alone(facts: Path, tmp_path: Path) -> None:
    add(facts, "1.0", checkout(tmp_path / "a"))
    entry = json.loads((facts / "configurations.json").read_text())["own_trainer"]
    assert (entry["base"], entry["keys"]) == ("ppo_trainer", {"trainer.nnodes": [["", "", 2]]})
    own = known(facts).compose("own_trainer", 0, {"model_engine": "megatron"})
    assert own is not None
    assert (own.keys["trainer.nnodes"], own.keys["actor.tp"], "actor.size" in own.keys) == (2, 1, False)


def test_a_new_release_needs_its_commit(facts: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="name its commit"):
        main(["--framework", "verl", "--release", "9.9", "--facts", str(facts), str(checkout(tmp_path / "a"))])


def test_which_releases_know_a_key_or_an_option(facts: Path, tmp_path: Path) -> None:
    add(facts, "1.0", checkout(tmp_path / "a"))
    add(facts, "2.0", checkout(tmp_path / "b", own_trainer="defaults: [ppo_trainer, _self_]\ntrainer: {nnodes: 2, fresh: 1}\n"))
    read = known(facts)
    assert [read.find_releases("own_trainer", key) for key in ("trainer.nnodes", "trainer.fresh", "actor.tp", "actor", "no")] == [
        3,
        2,
        3,
        3,
        0,
    ]
    assert [read.option_in("own_trainer", "model_engine", option) for option in ("dp", "megatron", "other")] == [3, 3, 0]
    assert read.find_valued("own_trainer", "trainer.fresh") == 2
    unknown = read.compose("own_trainer", 0, {"model_engine": None})
    assert unknown is not None
    assert unknown.open == {"actor"}  # the group that its options choose
