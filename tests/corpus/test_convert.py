"""Every configuration of the corpus in every other dialect: exact, lossy with a list, or refused with reasons, and never wrong.

A sample in every run; PLACEWRIGHT_CONVERT=all converts all of them. `pytest -s` shows the counts.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml
from placewright.models.dialects import verl
from placewright.models.dialects.load import load
from placewright.models.machines.shorthand import DeclaredNodes, read_shorthand
from placewright.models.reading import Reading
from placewright.models.report import EXACT, LOSSY, REFUSED, UNUSABLE, Converted
from placewright.models.text.document import Document, Program
from placewright.models.text.source import Source
from placewright.solver.convert import convert

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")
DIALECTS = ("native", "rlinf", "roll", "verl")
EVERY = 1 if os.environ.get("PLACEWRIGHT_CONVERT") == "all" else 5
MACHINES = read_shorthand("64x8")


def files(framework: str) -> list[Path]:
    names = (CORPUS / framework / "placement_files.txt").read_text("utf-8").split() if CORPUS.is_dir() else []
    return [CORPUS / framework / name for name in names if name.endswith((".yaml", ".yml"))]


def of_rlinf() -> Iterator[Reading]:
    yield from (load(file, DeclaredNodes(8)) for file in files("rlinf")[::EVERY])


def of_roll() -> Iterator[Reading]:
    yield from (load(file, MACHINES) for file in files("roll")[::EVERY])


def of_verl() -> Iterator[Reading]:
    yield from (load(file, None, "verl") for file in files("verl")[::EVERY])


def of_verl_on_command_lines() -> Iterator[Reading]:
    if CORPUS.is_dir():
        with gzip.open(CORPUS / "verl" / "golden" / "overrides.jsonl.gz", "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % EVERY == 0:
                    yield verl.read(document_of(json.loads(line)), None, "placement")


def document_of(record: dict[str, Any]) -> Document:
    """The overrides of a record as a configuration, with the program that was started with them."""
    tree: dict[str, Any] = {}
    for key, value in record["overrides"].items():
        *path, last = key.split(".")
        owner: Any = tree
        for name in path if not key.startswith("--") else ():
            owner = owner.setdefault(name, {}) if isinstance(owner, dict) else None
        if isinstance(owner, dict) and not key.startswith("--"):
            owner[last] = value
    source = Source("run.yaml", yaml.safe_dump(tree) if tree else "{}\n")
    name = record.get("entry") or record["derived"].get("entry")
    program = Program(name, source.whole(), "", "", str(record["overrides"].get("--config-name", "")), ()) if name else None
    return Document(source, source.root, program=program)


SOURCES = {"rlinf": of_rlinf, "roll": of_roll, "verl": of_verl, "verl, command lines": of_verl_on_command_lines}


def outcome(done: Converted) -> str:
    """Its verdict; of a refusal also whose it is: the file's own faults, or what the target cannot say."""
    if done.verdict in (EXACT, LOSSY):
        return done.verdict
    own = done.verdict == UNUSABLE or not any(finding.code == "PW606" for finding in done.findings)
    return "faulty itself" if own else REFUSED


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("source", SOURCES)
def test_every_file_is_converted_or_refused_with_the_reason(source: str) -> None:
    counts: dict[str, Counter[str]] = {target: Counter() for target in DIALECTS}
    reasons: Counter[str] = Counter()
    for reading in SOURCES[source]():
        for target in DIALECTS:
            done = convert(reading, target)
            counts[target][outcome(done)] += 1
            said = [finding.message for finding in (*done.findings, *done.losses)]
            assert not any("fault of placewright" in message for message in said), (reading.source.name, target, said)
            assert bool(done.text) == (done.verdict in (EXACT, LOSSY))
            assert done.losses if done.verdict == LOSSY else done.findings or done.verdict == EXACT
            reasons.update({f"{target}: {_general(finding.message)}" for finding in done.findings if finding.code == "PW606"})
    for target, its in counts.items():
        print(f"{source} to {target}: " + ", ".join(f"{count} {what}" for what, count in sorted(its.items())))
    for reason, count in reasons.most_common(30):
        print(f"  {count:4} {reason}")
    assert sum(counts["native"].values()) > 2
    assert {reason for reason in reasons if reason.startswith("native: ")} <= {"native: the file places nothing"}


def _general(message: str) -> str:
    """A reason without the names and numbers of one file."""
    pieces = message.split("`")
    text = "".join("_" if position % 2 else piece for position, piece in enumerate(pieces))
    return "".join("0" if letter.isdigit() else letter for letter in text)[:110]
