"""Every script of verl, read: the program and the settings that real bash gave it, recorded once, apart from one table.

Runs where the environment variable PLACEWRIGHT_VERL names a checkout of verl with its recipes. The records say what a
Python program was given when bash carried the script out with stand-ins for all other programs.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any, Iterator

import pytest
from placewright.models.composition import Composer
from placewright.models.findings.finding import Severity
from placewright.models.script.document import documents_of, read_script
from placewright.models.script.launch import LaunchCommand, launch_of
from placewright.models.text.source import Source
from placewright.models.text.tree import UNRESOLVED, Scalar, find

CHECKOUT = os.environ.get("PLACEWRIGHT_VERL", "")
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl" / "golden" / "overrides.jsonl.gz"
pytestmark = [
    pytest.mark.skipif(not CHECKOUT, reason="PLACEWRIGHT_VERL names no checkout of verl"),
    pytest.mark.skipif(not CORPUS.is_file(), reason="the corpus is not beside the repository"),
]

ENVIRONMENT = {"HOME": "/root_home", "PWD": "/root_home/verl"}
"""What was set when the records were made."""

RECORDED_PATH = "the record writes `<path>` for folders of the machine that it was made on"
RECORDED_ARGUMENT = "without arguments the script ends before it; the record went on, and holds nothing for `$1`"
FOLDER_THERE = "it depends on whether a folder is there, which is not looked at: not known; there was none when the record was made"
FOLDERS = {("recipe/langgraph_agent/example/run_qwen2.5_3b.sh", "actor_rollout_ref.model.path"): FOLDER_THERE}

BY_PATTERNS = {
    "examples/ppo_trainer/run_deepseek7b_llm_pfppo.sh": "a blank after a backslash: Hydra refuses the argument, and 39 settings are lost",
    "examples/grpo_trainer/run_qwen3_4b_grpo_vllm_1k_npu.sh": "a brace too many in a value, which Hydra refuses",
}
"""Scripts that bash could not be recorded on, and what is wrong with them."""


def records(source: str = "executed") -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        yield from (record for record in map(json.loads, lines) if record["source"] == source)


def recorded(text: str) -> Any:
    """A word as the records hold it."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() in ("null", "none", ""):
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def given(launch: LaunchCommand) -> dict[str, tuple[Any, bool]]:
    """Every setting and option as the records name it: its value, and whether that is known."""
    words, found = [*launch.options, *launch.arguments], {}
    for word, following in zip(words, [*words[1:], None]):
        key, equals, _ = word.plain.partition("=")
        if key.startswith("--"):
            key = "--" + key[2:].replace("-", "_" if key.startswith("--n") else "-")
        value = word.cut(word.plain.index("=") + 1) if equals else following
        if value is not None:
            found[key.lstrip("+")] = (recorded(value.plain), value.known)
    return found


def difference(file: str, key: str, expected: Any, value: Any, known: bool) -> str:
    """Why a setting differs on purpose, or what is wrong; an empty text if both are the same."""
    if expected == value and known:
        return ""
    if expected == "<path>" and isinstance(value, str) and value.startswith(("$(pwd)", "/root_home/verl")):
        return RECORDED_PATH
    if expected is None and value == "$1" and not known:
        return RECORDED_ARGUMENT
    return FOLDERS.get((file, key), f"WRONG: {file}: {key} is {value!r}, recorded {expected!r}")


def test_every_script_gives_its_program_the_recorded_settings() -> None:
    equal, deliberate, wrong = 0, list[str](), list[str]()
    for record in records():
        file, entry = record["file"], record["entry"].removesuffix(".py")
        script = read_script(Source.read(Path(CHECKOUT) / file), ENVIRONMENT)
        launches = [launch for each in script.started if (launch := launch_of(each))]
        mine = [launch for launch in launches if launch.program.plain.removesuffix(".py").endswith(entry)]
        if script.findings or not mine:
            wrong.append(f"{file}: {[finding.message for finding in script.findings]}, no {entry}")
            continue
        told: list[list[str]] = []
        for launch in mine:
            has = given(launch)
            told.append([difference(file, key, value, *has.get(key, ("missing", True))) for key, value in record["overrides"].items()])
        best = min((list(filter(None, each)) for each in told), key=len)
        if any(each.startswith("WRONG") for each in best):
            wrong += best
        elif best:
            deliberate.append(file)
        else:
            equal += 1
    print(f"scripts: {equal} equal, {len(deliberate)} deliberate, {len(wrong)} wrong")
    assert not wrong
    assert (equal, len(deliberate)) == (216, 35)


def test_the_configuration_holds_what_the_program_is_given() -> None:
    """The document of each record's program has every recorded number at its key, or says that it is not known."""
    seen, open_ = 0, 0
    for record in records():
        file, entry = record["file"], record["entry"].removesuffix(".py")
        documents = documents_of(Source.read(Path(CHECKOUT) / file), Composer())
        found = [each for each in documents if each.program and each.program.name.removesuffix(".py").endswith(entry)]
        assert found, file
        for key, value in record["overrides"].items():
            if not key.startswith("--") and isinstance(value, (int, float)):
                values = [find(document.root, key) for document in found]
                assert all(isinstance(each, Scalar) for each in values), (file, key)
                open_ += any(isinstance(each, Scalar) and each.tag == UNRESOLVED for each in values)
                same = any(isinstance(each, Scalar) and (each.tag == UNRESOLVED or each.value == value) for each in values)
                assert same, (file, key, value, values)
                seen += 1
    assert seen > 3_900
    assert open_ < seen / 100


@pytest.mark.parametrize("file", BY_PATTERNS)
def test_what_bash_could_not_be_recorded_on_is_refused(file: str) -> None:
    (document,) = documents_of(Source.read(Path(CHECKOUT) / file), Composer())
    assert [finding.code for finding in document.findings if finding.severity is Severity.ERROR] == ["PW012"]


def test_scripts_that_are_cut_short_are_named() -> None:
    cut = []
    for record in [*records(), *records("regex-fallback")]:
        for document in documents_of(Source.read(Path(CHECKOUT) / record["file"]), Composer()):
            cut += [record["file"] for finding in document.findings if finding.code == "PW125"]
    truncated = [record["file"] for record in records() if record["truncated_by_comment"]]
    assert sorted(cut) == sorted([*truncated, "examples/ppo_trainer/run_deepseek7b_llm_pfppo.sh"])
