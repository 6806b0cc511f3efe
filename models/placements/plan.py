"""The answer: where everything goes, how good that is, and for which cluster it was made."""

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
class Term:
    """One term of the objective: its value, a lower bound on it, and the weight it has in the sum.

    Terms of one tier are weighed against each other; what is proved is that the value cannot be below `bound` unless another
    term of its tier, or of an earlier one, becomes worse.
    """

    name: str
    value: int
    bound: int
    weight: int
    tier: int = 0


@dataclass(frozen=True)
class Plan:
    """Where every process of every component goes.

    `status` is ``verified`` (the ranks were given), ``optimal`` (proved) or ``feasible`` (within `gap` of the bound, or its counts
    were chosen by time and are not proved the best).
    `seconds` is the time it took and no part of the digest. `degrees` are the parallel degrees that were chosen where a
    choice was left. `cpus` are the CPUs that are reserved for each process of a component (see reserved.py).
    """

    cluster: Cluster
    assignment: Assignment
    status: str
    terms: tuple[Term, ...] = ()
    bound: int = 0
    seed: int = 0
    seconds: float = 0.0
    isolate_accelerator: bool = True
    degrees: Mapping[str, Parallel] = field(default_factory=dict)
    cpus: Mapping[str, int] = field(default_factory=dict)

    @property
    def objective(self) -> int:
        """The weighted sum of all terms; smaller is better."""
        return sum(term.weight * term.value for term in self.terms)

    @property
    def first_open(self) -> tuple[tuple[Term, ...], int]:
        """(the terms of the first tier that is not proved, what these and all later ones cost together at least); no terms if all are."""
        bound = self.bound
        for tier in dict.fromkeys(term.tier for term in self.terms):
            its = tuple(term for term in self.terms if term.tier == tier)
            value = sum(term.weight * term.value for term in its)
            if value > bound:
                return its, bound
            bound -= value
        return (), bound

    @property
    def gap(self) -> float:
        """How far the first tier of the objective that is not proved may be from the best possible, as a share of it; 0.0 if all are."""
        its, bound = self.first_open
        value = sum(term.weight * term.value for term in self.terms if its and term.tier >= its[0].tier)
        return min(1.0, (value - bound) / value) if its else 0.0

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the placed components."""
        return tuple(self.assignment.runs)

    def placements(self, component: str) -> list[Placement]:
        """The Placement of every process of a component, in rank order."""
        return placements(self.cluster, self.assignment.of(component), self.isolate_accelerator)

    def canonical(self) -> dict[str, object]:
        """All that makes this plan this plan, as JSON data: what the digest is taken of."""
        from ..machines.cluster_file import cluster_to_data

        return {
            "schema": 1,
            "status": self.status,
            "isolate_accelerator": self.isolate_accelerator,
            "cluster": cluster_to_data(self.cluster),
            **({"degrees": {name: _degrees(its) for name, its in self.degrees.items()}} if self.degrees else {}),
            **({"cpus": dict(self.cpus)} if self.cpus else {}),
            "components": {name: [_run_to_data(run) for run in runs] for name, runs in self.assignment.runs.items()},
        }

    @cached_property
    def digest(self) -> str:
        """sha256 of the canonical form: the same input and seed give the same digest, in any process."""
        import hashlib
        import json

        text = json.dumps(self.canonical(), sort_keys=True, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _degrees(parallel: Parallel) -> dict[str, int]:
    degrees = {"tp": parallel.tp, "pp": parallel.pp, "cp": parallel.cp, "ep": parallel.ep}
    return degrees | ({"dp": parallel.dp} if parallel.dp > 1 else {})


def _run_to_data(run: Run) -> dict[str, object]:
    return {
        "ranks": [run.ranks.start, run.ranks.stop],
        "node": run.node,
        "kind": run.kind,
        "first": run.first,
        "each": run.each,
        "step": run.step,
        "pitch": run.pitch,
        "node_group": run.node_group,
    }
