"""What placewright and RLinf say of the same configuration."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator

from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.placements.placement import Placement, placements
from placewright.models.text.source import Source
from placewright.planner.verify import verify

from .configurations import Question

HERE = Path(__file__).parent
NAMES = {"node_rank": "cluster_node_rank", "local_accelerator_id": "local_accelerator_rank", "node_group": "node_group_label"}
FIELDS = ("rank", "node_rank", "placement_node_rank", "local_accelerator_id", "accelerator_type", "local_rank", "local_world_size",
          "visible_accelerators", "isolate_accelerator", "local_hardware_ranks", "node_group")  # fmt: skip

Placed = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Answers:
    """`theirs` and `ours` are None where the configuration is refused; then the error says why, or the findings do."""

    question: Question
    theirs: Placed | None
    ours: Placed | None
    stage: str
    error: str
    findings: tuple[Any, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of our errors."""
        return tuple(sorted({each.code for each in self.findings if each.severity is Severity.ERROR}))


class Child:
    """RLinf in a process of its own."""

    def __init__(self, checkout: str) -> None:
        self._checkout = checkout

    def __enter__(self) -> Child:
        command = [sys.executable, str(HERE / "oracle.py"), self._checkout]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
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


def asked(checkout: str, questions: Iterable[Question]) -> Iterator[Answers]:
    """Every configuration, judged by both."""
    with Child(checkout) as child:
        for question in questions:
            yield compared(question, child.ask(question.asked))


def compared(question: Question, answer: dict[str, Any]) -> Answers:
    """Our own answer beside that of RLinf."""
    error, theirs = str(answer.get("error", "")), None
    if not error:
        refused = [f"{name}: {each['error']}" for name, each in answer["components"].items() if "error" in each]
        error = "; ".join(refused)
        theirs = None if refused else {name: each["placements"] for name, each in answer["components"].items()}
    nodes = tuple(Node(rank, f"n{rank}", accelerators(count, model) if count else ()) for rank, (count, model) in enumerate(question.nodes))
    reading = read(Source("run.yaml", question.text), Cluster(nodes), "rlinf", composer=Composer(frameworks=("rlinf==a3816b59",)))
    report = verify(reading)
    ours: Placed | None = None
    if not report.errors and reading.problem is not None:
        problem = reading.problem
        given = problem.build_given()
        ours = {each.name: told(placements(problem.cluster, given.of(each.name), True)) for each in problem.job.components}
    return Answers(question, theirs, ours, answer["stage"], error, tuple(report.findings))


def told(found: Iterable[Placement]) -> list[dict[str, Any]]:
    """Our Placements under RLinf's names."""
    rows = []
    for placement in found:
        values = {NAMES.get(name, name): getattr(placement, name) for name in FIELDS}
        rows.append({name: list(value) if isinstance(value, tuple) else value for name, value in values.items()})
    return rows
