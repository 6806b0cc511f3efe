"""Task, placement class, components and parallel degrees for the rules of a mode.

Source: RLinf, rlinf/utils/placement.py, properties of ModelParallelComponentPlacement; of inference
also rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Iterable, Mapping, Sequence

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Amount, Settings
from ....findings.finding import Severity
from ....findings.span import Edit, Span
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Assignment
from ....placements.run import Run
from ....planning.way import FrameworkArrangement
from ....record import dataclass
from ....text.nearest import nearest
from ....text.tree import Scalar
from ..known import DEGREE, FSDP, INFERENCE, MEGATRON, MULTI_AGENT, SETTING, before, names

TASKS = names("task")
"""Values of `runner.task_type` in any release.

Source: RLinf, rlinf/config.py, SUPPORTED_TASK_TYPE.
"""

MULTI_AGENT_DATA = "wideseek_r1"
"""Value of `data.type` that only the multi-agent main programs support."""

INFERRING = ("inference", "actor_inference")
"""Names of the component that computes probabilities with the actor's model."""
CRITICS_INFERENCE = "critic_inference"


class Placer(str, Enum):
    """Placement classes of RLinf.

    Source: RLinf, rlinf/utils/placement.py.
    """

    HYBRID = "HybridComponentPlacement"
    MODEL_PARALLEL = "ModelParallelComponentPlacement"
    MODEL_PARALLEL_EVAL = "ModelParallelEvalComponentPlacement"
    MULTI_AGENT = "MultiAgentModelParallelComponentPlacement"
    MULTI_AGENT_EVAL = "MultiAgentModelParallelEvalComponentPlacement"


_PLACERS = {
    "reasoning": (Placer.MODEL_PARALLEL, Placer.MULTI_AGENT),
    "coding_online_rl": (Placer.MODEL_PARALLEL, Placer.MODEL_PARALLEL),
    "reasoning_eval": (Placer.MODEL_PARALLEL_EVAL, Placer.MULTI_AGENT_EVAL),
}
"""Task -> class of its usual programs, class of the multi-agent programs."""


def task_of(notes: Notes, settings: Settings) -> str:
    """Return `runner.task_type`, corrected if misspelt; "" if unknown."""
    task = settings.word("runner.task_type", SETTING)
    value = settings.at("runner.task_type")
    if not task or value is None:
        return task or ""
    if task in TASKS:
        if older := before("task", task):
            message = f"`runner.task_type: {task}` is unknown before RLinf {older.until}"
            help = f"run RLinf {older.until}, or write one of {listed(names('task', notes.choice))}"
            notes.judge(older, Severity.ERROR, SETTING, "runner", message, value, "no task yet", help)
        return task
    close = nearest(task, TASKS)
    message = f"`runner.task_type` is `{task[:60]}`, but RLinf has only {listed(TASKS)}"
    edit = settings.becomes("runner.task_type", close) if close else None
    notes.error(SETTING, "runner", message, value, "no task of RLinf", f"write `{close or TASKS[0]}`", edit)
    return close or ""


def listed(words: Iterable[str]) -> str:
    """Return words in backticks, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)


def placer_of(settings: Settings, task: str) -> Placer:
    """Return the placement class of a task's main program; HYBRID for an unknown task.

    Only `data.type: wideseek_r1` identifies the multi-agent programs (examples/agent/wideseek_r1).
    """
    usual, multi = _PLACERS.get(task, (Placer.HYBRID, Placer.HYBRID))
    has_multi = usual is not multi and (settings.choice is None or settings.choice.has(MULTI_AGENT))
    return multi if has_multi and settings.word("data.type", SETTING) == MULTI_AGENT_DATA else usual


@dataclass
class ModeState:
    """Components by name while a mode transforms them.

    Attributes
    ----------
    written : name -> span in `component_placement`, unreadable components included.
    owner : span of `component_placement`, else of `cluster`.
    hinted : relations from the hints.
    planned : components whose ranks are chosen by their times.
    choices : parallel degrees that hints leave open to a plan.
    profiled : True if the file has times, so that ranks may be chosen.
    offered : parallel degrees that hints leave open, for a plan or not.
    relations : relations that the mode demands.
    ways : arrangements that the mode leaves to the plan.
    faulty : components with unreadable hints (noted).
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
    choices: dict[str, tuple[Parallel, ...]] = field(default_factory=dict)
    profiled: bool = False
    offered: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    ways: list[FrameworkArrangement] = field(default_factory=list)
    faulty: frozenset[str] = frozenset()

    @property
    def reason(self) -> str:
        """Name of the placement class that makes the demands of the mode."""
        return f"RLinf's {self.placer.value}"

    @property
    def plans_both(self) -> bool:
        """True if a plan decides how actor and rollout share accelerators."""
        return {"actor", "rollout"} <= self.planned

    def error(
        self, code: str, name: str, message: str, help: str = "", label: str = "",
        at: Span | None = None, edit: Edit | None = None,
    ) -> None:  # fmt: skip
        """Add an error about a component, by default at its ranks."""
        self.notes.error(code, name, message, at or self.place(name), label, help, edit)

    def warn(self, code: str, name: str, message: str, help: str = "", label: str = "", at: Span | None = None) -> None:
        """Add a warning about a component, by default at its ranks."""
        self.notes.warn(code, name, message, at or self.place(name), label, help)

    def backend(self, role: str, code: str = DEGREE) -> str | None:
        """Return the training backend of a role; None if unknown."""
        return self.settings.word(f"{role}.training_backend", code)

    def flag(self, path: str) -> bool | None:
        """Return a flag of the job; None if unknown."""
        return self.settings.flag(path, SETTING)

    def has(self, name: str) -> bool:
        """Return True if the component is placed, or to be placed."""
        return name in self.written or name in self.components or name in self.faulty

    def first_of(self, *names: str) -> str | None:
        """Return the first existing component of these names."""
        return next((name for name in names if self.has(name)), None)

    def on_accelerators(self, name: str) -> Component | None:
        """Return a readable component on accelerators, else None; a mode ignores others."""
        component = self.components.get(name)
        return component if component and self.cluster.kind(component.node_groups) == ACCELERATOR else None

    def placed(self, name: str) -> Component | None:
        """Return a component with explicit, known accelerators, else None."""
        component = self.on_accelerators(name)
        return component if component and component.runs else None

    def extent(self, name: str) -> Extent | None:
        """Return the explicit, known ranks of a component, else None."""
        component = self.placed(name)
        return extent_of(component.runs or (), self.cluster, component.numbered_in) if component else None

    def count(self, name: str) -> int | None:
        """Return the number of explicit accelerators of a component, None if open."""
        extent = self.extent(name)
        return extent.count if extent else None

    def is_open(self, name: str) -> bool:
        """Return True if the component is left to solve."""
        component = self.on_accelerators(name)
        return component is not None and component.runs is None and "placement" not in component.spans

    def steps_of(self, name: str) -> tuple[int, ...]:
        """Return minimal multiples of the component's accelerators, by its open degrees."""
        if name in self.choices:
            return tuple(parallel.tp for parallel in self.choices[name])
        follows = self.choices and name in self.planned
        return (1,) if follows and "parallel" not in self.components[name].spans else ()

    def relate(self, kind: str, *names: str | None, choice: str = "") -> None:
        """Demand a relation of components if all are known and on accelerators."""
        known = [component for name in names if name and (component := self.on_accelerators(name))]
        if len(known) == len(names):
            spans = [span for component in known if (span := component.spans.get("placement"))]
            group = tuple(component.name for component in known)
            self.relations.append(Relation(kind, group, max(spans, default=None), self.reason, choice))

    def place(self, name: str) -> Span:
        """Return the span of the component's ranks, else of its name."""
        component = self.components.get(name)
        ranks = component.span("placement") if component else None
        return ranks or self.written.get(name) or self.owner


_TP, _PP, _CP = (f"{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context"))
_OF_ROLLOUT = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size"}
SECTIONS = {
    "rollout": ("rollout", _OF_ROLLOUT),
    **{role: (f"{role}.model", {"tp": _TP, "pp": _PP, "cp": _CP}) for role in ("actor", "critic", "inference")},
}
"""Component -> section with its degrees, and key per degree."""


def degrees_in_section(settings: Settings, name: str) -> Parallel | None:
    """Return the degrees in the section of a component, others as 1; None without degrees.

    Nothing is noted: not every program of RLinf reads these keys.
    """
    path, keys = SECTIONS.get(name, ("", {}))
    written = {degree: settings.at(f"{path}.{key}") for degree, key in keys.items() if settings.has(f"{path}.{key}")}
    sizes = {
        degree: value.value
        for degree, value in written.items()
        if isinstance(value, Scalar) and type(value.value) is int and value.value > 0
    }
    return Parallel(**sizes) if sizes and len(sizes) == len(written) else None


@dataclass(frozen=True, slots=True)
class ParallelSettings:
    """Degrees tp, pp and cp of a component; None stands for an unknown degree."""

    tp: Amount | None
    pp: Amount | None
    cp: Amount | None

    @property
    def parallel(self) -> Parallel | None:
        """All three degrees; None if any is unknown."""
        if self.tp and self.pp and self.cp:
            return Parallel(self.tp.value, self.pp.value, self.cp.value)
        return None


_ONE = Amount(1, _CP)


def trained_degrees(settings: Settings, role: str) -> ParallelSettings:
    """Return the degrees of `actor` or `critic`; fsdp reads neither pp nor cp."""
    is_fsdp = settings.word(f"{role}.training_backend", DEGREE) == FSDP
    keys = (_TP,) if is_fsdp else (_TP, _PP, _CP)
    sizes = [settings.whole(f"{role}.model.{key}", DEGREE, 1) for key in keys]
    return ParallelSettings(sizes[0], _ONE, _ONE) if is_fsdp else ParallelSettings(*sizes)


def rollout_degrees(settings: Settings) -> ParallelSettings:
    """Return the degrees of the rollout engine."""
    tp, pp = (settings.whole(f"rollout.{key}", DEGREE, 1, exact=True) for key in _OF_ROLLOUT.values())
    return ParallelSettings(tp, pp, _ONE)


def rollout_degrees_by_arrangement(rollout: ParallelSettings) -> tuple[Parallel, Parallel] | None:
    """Return degrees of a staged engine: apart from the actor, and with it (tp alone).

    None for an engine without pipeline stages.
    """
    own_degrees = rollout.parallel
    return (own_degrees, Parallel(own_degrees.tp)) if own_degrees is not None and own_degrees.pp > 1 else None


def inferring(settings: Settings, role: str) -> Amount | None:
    """Return the tp that places the inference component of a role.

    It is in the inference section, else in the section of the role.
    """
    sections = [name for name in INFERRING if settings.at(name) is not None]
    if role == "critic":
        sections = [CRITICS_INFERENCE] if settings.at(f"{CRITICS_INFERENCE}.model.{_TP}") else []
    return settings.whole(f"{(*sections, role)[0]}.model.{_TP}", DEGREE, 1)


def inference_degrees(settings: Settings, role: str) -> ParallelSettings:
    """Return the degrees that set up the inference component of a role.

    tp and pp are those of its section, cp is that of the role. Megatron's worker looks for
    `actor_inference` before `inference`.
    """
    sections = (f"{role}_inference", *(("inference",) if role == "actor" else ()))
    section = next((name for name in sections if settings.at(f"{name}.model") is not None), None)
    worker = trained_degrees(settings, role)
    if section is None or settings.word(f"{role}.training_backend", DEGREE) == FSDP:
        return ParallelSettings(inferring(settings, role), worker.pp, worker.cp)
    tps, pps = (f"{section}.model.{key}" for key in (_TP, _PP))
    tp = settings.whole(tps, DEGREE, 1) if settings.at(tps) else inferring(settings, role)
    pp = settings.whole(pps, DEGREE, 1) if settings.at(pps) else worker.pp
    return ParallelSettings(tp, pp, worker.cp)


def inference_degrees_by_arrangement(settings: Settings, role: str) -> tuple[Parallel, Parallel] | None:
    """Return degrees of Megatron's inference apart and of the trained role, if different."""
    own_degrees, worker = inference_degrees(settings, role).parallel, trained_degrees(settings, role).parallel
    differ = own_degrees and worker and own_degrees != worker
    if differ and settings.word(f"{role}.training_backend", DEGREE) == MEGATRON:
        return (own_degrees, worker) if own_degrees and worker else None
    return None


def megatron_inference(parts: ModeState) -> list[tuple[str, str]]:
    """Return (inference component, trained role) for existing pairs that run Megatron."""
    pairs = [(name, role) for name, role in INFERENCE.items() if parts.has(name) and parts.has(role)]
    return [(name, role) for name, role in pairs if parts.backend(role) == MEGATRON]


def sections_of_inference(parts: ModeState) -> list[str]:
    """Return the sections, besides the actor's, with the tp of placed inference components."""
    section = next((name for name in INFERRING if parts.settings.at(name) is not None), None)
    sections = [f"{section}.model"] if section and parts.first_of(*INFERRING) else []
    if parts.has(CRITICS_INFERENCE) and parts.settings.at(f"{CRITICS_INFERENCE}.model.{_TP}") is None:
        sections.append("critic.model")
    return sections


@dataclass(frozen=True, slots=True)
class Extent:
    """Resource ranks of a component: `count` ranks from `first` to `last`."""

    first: int
    last: int
    count: int

    @property
    def size(self) -> int:
        """Number of ranks from the first to the last."""
        return self.last - self.first + 1

    @property
    def solid(self) -> bool:
        """True if the ranks have no holes."""
        return self.count == self.size

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def extent_of(runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> Extent:
    """Return the extent of runs in the numbering of their node groups.

    Processes may share resources.
    """
    starts: dict[tuple[int, str], int] = {}
    total = 0
    for stretch in cluster.numbering(labels).stretches:
        starts.setdefault((stretch.node_rank, stretch.label), total)
        total += stretch.count
    masks_by_node: dict[tuple[int, str], int] = {}
    for run in runs:
        key = (run.node, run.node_group)
        masks_by_node[key] = masks_by_node.get(key, 0) | run.mask
    first = min(starts[key] + (mask & -mask).bit_length() - 1 for key, mask in masks_by_node.items())
    last = max(starts[key] + mask.bit_length() - 1 for key, mask in masks_by_node.items())
    return Extent(first, last, sum(mask.bit_count() for mask in masks_by_node.values()))


def masks(component: Component | None) -> Mapping[tuple[int, str], int]:
    """Return (node, kind) -> bit mask of the resources of a component."""
    runs = component.runs if component else None
    return Assignment({component.name: runs}).masks(component.name) if component and runs else {}
