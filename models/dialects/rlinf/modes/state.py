"""Task, placement class, degrees and components of a job, while its mode transforms them.

Source: RLinf, rlinf/utils/placement.py; of degrees of inference also
rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from math import prod
from typing import Any, Mapping, Sequence

from ....component import Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Amount, Settings
from ....derivation import Derivation, Figure
from ....findings.span import Edit, Span
from ....job import HintedJob, Share
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....model_cards import ModelUse
from ....placements.assignment import Assignment
from ....placements.run import Run
from ....planning.arrangement import FrameworkArrangement, ProcessShape
from ....record import dataclass
from ....text.nearest import nearest
from ....text.tree import MapNode, Value, find
from ...checks import Facts
from ..known import CRITICS_INFERENCE, DEGREE, FSDP, INFERENCE, INFERRING, MEGATRON, MULTI_AGENT, SETTING, names, report, task_facts

TP, PP, _CP = (f"{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context"))
_OF_ROLLOUT = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size"}
SECTIONS = {
    "rollout": ("rollout", _OF_ROLLOUT),
    **{role: (f"{role}.model", {"tp": TP, "pp": PP, "cp": _CP}) for role in ("actor", "critic", "inference")},
}
"""Component -> section with its degrees, and key per degree."""


def degree_keys(root: MapNode, name: str, parallel: Parallel) -> dict[str, int]:
    """Return path -> degree of the keys in RLinf's sections that state degrees."""
    path, keys = SECTIONS.get(name, ("", {}))
    section, sizes = find(root, path) if path else None, {degree: int(getattr(parallel, degree)) for degree in keys}
    if not isinstance(section, MapNode):
        return {}
    return {f"{path}.{key}": sizes[degree] for degree, key in keys.items() if section.get(key) is not None or sizes[degree] > 1}


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


def degrees_of(settings: Settings, name: str) -> ParallelSettings:
    """Return the degrees of rollout's engine, an inference or a trained component.

    An unknown component has the degrees of `actor`; fsdp reads neither pp nor cp.
    """
    if name == "rollout":
        tp, pp = (settings.whole(f"rollout.{key}", DEGREE, 1, exact=True) for key in _OF_ROLLOUT.values())
        return ParallelSettings(tp, pp, _ONE)
    if name in INFERENCE:
        return _inference_degrees(settings, INFERENCE[name])
    role = "critic" if name == "critic" else "actor"
    is_fsdp = settings.word(f"{role}.training_backend", DEGREE) == FSDP
    sizes = [settings.whole(f"{role}.model.{key}", DEGREE, 1) for key in ((TP,) if is_fsdp else (TP, PP, _CP))]
    return ParallelSettings(sizes[0], _ONE, _ONE) if is_fsdp else ParallelSettings(*sizes)


def placing_tp(settings: Settings, name: str) -> Amount | None:
    """Return the tp that places an inference component: of its section, else of its role."""
    role = INFERENCE[name]
    if role == "critic":
        sections = [CRITICS_INFERENCE] if settings.at(f"{CRITICS_INFERENCE}.model.{TP}") else []
    else:
        sections = [section for section in INFERRING if settings.at(section) is not None]
    return settings.whole(f"{(*sections, role)[0]}.model.{TP}", DEGREE, 1)


def _inference_degrees(settings: Settings, role: str) -> ParallelSettings:
    """Return tp and pp of the section, cp of the role; `actor_inference` precedes `inference`."""
    names = [name for name, trained_role in reversed(INFERENCE.items()) if trained_role == role]
    section = next((name for name in names if settings.at(f"{name}.model") is not None), None)
    worker = degrees_of(settings, role)
    if section is None or settings.word(f"{role}.training_backend", DEGREE) == FSDP:
        return ParallelSettings(placing_tp(settings, names[0]), worker.pp, worker.cp)
    tps, pps = (f"{section}.model.{key}" for key in (TP, PP))
    tp = settings.whole(tps, DEGREE, 1) if settings.at(tps) else placing_tp(settings, names[0])
    pp = settings.whole(pps, DEGREE, 1) if settings.at(pps) else worker.pp
    return ParallelSettings(tp, pp, worker.cp)


def degrees_by_arrangement(settings: Settings, name: str) -> tuple[Parallel, Parallel] | None:
    """Return degrees apart from the trained component, and together with it; None if equal.

    On the actor's accelerators, engines have tp alone, and Megatron's inference has the degrees of
    the trained role.
    """
    role, own_degrees = INFERENCE.get(name), degrees_of(settings, name).parallel
    if name == "rollout":
        shared_degrees = Parallel(own_degrees.tp) if own_degrees else None
    else:
        is_divided = role and settings.word(f"{role}.training_backend", DEGREE) == MEGATRON
        shared_degrees = degrees_of(settings, role).parallel if role and is_divided else None
    return (own_degrees, shared_degrees) if own_degrees and shared_degrees and own_degrees != shared_degrees else None


TASKS = names("task")
"""Values of `runner.task_type` in any release.

Source: RLinf, rlinf/config.py, SUPPORTED_TASK_TYPE.
"""

MULTI_AGENT_DATA = "wideseek_r1"
"""Value of `data.type` of the multi-agent main programs alone."""


class Placer(str, Enum):
    """Placement classes of RLinf."""

    HYBRID = "HybridComponentPlacement"
    MODEL_PARALLEL = "ModelParallelComponentPlacement"
    MODEL_PARALLEL_EVAL = "ModelParallelEvalComponentPlacement"
    MULTI_AGENT = "MultiAgentModelParallelComponentPlacement"
    MULTI_AGENT_EVAL = "MultiAgentModelParallelEvalComponentPlacement"


def task_of(notes: Notes, settings: Settings) -> str:
    """Return `runner.task_type`, corrected if misspelt; "" if unknown."""
    task = settings.word("runner.task_type", SETTING)
    value = settings.at("runner.task_type")
    if not task or value is None:
        return task or ""
    if task in TASKS:
        return task
    close = nearest(task, TASKS)
    edit = settings.becomes("runner.task_type", close) if close else None
    help = f"write `{close}`" if close else "write one of them"
    report(notes, "task unknown", "runner", value, edit, task=task[:60], help=help, tasks=TASKS)
    return close or ""


def placer_of(settings: Settings, task: str) -> Placer:
    """Return the placement class of a task's main program; HYBRID for an unknown task.

    Only `data.type: wideseek_r1` identifies the multi-agent programs (examples/agent/wideseek_r1).
    """
    facts = task_facts(task)
    has_agents = facts["agents"] and (settings.choice is None or settings.choice.has(MULTI_AGENT))
    is_multi = has_agents and settings.word("data.type", SETTING) == MULTI_AGENT_DATA
    return Placer(facts["agents" if is_multi else "placer"])


SHARES, DEMANDS = "PW401", "PW403"
"""Codes of amounts without a division among processes, and of other mismatches."""
WITH_ENVIRONMENTS = ("embodied", "embodied_eval", "offline")
"""Tasks with environments."""


def figure_of(amount: Amount) -> Figure:
    """Return the amount as part of a derivation; a default gets its file in RLinf."""
    source = "rlinf/utils/placement.py" if amount.name.endswith("_parallel_size") else "rlinf/config.py"
    return Figure(amount.name, amount.value, amount.span, "" if amount.scalar else f"RLinf, {source}")


class Mode(Facts):
    """Components of a job, changed by the rules of the task's placement class.

    Attributes
    ----------
    task, placer, facts : task ("" if unknown), its placement class, and facts about the task.
    components : readable components; the rules replace them.
    written : name -> span in `component_placement`, unreadable components included.
    owner : span of `component_placement`, else of `cluster`.
    merged : components, relations and open degrees as the hints state them.
    packs : True if processes are packed into contiguous ranges, so process ranks are not written.
    reason : the placement class that makes the demands.
    planned : components whose ranks are chosen by their times.
    plans_both : True if a plan decides how actor and rollout share accelerators.
    profiled : True if the file has times, so that ranks may be chosen.
    choices : parallel degrees that hints leave open to a plan.
    relations : relations of the hints, and those that the mode demands.
    ways : arrangements that the mode leaves to a plan.
    shapes : shape of the processes per component and choice of its degrees.
    faulty : components with unreadable hints (noted).
    shares, derivations, models : demands of batches, origins of derived numbers, and model by
        component.
    """

    def __init__(
        self, notes: Notes, settings: Settings, cluster: Cluster, name_spans: dict[str, Span], owner: Span, draft: HintedJob,
        planned_names: frozenset[str], has_profile: bool,
    ) -> None:  # fmt: skip
        super().__init__(notes, settings)
        self.cluster, self.written, self.owner = cluster, name_spans, owner
        self.task = task_of(notes, settings)
        self.placer, self.facts = placer_of(settings, self.task), task_facts(self.task)
        self.packs = self.placer is not Placer.HYBRID
        self.reason = f"RLinf's {self.placer.value}"
        self.merged, self.planned, self.profiled = draft, planned_names, has_profile
        self.plans_both = {"actor", "rollout"} <= planned_names
        self.components = {component.name: component for component in draft.components}
        self.choices: Mapping[str, tuple[Parallel, ...]] = draft.choices if has_profile else {}
        self.relations: list[Relation] = list(draft.relations)
        self.ways: list[FrameworkArrangement] = []
        self.shapes: Mapping[str, Mapping[Parallel, ProcessShape]] = {}
        self.faulty: frozenset[str] = frozenset()
        self.shares: list[Share] = []
        self.derivations: list[Derivation] = []
        self.models: dict[str, ModelUse] = {}

    @property
    def top(self) -> Span:
        """See `Facts.top`."""
        return self.owner

    @property
    def phases(self) -> tuple[str, ...]:
        """Phases with environments, of `train` and `eval`; empty if unknown."""
        if self.task not in WITH_ENVIRONMENTS:
            return ()
        only_eval = self.settings.flag("runner.only_eval", SHARES)
        interval = self.settings.whole("runner.val_check_interval", SHARES, -1, minimum=-(10**9))
        if self.task == "embodied_eval":
            return ("eval",)
        if only_eval is None or (interval is None and not only_eval):
            return ()
        # validate_embodied_cfg of 0.1 checks environments to train even without training.
        trains = self.task == "embodied" and (not only_eval or self.settings.is_older_than("0.2"))
        return ("train",) * trains + ("eval",) * bool(only_eval or (interval is not None and interval.value > 0))

    @property
    def shaped(self) -> frozenset[str]:
        """Components with degrees fixed by the settings of the job."""
        candidates = (component for component in self.merged.components if not (component.timed and component.name in self.choices))
        overrides = (component for component in candidates if self.components.get(component.name, component).parallel != component.parallel)
        return frozenset(component.name for component in overrides)

    def processes(self, name: str) -> int | None:
        """Return the number of processes of a component with explicit ranks, else None."""
        component = self.components.get(name)
        return max((run.ranks.stop for run in component.runs), default=0) if component and component.runs is not None else None

    def share(
        self, component: str, amount: Amount, noun: str, reason: str, *factors: Amount, proved: bool = True, setting_value: int = 0
    ) -> None:  # fmt: skip
        """Demand that an amount divides among the processes of a component, in multiples of `factors`.

        The amount is a multiple of `setting_value`, the number under its name; by default it is that number.
        """
        if component in self.components:
            multiple, name = prod(factor.value for factor in factors), " x ".join(factor.name for factor in factors if factor.value > 1)
            factor = amount.value // setting_value if setting_value else 1
            self.shares.append(Share(component, amount.value, multiple, noun, amount.name, name, amount.span, reason, proved, factor))

    def derive(self, component: str, name: str, value: int, formula: str, *amounts: Amount) -> int:
        """Add the derivation of an existing component's number, and return the number."""
        if component in self.components:
            self.derivations.append(Derivation(component, name, value, formula, tuple(map(figure_of, amounts))))
        return value

    def report(
        self, finding: str, name: str, /, at: Span | Value | None = None, edit: Edit | None = None, premises: tuple[str, ...] = (),
        **values: Any,
    ) -> None:  # fmt: skip
        """Add a finding of facts/findings.json about a component, by default at its ranks.

        `premises` are components by whose ranks it is judged.
        """
        report(self.notes, finding, name, at or self.place(name), edit, reason=self.reason, **values)
        if premises:
            self.notes.findings[-1] = replace(self.notes.findings[-1], premises=premises)

    def degrees(self, name: str) -> ParallelSettings:
        """Return the degrees of a component by the settings of the job."""
        return degrees_of(self.settings, name)

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

    def find_on_accelerators(self, name: str) -> Component | None:
        """Return a readable component on accelerators, else None; a mode ignores others."""
        component = self.components.get(name)
        return component if component and self.cluster.kind(component.node_groups) == ACCELERATOR else None

    def find_placed(self, name: str) -> Component | None:
        """Return a component with explicit, known accelerators, else None."""
        component = self.find_on_accelerators(name)
        return component if component and component.runs else None

    def extent(self, name: str) -> range | None:
        """Return the first to the last explicit, known rank of a component, else None."""
        component = self.find_placed(name)
        return extent_of(component.runs or (), self.cluster, component.numbered_in) if component else None

    def count(self, name: str) -> int | None:
        """Return the number of explicit accelerators of a component, None if open."""
        component = self.find_placed(name)
        return Assignment({name: component.runs or ()}).count_held(name) if component else None

    def is_open(self, name: str) -> bool:
        """Return True if the component is left to solve."""
        component = self.find_on_accelerators(name)
        return component is not None and component.runs is None and "placement" not in component.spans

    def relate(self, kind: str, *names: str | None, choice: str = "") -> None:
        """Demand a relation of components if all are known and on accelerators."""
        components = [component for name in names if name and (component := self.find_on_accelerators(name))]
        if len(components) == len(names):
            spans = [span for component in components if (span := component.spans.get("placement"))]
            group = tuple(component.name for component in components)
            self.relations.append(Relation(kind, group, max(spans, default=None), self.reason, choice))

    def place(self, name: str) -> Span:
        """Return the span of the component's ranks, else of its name."""
        component = self.components.get(name)
        ranks = component.span("placement") if component else None
        return ranks or self.written.get(name) or self.owner


def extent_of(runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> range:
    """Return the first to the last rank of runs, as their node groups number them."""
    starts = cluster.numbering(labels).first_in
    start_masks = [(starts[run.node, run.node_group], run.mask) for run in runs]
    first = min(start + (mask & -mask).bit_length() - 1 for start, mask in start_masks)
    return range(first, max(start + mask.bit_length() for start, mask in start_masks))


def masks(component: Component | None) -> Mapping[tuple[int, str], int]:
    """Return (node, kind) -> bit mask of the resources of a component."""
    runs = component.runs if component else None
    return Assignment({component.name: runs}).masks(component.name) if component and runs else {}
