"""Modes of RLinf: demands of its placement classes on components.

Sources in RLinf:

- rlinf/utils/placement.py: ModelParallelComponentPlacement, ModelParallelEvalComponentPlacement
  (examples/agent/searchr1/eval.py), MultiAgentModelParallelComponentPlacement and its Eval
  (examples/agent/wideseek_r1); rlinf/workers/rollout/utils.py.
- rlinf/config.py (validate_embodied_cfg, validate_offline_cfg, validate_cfg); the programs in
  examples/embodiment, examples/sft, examples/reward, examples/offline_rl and evaluations.
"""

from __future__ import annotations

from dataclasses import field, replace
from itertools import combinations
from typing import Callable, Mapping

from ....component import COLOCATED, DISJOINT, IN_ORDER, SUBSET, Component, Parallel, Relation
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.finding import Severity
from ....findings.span import Span
from ....findings.wording import with_noun
from ....job import HintedJob
from ....machines.cluster import Cluster
from ....parallel import UNDIVIDED
from ....planning.way import FrameworkArrangement, ProcessShape
from ....record import dataclass
from ..known import DEGREE, FSDP, INFERENCE, MEGATRON, SETTING
from .arrangement import APART, Arrangement, arrangement, check_arrangement, check_engine_tp, check_inference, relate
from .demands import (
    NEEDED,
    check_unused,
    correct_component_names,
    drop_critics,
    faulty_hints,
    need_components,
    need_programs,
    need_sections,
)
from .packing import (
    IGNORED,
    check_degrees,
    engine_degrees,
    fits_in,
    fits_whole,
    pack,
    packed_runs,
    raise_minimum,
    shape_of_rollout,
)  # fmt: skip
from .parts import (
    INFERRING,
    Extent,
    ModeState,
    ParallelSettings,
    Placer,
    degrees_in_section,
    inference_degrees,
    inferring,
    placer_of,
    rollout_degrees,
    sections_of_inference,
    task_of,
    trained_degrees,
)  # fmt: skip
from .ways import ROLES_OF_FSDP, arrangements, check_engine_weights, check_inference_weights, clear_degrees, shapes_of_choices

__all__ = ["Mode", "Placer", "read_mode", "with_own_degrees"]


def _model_parallel(parts: ModeState) -> None:
    """Apply the reasoning mode: actor and rollout share accelerators, are apart or take turns."""
    need_sections(parts, "actor.model", "rollout")
    actor, rollout = trained_degrees(parts.settings, "actor"), rollout_degrees(parts.settings)
    current_arrangement = arrangement(parts, actor, rollout)
    relate(parts, current_arrangement)
    if parts.plans_both:
        parts.ways += arrangements(parts, actor, rollout)
    check_arrangement(parts, current_arrangement, actor, rollout)
    clear_degrees(parts, *ROLES_OF_FSDP)
    _actor(parts, actor)
    shape = _rollout(parts, current_arrangement, actor, rollout)
    degrees = engine_degrees(rollout, shape)
    pack(parts, "rollout", shape, degrees)
    if current_arrangement is Arrangement.NONE or (shape is not None and degrees is None):
        _check_degrees_without_ranks(parts, rollout)
    if current_arrangement is Arrangement.DISAGGREGATED and "actor" not in parts.planned:
        check_engine_weights(parts, actor, rollout)
    if current_arrangement in APART:
        _inference(parts, current_arrangement)
    pack(parts, "reward", ProcessShape(), fills=True)
    if parts.has("critic"):
        degrees = trained_degrees(parts.settings, "critic").parallel
        pack(parts, "critic", ProcessShape(), degrees if parts.backend("critic") == MEGATRON else None)
    if current_arrangement is Arrangement.AUTO:
        _auto(parts)


def _check_degrees_without_ranks(parts: ModeState, rollout: ParallelSettings) -> None:
    """Check hinted degrees while the arrangement of actor and rollout is unknown.

    The degrees must be possible in either arrangement.
    """
    possible = {"rollout": [Parallel(rollout.tp.value, rollout.pp.value), Parallel(rollout.tp.value)]} if rollout.tp and rollout.pp else {}
    for name, role in INFERENCE.items():
        degrees = inference_degrees(parts.settings, role).parallel if parts.has(name) else None
        if degrees and parts.backend(role) == MEGATRON:
            possible[name] = [degrees]
    for name, candidates in possible.items():
        component = parts.on_accelerators(name) if parts.profiled else None
        if component and "placement" in component.spans:
            check_degrees(parts, component, candidates)


def _actor(parts: ModeState, degrees: ParallelSettings) -> None:
    """Pack the actor: its tensor parallel group must fit.

    Megatron needs whole replicas and fails without them.
    """
    backend, count = parts.backend("actor"), parts.count("actor")
    component = parts.components.get("actor") if backend == FSDP and parts.profiled else None
    if component:  # tp of an fsdp actor divides nothing
        parts.components["actor"] = replace(component, parallel=UNDIVIDED)
    pack(parts, "actor", ProcessShape(), degrees.parallel if backend == MEGATRON else None)
    # A plan keeps the stated tp, which may be a choice.
    if component and component.timed and parts.is_open("actor"):
        chosen = degrees.parallel if "actor" in parts.choices else None
        parts.components["actor"] = replace(parts.components["actor"], parallel=chosen or component.parallel)
    if backend == MEGATRON:
        _count_samples(parts, "actor")
    raise_minimum(parts, "actor", degrees.tp)
    if backend != MEGATRON and count is not None:
        fits_in(parts, "actor", degrees.tp, count)


def _rollout(parts: ModeState, current_arrangement: Arrangement, actor: ParallelSettings, rollout: ParallelSettings) -> ProcessShape | None:
    count, shares = parts.count("rollout"), current_arrangement is Arrangement.COLLOCATED
    if count is not None and not fits_in(parts, "rollout", rollout.tp, count, actor.tp):
        return None
    if current_arrangement is Arrangement.AUTO and count is not None and parts.settings.flag("cluster.use_pre_process_policy", DEGREE):
        actors = parts.count("actor") or 0
        if rollout.tp and not fits_whole(parts, "actor", actors, ProcessShape(rollout.tp.value), rollout.tp):
            return None
        return _with_actor(parts, shape_of_rollout(parts, False, actor, rollout, count + actors), count)
    if shares and rollout.pp and rollout.pp.value > 1:
        message = f"{rollout.pp.said} does nothing where actor and rollout share their accelerators: RLinf packs processes by tp alone"
        parts.warn(IGNORED, "rollout", message, "drop it", "ignored", rollout.pp.span)
    return None if current_arrangement is Arrangement.NONE else shape_of_rollout(parts, shares, actor, rollout, count)


def _with_actor(parts: ModeState, shape: ProcessShape | None, count: int) -> ProcessShape | None:
    """Return the shape of rollout if the share of rollout consists of whole engines.

    In auto mode rollout starts on the accelerators of the actor too, so it must also be launchable
    there.
    """
    extent = parts.extent("rollout")
    if (
        shape is None
        or extent is None
        or not packed_runs(parts, parts.components["rollout"], Extent(0, extent.last, extent.last + 1), shape)
    ):
        return None
    if not count % shape.block:
        return shape
    message = f"in auto mode RLinf starts `rollout` on 0-{extent.last}; its own share, {extent}, is no whole engines"
    parts.notes.info(IGNORED, "rollout", message, parts.place("rollout"), "at the start")
    return None


def _inference(parts: ModeState, current_arrangement: Arrangement) -> None:
    """Pack the inference components; in auto mode RLinf does not check their tp."""
    apart = current_arrangement is Arrangement.DISAGGREGATED
    if apart and "actor" not in parts.planned:
        need_sections(parts, *sections_of_inference(parts))
        check_inference_weights(parts)
    idle = {name for way in parts.ways for name in way.without}
    for name, role in INFERENCE.items():
        count = parts.count(name)
        judged = apart and parts.has(name) and not (name == "actor_inference" and parts.has("inference"))
        tp = inferring(parts.settings, role) if judged else None
        if count is not None:
            fits_in(parts, name, tp, count)
        divided = judged and parts.backend(role) == MEGATRON
        pack(parts, name, ProcessShape(), inference_degrees(parts.settings, role).parallel if divided else None)
        if divided:
            _count_samples(parts, name)
        # The trained component does the work in that arrangement, on its own accelerators.
        if not (name in idle and parts.has(role)):
            raise_minimum(parts, name, tp)


def _count_samples(parts: ModeState, name: str) -> None:
    """Store the samples per step of a planned component.

    They must divide among its replicas (see batches.py).
    """
    component = parts.components.get(name)
    if name not in parts.planned or not component or not component.timed or component.timed.samples:
        return
    prompts, group = (parts.settings.whole(path, DEGREE) for path in ("data.rollout_batch_size", "algorithm.group_size"))
    if prompts and group:
        parts.components[name] = replace(component, timed=replace(component.timed, samples=prompts.value * group.value))


def _auto(parts: ModeState) -> None:
    """Apply auto mode: all in order over the cluster; the file has the initial shares."""
    parts.relate(IN_ORDER, *filter(None, ("actor", "rollout", parts.first_of(*INFERRING))))
    actor, total = parts.extent("actor"), parts.cluster.total()
    if actor and actor.count < total:
        message = f"in auto mode RLinf starts `actor` on all {with_noun(total, 'accelerator')}; {actor} is its share at the start"
        parts.notes.info(IGNORED, "actor", message, parts.place("actor"), "at the start")


def _evaluation(parts: ModeState) -> None:
    """Apply reasoning evaluation: rollout and reward; other components stay as written."""
    need_sections(parts, "rollout")
    rollout, count = rollout_degrees(parts.settings), parts.count("rollout")
    shape = ProcessShape(rollout.tp.value) if rollout.tp else None
    if count:
        fits = fits_in(parts, "rollout", rollout.tp, count)
        shape = shape if fits and shape and fits_whole(parts, "rollout", count, shape, rollout.tp) else None
    pack(parts, "rollout", shape, engine_degrees(rollout, shape))
    pack(parts, "reward", ProcessShape(), fills=True)


SHARED = ("actor", "rollout", "reward", "inference")
"""Components that may share accelerators with others; all others are pairwise disjoint."""
JUDGE = "rollout_judge"


def _multi_agent(parts: ModeState) -> None:
    """Apply the multi-agent mode: several engines on the actor's accelerators."""
    need_sections(parts, "actor.model", "rollout")
    check_inference(parts, Arrangement.COLLOCATED)
    actor, rollout = trained_degrees(parts.settings, "actor"), rollout_degrees(parts.settings)
    count, trains = parts.count("rollout"), parts.count("actor")
    partly = count is not None and trains is not None and count < trains
    check_engine_tp(parts, True, actor.tp, rollout.tp, partly)
    parts.relate(COLOCATED, "actor", "reward")
    names = list(dict.fromkeys([*parts.written, *parts.components]))
    for name in names:
        if name.startswith("rollout"):
            parts.relate(SUBSET, name, "actor")
    for pair in combinations([name for name in names if name not in SHARED], 2):
        parts.relate(DISJOINT, *pair)
    pack(parts, "actor", ProcessShape(), actor.parallel if parts.backend("actor") == MEGATRON else None)
    shape = None
    if count is None or fits_in(parts, "rollout", rollout.tp, count, actor.tp):
        shape = shape_of_rollout(parts, True, actor, rollout, count)
    pack(parts, "rollout", shape, engine_degrees(rollout, shape))
    reward = parts.extent("reward")
    if reward is None or reward.solid:  # with holes it does not match the actor's accelerators
        pack(parts, "reward", ProcessShape())
    _judge(parts, shape)


def _multi_agent_evaluation(parts: ModeState) -> None:
    """Apply multi-agent evaluation: several engines without an actor.

    Planner and workers with engines of their own get one half of rollout each.
    """
    _evaluation(parts)
    rollout, count = parts.on_accelerators("rollout"), parts.count("rollout")
    _judge(parts, ProcessShape(rollout.per_process) if rollout else None)
    if not count or not parts.flag("rollout.use_fixed_worker"):
        return
    for section, usual in (("rollout", 1), ("rollout_fixed_worker", None)):
        tp = parts.settings.whole(f"{section}.tensor_parallel_size", DEGREE, usual)
        if tp and not fits_whole(parts, "rollout", count, ProcessShape(2 * tp.value), tp):
            return


def _judge(parts: ModeState, shape: ProcessShape | None) -> None:
    """Pack the judge's engines like rollout's; the judge's degrees must divide its share."""
    if not parts.flag("agentloop.use_local_judge"):
        return
    need_components(parts, JUDGE)
    extent = parts.extent(JUDGE)
    if extent and shape and not fits_whole(parts, JUDGE, extent.size, shape):
        shape = None
    for key in ("tensor_parallel_size", "pipeline_parallel_size", "dp_size"):
        degree = parts.settings.whole(f"{JUDGE}.{key}", DEGREE)
        if extent and degree and shape and not fits_whole(parts, JUDGE, extent.size, ProcessShape(degree.value), degree):
            shape = None
    pack(parts, JUDGE, shape, fills=True)


def _hybrid(parts: ModeState) -> None:
    """Apply the embodied mode: components stay as written."""
    clear_degrees(parts, "actor")
    is_faulty = any(finding.severity is Severity.ERROR for finding in parts.notes.findings)
    # Otherwise the file may place more components than were read.
    if not parts.notes.partial and (parts.written or not is_faulty):
        need_programs(parts)


_APPLY: Mapping[Placer, Callable[[ModeState], None]] = {
    Placer.HYBRID: _hybrid,
    Placer.MODEL_PARALLEL: _model_parallel,
    Placer.MODEL_PARALLEL_EVAL: _evaluation,
    Placer.MULTI_AGENT: _multi_agent,
    Placer.MULTI_AGENT_EVAL: _multi_agent_evaluation,
}


def with_own_degrees(settings: Settings, said: HintedJob, is_planned: bool) -> HintedJob:
    """Return components of embodied jobs with the file's own degrees, where hints leave them open.

    RLinf starts explicit ranks with these degrees; of open degrees they come first. In a planned
    job they also hold for components with times for these degrees only. Other modes read the
    degrees themselves.
    """
    if placer_of(settings, settings.word("runner.task_type", SETTING) or "") is not Placer.HYBRID:
        return said
    own_degrees = {name: degrees_in_section(settings, name) or offered[0] for name, offered in said.choices.items()}
    for component in said.components if is_planned else ():
        degrees = degrees_in_section(settings, component.name) if component.timed and "parallel" not in component.spans else None
        rows = component.timed.measured if component.timed and degrees else ()
        if degrees and any(row.holds_with(degrees) for row in rows) and not any(row.holds_with(component.parallel) for row in rows):
            own_degrees[component.name] = degrees
    choices = {name: tuple(sorted(offered, key=lambda parallel: parallel != own_degrees[name])) for name, offered in said.choices.items()}
    components = tuple(replace(component, parallel=own_degrees.get(component.name, component.parallel)) for component in said.components)
    return replace(said, components=components, choices=choices)


@dataclass(frozen=True)
class Mode:
    """Result of a mode: its components, and further demands.

    Attributes
    ----------
    task : task of the job; "" if unknown.
    shaped : components with degrees fixed by the settings of the job.
    placed : names of all components, unreadable ones included.
    owner : span of `component_placement`.
    ways : arrangements that are left to a plan.
    shapes : shape of the processes per component and choice of its degrees.
    """

    task: str
    placer: Placer
    components: tuple[Component, ...]
    relations: tuple[Relation, ...]
    shaped: frozenset[str]
    placed: frozenset[str]
    owner: Span
    ways: tuple[FrameworkArrangement, ...] = ()
    shapes: Mapping[str, Mapping[Parallel, ProcessShape]] = field(default_factory=dict)

    @property
    def packs(self) -> bool:
        """True if processes are packed into contiguous ranges, so process ranks are not written."""
        return self.placer is not Placer.HYBRID


def read_mode(
    notes: Notes, settings: Settings, cluster: Cluster, written: dict[str, Span], owner: Span, said: HintedJob, planned: frozenset[str],
    profiled: bool,
) -> Mode:  # fmt: skip
    """Return the components by the rules of the task's placement class.

    The parameters are those of `ModeState`.
    """
    task = task_of(notes, settings)
    placer = placer_of(settings, task)
    known = {component.name: component for component in said.components}
    if placer is Placer.MODEL_PARALLEL:
        drop_critics(notes, settings, known, written)
    choices = dict(said.choices) if profiled else {}
    parts = ModeState(
        notes, settings, cluster, task, placer, known, written, owner, said.relations, planned, choices, profiled, said.choices
    )
    parts.faulty = faulty_hints(parts)
    correct_component_names(parts)
    check_unused(parts)
    need_components(parts, *NEEDED.get(placer, ()))
    _APPLY[placer](parts)
    shaped = frozenset(
        component.name
        for component in said.components
        if parts.components.get(component.name, component).parallel != component.parallel
        and not (component.timed and component.name in parts.choices)
    )
    relations, placed = (*said.relations, *parts.relations), frozenset((*written, *parts.components))
    shapes = shapes_of_choices(parts) if parts.ways or placer is Placer.HYBRID else {}
    return Mode(task, placer, tuple(parts.components.values()), relations, shaped, placed, owner, tuple(parts.ways), shapes)
