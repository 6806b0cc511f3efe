"""What placewright and verl say of the same command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator

from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding, Severity
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.reading import Reading
from placewright.models.text.source import Source
from placewright.solver.verify import findings_of

from .configurations import Question
from .scripts import Script
from .stages import SILENT, stages_of

POOLS = frozenset({"compose", "start", "room", "groups"})
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Answers:
    """`theirs` is what oracle.py tells, `reading` and `findings` are ours."""

    question: Question
    theirs: dict[str, Any]
    reading: Reading
    findings: tuple[Finding, ...]
    file: str = ""

    @property
    def settings(self) -> list[str]:
        """What the program is given."""
        return self.question.texts

    @property
    def is_complete(self) -> bool:
        """Are these all settings of the program?"""
        program = self.reading.document.program
        return program is not None and program.complete

    @property
    def errors(self) -> list[Finding]:
        """Our errors."""
        return [each for each in self.findings if each.severity is Severity.ERROR]

    @property
    def stage(self) -> str:
        """Where verl fails first; "" if it does not. What has no room on the nodes is waited for before anything runs on it."""
        theirs = str(self.theirs["stage"])
        return "room" if self.theirs.get("waits") and theirs not in ("compose", "start") else theirs

    @property
    def verdict(self) -> str:
        """ "" where both say the same, else what is wrong."""
        said = [(each, stages_of(each)) for each in self.errors]
        asked = POOLS if self.question.program == "vla" else None  # of that program nothing but the pools is run
        loud = [stages for _, stages in said if stages != SILENT and (asked is None or stages & asked)]
        if self.stage and not any(self.stage in stages for stages in loud):
            return f"missed: verl fails ({self.stage})"
        if not self.stage and loud:
            return "false alarm"
        if not self.stage and self.theirs["strange"] != any(stages == SILENT for _, stages in said):
            return "servers with devices of other nodes: " + ("missed" if self.theirs["strange"] else "false alarm")
        return "" if self.stage else self._numbers()

    def _numbers(self) -> str:
        ours = {(each.component, each.name): each.value for each in self.reading.derivations}
        pairs = {"replicas": ("rollout", "replicas"), "actor ranks": ("actor", "data parallel size"), "critic ranks": ("critic", "data parallel size"),
                 "actor mini batch": ("actor", "samples per rank and update"), "critic mini batch": ("critic", "samples per rank and update")}  # fmt: skip
        for name, key in pairs.items():
            if name in self.theirs and self.theirs[name] != ours.get(key):
                return f"{name}: {self.theirs[name]} in verl, {ours.get(key)} here"
        if self.question.program == "server":
            theirs, total = sum(map(sum, self.theirs["pools"].values())), sum(value for (one, _), value in ours.items() if not one)  # type: ignore[misc]
            return "" if theirs == total else f"{theirs} accelerators in verl, {total} here"
        pools = self.theirs["pools"]
        problem = self.reading.problem
        mine = (
            {pool.name: [parts.size for parts in pool.parts for _ in range(parts.count)] for pool in problem.job.pools} if problem else {}
        )
        return "" if pools == mine else f"pools {pools} in verl, {mine} here"

    def __str__(self) -> str:
        told = "\n".join(f"  {each.code} {each.message} | {'; '.join(each.notes)}" for each in self.errors)
        nodes = "+".join(map(str, self.question.nodes))
        return f"{self.file} {self.verdict}\n  verl, {self.stage or 'fine'}: {self.theirs.get('error', '')}\n{told}\n{self.question.script}on {nodes}"


class Child:
    """verl in a process of its own."""

    def __init__(self, checkout: str) -> None:
        self._checkout = checkout

    def __enter__(self) -> Child:
        command = [sys.executable, "-B", str(HERE / "oracle.py"), self._checkout]
        environment = {**os.environ, "HYDRA_FULL_ERROR": "1"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=self._checkout, env=environment
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=120)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Its answer, see oracle.py."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


def of_scripts(checkout: str, found: Iterable[Script]) -> Iterator[Answers]:
    """Every program of verl's own scripts, judged by both."""
    with Child(checkout) as child:
        for script in found:
            settings = dict(setting.split("=", 1) for setting in script.asked["settings"])
            question = Question(script.program, script.asked["config"], settings)
            yield Answers(question, child.ask(script.asked), script.reading, tuple(findings_of(script.reading)), script.file)


def asked(checkout: str, questions: Iterable[Question]) -> Iterator[Answers]:
    """Every command line, judged by both."""
    with Child(checkout) as child:
        for question in questions:
            yield compared(question, child.ask(question.asked))


def compared(question: Question, theirs: dict[str, Any]) -> Answers:
    """Our own answer beside that of verl."""
    cluster = Cluster(tuple(Node(rank, f"node-{rank}", accelerators(count)) for rank, count in enumerate(question.nodes)))
    reading = read(Source("run.sh", question.script), cluster, "verl", "training", Composer(frameworks=("verl==b178a3cd",)))
    return Answers(question, theirs, reading, tuple(findings_of(reading)))
