"""Batches of a job: what a framework's file says beside the placement."""

from __future__ import annotations

from dataclasses import replace
from math import gcd
from typing import Any, Iterable, Mapping

from .estimate import DISTRIBUTED, FSDP
from .findings.finding import UnusableInput, error
from .machines.node_group import ACCELERATOR
from .placements.assignment import Assignment
from .problem import Problem
from .record import dataclass
from .roles import ACTOR, CRITIC, ROLLOUT, role_of

UPDATES = 4
"""Updates of an iteration, at most: as the examples of verl, ROLL and RLinf have them."""


@dataclass(frozen=True)
class FileLimits:
    """Limits of a framework's file: the jobs that it can describe.

    Attributes
    ----------
    one_pool : True if all components share all their accelerators: verl's trainer has one pool, RLinf's
        actor reads for the reference only where it shares with the rollout.
    solid : True if each component is on one range of accelerators without gaps.
    over_nodes : degree by which an engine is on several nodes: `dp` or `pp`; "" if it never is.
    splits_sequences : True if FSDP's ranks may divide a sequence.
    actor_leads : True if the tp of an engine is at most that of an actor trained by Megatron.
    megatron_critic : True if only Megatron trains a critic; the actor is then trained by Megatron too.
    """

    one_pool: bool = False
    solid: bool = False
    over_nodes: str = "dp"
    splits_sequences: bool = True
    actor_leads: bool = False
    megatron_critic: bool = False


ANY_FILE = FileLimits()
"""Limits of a native file: none."""


UTILIZATION = 70
"""Percent of an accelerator for an engine that says none."""


@dataclass(frozen=True)
class TrainingJob:
    """Model, algorithm and batches of a job.

    Attributes
    ----------
    prompt, response : tokens of a prompt, and of the longest answer, at most.
    utilization : percent of an accelerator for the engine.
    micro_batch : sequences of a training step on one accelerator.
    ranks : role -> data parallel ranks of what trains.
    """

    model: str
    algorithm: str
    prompts: int
    samples: int
    prompt: int
    response: int
    micro_batch: int
    utilization: int
    ranks: Mapping[str, int]

    @property
    def mini_batch(self) -> int:
        """Prompts of an update: the most that make `UPDATES` of them, as every rank divides them.

        Raises UnusableInput if not even the whole batch divides.
        """
        sizes = [size for size in range(1, self.prompts + 1) if self.prompts % size == 0 and self._divides(size)]
        if not sizes:
            ranks = max(self.ranks.values(), default=1)
            sequences = f"{self.prompts} prompts x {self.samples} samples = {self.prompts * self.samples}"
            message = f"{sequences} sequences do not divide among {ranks} data parallel ranks with micro batches of {self.micro_batch}"
            unit = ranks * self.micro_batch
            step = unit // gcd(unit, self.samples)
            advice = f"take a multiple of {unit} sequences, such as {max(1, round(self.prompts / step)) * step} prompts"
            raise UnusableInput([error("PW606", "", message, help=advice)])
        return max((size for size in sizes if size * UPDATES <= self.prompts), default=min(sizes))

    @property
    def agents(self) -> int:
        """Agent loop workers: at most verl's default of 8, as the answers divide among them."""
        return next(count for count in range(8, 0, -1) if self.prompts * self.samples % count == 0)

    def keys(self, table: Mapping[str, Mapping[str, Any]], parts: Iterable[str], values: Mapping[str, object]) -> dict[str, object]:
        """Return the keys of parts of a table; `$name` stands for a value."""

        def fill(value: object) -> object:
            name = value[1:] if isinstance(value, str) and value[:1] == "$" else ""
            return (values[name] if name in values else getattr(self, name)) if name else value

        return {key: fill(value) for part in parts for key, value in table[part].items()}

    def _divides(self, prompts: int) -> bool:
        return all(prompts * self.samples % (ranks * self.micro_batch) == 0 for ranks in self.ranks.values())


def with_backends(problem: Problem) -> Problem:
    """Return the problem with the trainer of each component that its estimate implies."""
    trainers = {FSDP: "fsdp", DISTRIBUTED: "megatron"}
    components = (
        replace(component, backend=trainers.get(component.estimate.sharding, component.backend)) if component.estimate else component
        for component in problem.components
    )
    return replace(problem, job=replace(problem.job, components=tuple(components)))


def training_job(problem: Problem, model: str, algorithm: str, prompts: int, samples: int, prompt: int, response: int) -> TrainingJob:
    """Return the job of a placed problem, with engine and micro batch of its estimates."""
    assignment = Assignment({component.name: component.runs for component in problem.components if component.runs is not None})
    by_role = {role_of(component): component for component in problem.components}
    trained_roles = {role: by_role[role] for role in (ACTOR, CRITIC) if role in by_role}
    ranks = {
        role: max(1, assignment.count_held(component.name, ACCELERATOR) // component.parallel.replica)
        for role, component in trained_roles.items()
    }
    micro = max((component.estimate.micro_batch or 1 for component in trained_roles.values() if component.estimate), default=1)
    engine = by_role[ROLLOUT].estimate if ROLLOUT in by_role else None
    utilization = (engine.utilization or UTILIZATION) if engine else UTILIZATION
    return TrainingJob(model, algorithm, prompts, samples, prompt, response, micro, utilization, ranks)
