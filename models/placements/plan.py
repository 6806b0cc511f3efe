"""Plan: a placement with bounds and digest for a cluster."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Mapping

from ..machines.cluster import Cluster
from ..parallel import Parallel
from ..record import dataclass
from .assignment import Assignment
from .placement import Placement, placements
from .run import Run

VERIFIED, OPTIMAL, FEASIBLE = "verified", "optimal", "feasible"


@dataclass(frozen=True, slots=True)
class TermValue:
    """Term of the objective: value, lower bound, and weight in the sum.

    Terms of one tier are weighed against each other. `bound` holds unless another term of the same
    or an earlier tier becomes worse.
    """

    name: str
    value: int
    bound: int
    weight: int
    tier: int = 0


@dataclass(frozen=True)
class Plan:
    """Placement of every process of every component.

    Attributes
    ----------
    status : ``verified`` (given ranks), ``optimal`` (proved) or ``feasible`` (within `gap` of the
        bound, or counts chosen by time without proof).
    seconds : search time; not part of the digest.
    degrees : chosen parallel degrees, if there was a choice.
    cpus : component -> CPUs reserved per process (see `Problem.cpus`).
    """

    cluster: Cluster
    assignment: Assignment
    status: str
    terms: tuple[TermValue, ...] = ()
    bound: int = 0
    seed: int = 0
    seconds: float = 0.0
    isolate_accelerator: bool = True
    degrees: Mapping[str, Parallel] = field(default_factory=dict)
    cpus: Mapping[str, int] = field(default_factory=dict)

    @property
    def objective(self) -> int:
        """Weighted sum of all terms; smaller is better."""
        return sum(term.weight * term.value for term in self.terms)

    @property
    def first_open(self) -> tuple[tuple[TermValue, ...], int]:
        """(terms of the first unproved tier, bound on the cost from it on). () if all proved."""
        bound = self.bound
        for tier in dict.fromkeys(term.tier for term in self.terms):
            terms = tuple(term for term in self.terms if term.tier == tier)
            value = sum(term.weight * term.value for term in terms)
            if value > bound:
                return terms, bound
            bound -= value
        return (), bound

    @property
    def gap(self) -> float:
        """Relative gap of the first unproved tier of the objective; 0.0 if all are proved."""
        terms, bound = self.first_open
        value = sum(term.weight * term.value for term in self.terms if terms and term.tier >= terms[0].tier)
        return min(1.0, (value - bound) / value) if terms else 0.0

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the placed components."""
        return tuple(self.assignment.runs)

    @property
    def cpus_on_nodes(self) -> dict[int, int]:
        """Node rank -> CPUs reserved by the processes, without zeros."""
        cpus_by_node: dict[int, int] = {}
        for name, cpus in self.cpus.items():
            for node, processes in self.assignment.processes_on(name).items():
                cpus_by_node[node] = cpus_by_node.get(node, 0) + cpus * processes
        return cpus_by_node

    def placements(self, component: str) -> list[Placement]:
        """Return the Placement of every process of a component, in rank order."""
        return placements(self.cluster, self.assignment.of(component), self.isolate_accelerator)

    def canonical(self) -> dict[str, object]:
        """Return the identity of the plan as JSON data: the input of the digest."""
        from ..machines.cluster_file import cluster_to_data

        return {
            "schema": 1,
            "status": self.status,
            "isolate_accelerator": self.isolate_accelerator,
            "cluster": cluster_to_data(self.cluster),
            **({"degrees": {name: _degrees(parallel) for name, parallel in self.degrees.items()}} if self.degrees else {}),
            **({"cpus": dict(self.cpus)} if self.cpus else {}),
            "components": {name: [_run_to_data(run) for run in runs] for name, runs in self.assignment.runs.items()},
        }

    @cached_property
    def digest(self) -> str:
        """Sha256 of the canonical form: equal for equal input and seed, in any process."""
        import hashlib
        import json

        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _degrees(parallel: Parallel) -> dict[str, int]:
    degrees = {"tp": parallel.tp, "pp": parallel.pp, "cp": parallel.cp, "ep": parallel.ep}
    return degrees | ({"dp": parallel.dp} if parallel.dp > 1 else {})


def _run_to_data(run: Run) -> dict[str, object]:
    fields = ("node", "kind", "first", "each", "step", "pitch", "node_group")
    return {"ranks": [run.ranks.start, run.ranks.stop], **{field: getattr(run, field) for field in fields}}
