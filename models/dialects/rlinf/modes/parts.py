"""Task, placement class, components and parallel degrees, as the rules of a mode see them.

Source: RLinf, rlinf/utils/placement.py, properties of ModelParallelComponentPlacement; of inference also
rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Mapping, Sequence

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Amount, Settings
from ....findings.finding import Severity
from ....findings.span import Span
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Run
from ....planning.way import Way
from ....record import dataclass
from ....text.nearest import nearest
from ....text.tree import Scalar
from ..known import DEGREE, INFERENCE, MULTI_AGENT, SETTING, before, names

TASKS = names("task")
"""Every `runner.task_type` of any release. Source: RLinf, rlinf/config.py, SUPPORTED_TASK_TYPE."""

MULTI_AGENT_DATA = "wideseek_r1"
"""The `data.type` that only the multi-agent main programs are written for."""


class Placer(str, Enum):
    """The classes that place components. Source: RLinf, rlinf/utils/placement.py."""

    HYBRID = "HybridComponentPlacement"
    MODEL_PARALLEL = "ModelParallelComponentPlacement"
    MODEL_PARALLEL_EVAL = "ModelParallelEvalComponentPlacement"
    MULTI_AGENT = "MultiAgentModelParallelComponentPlacement"
    MULTI_AGENT_EVAL = "MultiAgentModelParallelEvalComponentPlacement"


_PLACERS = {"reasoning": Placer.MODEL_PARALLEL, "coding_online_rl": Placer.MODEL_PARALLEL, "reasoning_eval": Placer.MODEL_PARALLEL_EVAL}
_MULTI_AGENT = {"reasoning": Placer.MULTI_AGENT, "reasoning_eval": Placer.MULTI_AGENT_EVAL}


def task_of(notes: Notes, settings: Settings) -> str:
    """`runner.task_type`; the one that was meant where RLinf has no such task (that is noted); "" where it is not said or known."""
    task = settings.word("runner.task_type", "PW123")
    value = settings.at("runner.task_type")
    if not task or value is None:
        return task or ""
    if task in TASKS:
        if older := before("task", task):
            message = f"`runner.task_type: {task}` is unknown before RLinf {older.until}"
            help = f"run RLinf {older.until}, or write one of {', '.join(f'`{each}`' for each in names('task', notes.choice))}"
            notes.judge(older, Severity.ERROR, SETTING, "runner", message, value, "no task yet", help)
        return task
    close = nearest(task, TASKS)
    message = f"`runner.task_type` is `{task[:60]}`, but RLinf has only {', '.join(f'`{each}`' for each in TASKS)}"
    help = f"write `{close}`" if close else "write one of them"
    notes.error("PW123", "runner", message, value, "no task of RLinf", help, settings.becomes("runner.task_type", close) if close else None)
    return close or ""


def placer_of(settings: Settings, task: str) -> Placer:
    """The class that the main program of a task uses; HYBRID where the task is not known.

    The task decides, but for the reasoning tasks: there the multi-agent programs (examples/agent/wideseek_r1) differ from
    all others (examples/reasoning, examples/agent), and what tells their files is ``data.type: wideseek_r1``, whose data
    set, agent loop and tools no other program has.
    """
    if (
        task in _MULTI_AGENT
        and (settings.choice is None or settings.choice.has(MULTI_AGENT))
        and settings.word("data.type", "PW123") == MULTI_AGENT_DATA
    ):
        return _MULTI_AGENT[task]
    return _PLACERS.get(task, Placer.HYBRID)


@dataclass
class Parts:
    """The components under their names, as they become what the mode makes of them.

    Attributes
    ----------
    written : every name in `component_placement`, also of components that could not be read, with its place.
    owner : where `component_placement` or, without it, `cluster` stands.
    hinted : relations that the hints demand.
    planned : components whose ranks are chosen by their times.
    profiled : does the file say times, by which ranks may be chosen?
    choices : the parallel degrees that hints leave open, where it does.
    offered : the same, whether or not it does.
    relations : what the mode demands besides.
    ways : the arrangements that it leaves to the plan.
    faulty : components whose hints cannot be read, and that is noted.
    """

    notes: Notes
    settings: Settings
    cluster: Cluster
    task: str
    placer: Placer
    components: dict[str, Component]
    written: dict[str, Span]
    owner: Span
    hinted: tuple[Relation, ...] = ()
    planned: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    profiled: bool = False
    offered: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    faulty: frozenset[str] = frozenset()

    @property
    def reason(self) -> str:
        """Who demands what a mode demands."""
        return f"RLinf's {self.placer.value}"

    def has(self, name: str) -> bool:
        """Is it placed, or to be placed?"""
        return name in self.written or name in self.components or name in self.faulty

    def first_of(self, *names: str) -> str | None:
        """The first of these that there is."""
        return next((name for name in names if self.has(name)), None)

    def on_accelerators(self, name: str) -> Component | None:
        """The component, if it could be read and is placed on accelerators: on other things a mode has no say here."""
        found = self.components.get(name)
        return found if found and self.cluster.kind(found.node_groups) == ACCELERATOR else None

    def placed(self, name: str) -> Component | None:
        """The component, if its accelerators are given and known."""
        found = self.on_accelerators(name)
        return found if found and found.runs else None

    def is_open(self, name: str) -> bool:
        """Is it left to solve? One whose ranks cannot be told without the cluster is not."""
        found = self.on_accelerators(name)
        return found is not None and found.runs is None and "placement" not in found.spans

    def worker_of_idle(self, name: str) -> str | None:
        """Who does the work of a component that some way has no place for, while the others say how many accelerators it has; else None."""
        idle = any(name in way.without for way in self.ways) and self.has(INFERENCE[name])
        return INFERENCE[name] if idle else None

    def steps_of(self, name: str) -> tuple[int, ...]:
        """What its accelerators are a multiple of, at the least, with each of the degrees that are open to it; nothing where none are.

        Where others have a choice and its hints say no degrees, its own may follow from that: then a plan judges its count, with each choice.
        """
        if name in self.choices:
            return tuple(each.tp for each in self.choices[name])
        return (1,) if self.choices and name in self.planned and "parallel" not in self.components[name].spans else ()

    def relate(self, kind: str, *names: str, choice: str = "") -> None:
        """The mode demands a relation of these components, as far as they are known and on accelerators; see Relation."""
        known = [name for name in names if self.on_accelerators(name)]
        if len(known) == len(names):
            spans = [span for name in names if (span := self.components[name].spans.get("placement"))]
            self.relations.append(Relation(kind, names, max(spans, default=None), self.reason, choice))

    def place(self, name: str) -> Span:
        """Where its ranks stand, or the name itself."""
        found = self.components.get(name)
        return (found.span("placement") if found else None) or self.written.get(name) or self.owner


_TP, _PP, _CP = "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"
_OF_ROLLOUT = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size"}
SECTIONS = {
    "rollout": ("rollout", _OF_ROLLOUT),
    **{role: (f"{role}.model", {"tp": _TP, "pp": _PP, "cp": _CP}) for role in ("actor", "critic", "inference")},
}
"""Component -> the section that says its degrees, and the key of each."""


def own_of(settings: Settings, name: str, choices: Sequence[Parallel]) -> Parallel | None:
    """The degrees that the section of a component says; one that this does not say is 1, and `ep` what all choices say of it.

    None where it says nothing, or no numbers. Nothing is noted: not every program of RLinf reads these keys.
    """
    path, keys = SECTIONS.get(name, ("", {}))
    written = {degree: settings.at(f"{path}.{key}") for degree, key in keys.items() if settings.has(f"{path}.{key}")}
    said = {degree: value.value for degree, value in written.items() if isinstance(value, Scalar) and type(value.value) is int}
    if not written or len(said) < len(written) or min(said.values()) < 1:
        return None
    experts = {each.ep for each in choices}
    return Parallel(**said, ep=experts.pop() if len(experts) == 1 else 1)


@dataclass(frozen=True, slots=True)
class Degrees:
    """tp, pp and cp of one component; each None where it is not known here."""

    tp: Amount | None
    pp: Amount | None
    cp: Amount | None

    @property
    def parallel(self) -> Parallel | None:
        """All three together; None if one is not known."""
        return Parallel(self.tp.value, self.pp.value, self.cp.value) if self.tp and self.pp and self.cp else None


_ONE = Amount(1, _CP)


def trained(settings: Settings, role: str) -> Degrees:
    """Those of `actor` or `critic`; fsdp knows neither pp nor cp, whatever is written."""
    if settings.word(f"{role}.training_backend", DEGREE) == "fsdp":
        return Degrees(settings.whole(f"{role}.model.{_TP}", DEGREE, 1), _ONE, _ONE)
    tp, pp, cp = (settings.whole(f"{role}.model.{key}", DEGREE, 1) for key in (_TP, _PP, _CP))
    return Degrees(tp, pp, cp)


def generating(settings: Settings) -> Degrees:
    """Those of the rollout engine."""
    tp, pp = (settings.whole(f"rollout.{key}", DEGREE, 1, exact=True) for key in _OF_ROLLOUT.values())
    return Degrees(tp, pp, _ONE)


def generated_otherwise(its: Degrees) -> tuple[Parallel, Parallel] | None:
    """(degrees of the rollout engine by itself, those that it has on the accelerators of the actor: tp alone); None where they are the same."""
    own = its.parallel
    return (own, Parallel(own.tp)) if own is not None and own.pp > 1 else None


def inferring(settings: Settings, role: str) -> Amount | None:
    """The tp of the inference component of `actor` or `critic`: from its section; without one, or for a critic whose own says none, its role's."""
    sections = [name for name in ("inference", "actor_inference") if settings.at(name) is not None]
    if role == "critic":
        sections = ["critic_inference"] if settings.at(f"critic_inference.model.{_TP}") is not None else []
    return settings.whole(f"{(*sections, role)[0]}.model.{_TP}", DEGREE, 1)


def inferred(settings: Settings, role: str) -> Degrees:
    """Those with which the inference component of `actor` or `critic` is set up: tp and pp of its own section, cp of its role's.

    Megatron's worker looks for `actor_inference` before `inference`. Without a section they are its role's.
    """
    names = (f"{role}_inference", "inference") if role == "actor" else (f"{role}_inference",)
    section, its = next((name for name in names if settings.at(f"{name}.model") is not None), None), trained(settings, role)
    if section is None or settings.word(f"{role}.training_backend", DEGREE) == "fsdp":
        return Degrees(inferring(settings, role), its.pp, its.cp)
    tp = settings.whole(f"{section}.model.{_TP}", DEGREE, 1) if settings.at(f"{section}.model.{_TP}") else inferring(settings, role)
    pp = settings.whole(f"{section}.model.{_PP}", DEGREE, 1) if settings.at(f"{section}.model.{_PP}") else its.pp
    return Degrees(tp, pp, its.cp)


def inferred_otherwise(settings: Settings, role: str) -> tuple[Parallel, Parallel] | None:
    """(degrees of inference by itself, those of what trains); None where they are the same, or not known, or not Megatron's."""
    own, its = inferred(settings, role).parallel, trained(settings, role).parallel
    otherwise = own and its and own != its and settings.word(f"{role}.training_backend", DEGREE) == "megatron"
    return (own, its) if own and its and otherwise else None


def sections_of_inference(parts: Parts) -> list[str]:
    """The sections that the tp of the placed inference components is read from, besides those of the actor."""
    found = []
    section = next((name for name in ("inference", "actor_inference") if parts.settings.at(name) is not None), None)
    if section and parts.first_of("inference", "actor_inference"):
        found.append(f"{section}.model")
    if parts.has("critic_inference") and parts.settings.at(f"critic_inference.model.{_TP}") is None:
        found.append("critic.model")
    return found


@dataclass(frozen=True, slots=True)
class Extent:
    """The resource ranks of a component: `first` to `last`, `count` of them named. It is solid if there are no holes."""

    first: int
    last: int
    count: int

    @property
    def solid(self) -> bool:
        """Is every rank between the first and the last named?"""
        return self.count == self.last - self.first + 1

    @property
    def size(self) -> int:
        """How many ranks there are from the first to the last."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def extent_of(runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> Extent:
    """The extent of these runs in the numbering of their node groups. Several processes may share a resource."""
    starts: dict[tuple[int, str], int] = {}
    total = 0
    for stretch in cluster.numbering(labels).stretches:
        starts.setdefault((stretch.node_rank, stretch.label), total)
        total += stretch.count
    held: dict[tuple[int, str], int] = {}
    for run in runs:
        key = (run.node, run.node_group)
        held[key] = held.get(key, 0) | run.mask
    first = min(starts[key] + (mask & -mask).bit_length() - 1 for key, mask in held.items())
    last = max(starts[key] + mask.bit_length() - 1 for key, mask in held.items())
    return Extent(first, last, sum(mask.bit_count() for mask in held.values()))
