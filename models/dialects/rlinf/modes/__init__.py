"""Modes of RLinf: what its placement classes demand of the components.

Sources in RLinf:

- rlinf/utils/placement.py, ModelParallelComponentPlacement.
- rlinf/utils/placement.py, ModelParallelEvalComponentPlacement; examples/agent/searchr1/eval.py, which alone uses it.
- rlinf/utils/placement.py, MultiAgentModelParallelComponentPlacement and its Eval; rlinf/workers/rollout/utils.py
  (DisaggRankMapper); examples/agent/wideseek_r1.
- rlinf/config.py (validate_embodied_cfg, validate_offline_cfg, validate_cfg); the programs in examples/embodiment,
  examples/sft, examples/reward, examples/offline_rl and evaluations.
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
from ....findings.wording import are, with_noun
from ....machines.cluster import Cluster
from ....planning.way import Shape, Way
from ....record import dataclass
from ....said import Said
from ..known import DEGREE, FSDP, INFERENCE, MEGATRON, SETTING
from .arrangement import Arrangement, arrangement, relate
from .demands import (
    NEEDED,
    STARTED,
    check_critic,
    check_engine_tp,
    check_inference,
    check_pipeline,
    check_unused,
    drop_critics,
    need_components,
    need_sections,
    take_as_meant,
    with_faults,
)
from .packing import (
    IGNORED,
    Packing,
    at_least,
    degrees_without_ranks,
    engine_degrees,
    extent,
    fits_in,
    fits_whole,
    fitting_tp,
    of_rollout,
    other_degrees,
    pack,
    packed,
)
from .parts import (
    Degrees,
    Extent,
    Parts,
    Placer,
    generating,
    inferred,
    inferring,
    own_of,
    placer_of,
    sections_of_inference,
    task_of,
    trained,
)
from .ways import ROLES_OF_FSDP, arrangements, check_unread_tp, of_choices, of_undivided, pack_undivided, undivide_untimed
from .weights import check_engine_weights, check_inference_weights


def apply_model_parallel(parts: Parts) -> None:
    """All that the mode says of the components."""
    need_components(parts, *NEEDED[parts.placer])
    need_sections(parts, "actor.model", "rollout")
    actor, rollout = trained(parts.settings, "actor"), generating(parts.settings)
    found = arrangement(parts, actor, rollout)
    relate(parts, found)
    if {"actor", "rollout"} <= parts.planned:
        parts.ways += arrangements(parts, actor, rollout)
    check_inference(parts, found)
    check_critic(parts, found)
    check_pipeline(parts, found)
    check_engine_tp(parts, found, actor.tp, rollout.tp, _count(parts, "rollout"))
    undivide_untimed(parts, *ROLES_OF_FSDP)
    backend = parts.settings.word("actor.training_backend", DEGREE)
    _actor(parts, actor, backend)
    shape = _rollout(parts, found, actor, rollout)
    pack(parts, "rollout", shape, degrees := engine_degrees(rollout, shape))
    if found is Arrangement.NONE or (shape is not None and degrees is None):
        _without_ranks(parts, rollout)
    _weights(parts, found, actor, rollout)
    _inference(parts, found)
    pack(parts, "reward", Packing(), fills=True)
    if parts.has("critic"):
        its = trained(parts.settings, "critic").parallel
        trains = parts.settings.word("critic.training_backend", DEGREE) == MEGATRON
        pack(parts, "critic", Packing(), its if trains else None)
    if found is Arrangement.AUTO:
        _auto(parts)


def _without_ranks(parts: Parts, rollout: Degrees) -> None:
    """What can be said of degrees where it is not known how actor and rollout lie to each other: what they are in either case."""
    if rollout.tp and rollout.pp:
        possible = (Parallel(rollout.tp.value, rollout.pp.value), Parallel(rollout.tp.value))
        degrees_without_ranks(parts, "rollout", possible, "whether it shares the accelerators of `actor`, and on which nodes that is")
    for name, role in INFERENCE.items():
        its = inferred(parts.settings, role).parallel if parts.has(name) else None
        if its and parts.settings.word(f"{role}.training_backend", DEGREE) == MEGATRON:
            degrees_without_ranks(parts, name, (its,), "")


def _count(parts: Parts, name: str) -> int | None:
    found = extent(parts, name)
    return found.count if found else None


def _actor(parts: Parts, its: Degrees, backend: str | None) -> None:
    """Its tensor parallel group must fit; whole replicas matter to megatron, which fails without them, not to fsdp."""
    count = _count(parts, "actor")
    if backend == FSDP and parts.profiled and its.parallel:
        pack_undivided(parts, "actor", its.parallel)
    else:
        offered = parts.offered.get("actor", ())
        if backend == FSDP and its.parallel and offered and all(each.tp != its.parallel.tp for each in offered):
            other_degrees(parts, parts.components["actor"], (its.parallel,))
        pack(parts, "actor", Packing(), its.parallel if backend == MEGATRON else None)
    if backend == MEGATRON and "actor" in parts.planned:
        _sampled(parts, "actor")  # among how many replicas depends on degrees that hints may leave open
    at_least(parts, "actor", its.tp)
    if backend == MEGATRON or count is None or not fits_in(parts, "actor", its.tp, count, count) or backend == "fsdp" or backend is None:
        return
    parallel = its.parallel or Parallel()
    if count % parallel.replica:
        message = f"the {with_noun(count, 'accelerator')} of `actor` {are(count)} no multiple of tp x pp x cp = {parallel.replica}"
        parts.notes.warn(DEGREE, "actor", message, parts.place("actor"), "", "give it a multiple, if it trains with megatron")


def _rollout(parts: Parts, found: Arrangement, actor: Degrees, its: Degrees) -> Packing | None:
    count = _count(parts, "rollout")
    if count is not None and not fits_in(parts, "rollout", its.tp, count, fitting_tp(parts, found, actor.tp, count, count)):
        return None
    if found is Arrangement.AUTO and count is not None and parts.settings.flag("cluster.use_pre_process_policy", DEGREE):
        actors = _count(parts, "actor") or 0
        if its.tp and not fits_whole(parts, "actor", actors, Packing(its.tp.value), its.tp):
            return None
        return _with_actor(parts, of_rollout(parts, found, actor, its, count + actors), count)
    if found is Arrangement.COLLOCATED and its.pp and its.pp.value > 1:
        message = f"{its.pp.said} does nothing where actor and rollout share their accelerators: RLinf packs processes by tp alone"
        parts.notes.warn(IGNORED, "rollout", message, its.pp.span or parts.place("rollout"), "ignored", "drop it", None)
    return of_rollout(parts, found, actor, its, count)


def _weights(parts: Parts, found: Arrangement, actor: Degrees, its: Degrees) -> None:
    counts = _count(parts, "rollout"), _count(parts, "actor")
    if found is Arrangement.DISAGGREGATED and counts[0] and counts[1] and "actor" not in parts.planned:
        check_engine_weights(parts, actor, its, (counts[0], counts[1]))


def _with_actor(parts: Parts, shape: Packing | None, count: int) -> Packing | None:
    """Rollout that starts on the actor's accelerators too: there it must be launched; the shape of its own share, if that is whole."""
    found = extent(parts, "rollout")
    if shape is None or found is None or not packed(parts, parts.components["rollout"], Extent(0, found.last, found.last + 1), shape):
        return None
    if not count % shape.block:
        return shape
    message = f"in auto mode RLinf starts `rollout` on 0-{found.last}; its own share, {found}, is no whole engines"
    parts.notes.info(IGNORED, "rollout", message, parts.place("rollout"), "at the start")
    return None


def _inference(parts: Parts, found: Arrangement) -> None:
    """Each inference component is packed; in auto mode RLinf does not look whether its tp fits."""
    if found not in (Arrangement.DISAGGREGATED, Arrangement.AUTO):
        return
    if found is Arrangement.DISAGGREGATED and "actor" not in parts.planned:  # see ways.py
        need_sections(parts, *sections_of_inference(parts))
        check_inference_weights(parts)
    for name, role in INFERENCE.items():
        count = _count(parts, name)
        shadowed = name == "actor_inference" and parts.has("inference")
        judged = found is Arrangement.DISAGGREGATED and not shadowed and parts.has(name)
        tp = inferring(parts.settings, role) if judged else None
        if count is not None:
            fits_in(parts, name, tp, count, count)
        divided = judged and parts.settings.word(f"{role}.training_backend", DEGREE) == MEGATRON
        pack(parts, name, Packing(), inferred(parts.settings, role).parallel if divided else None)
        if divided and name in parts.planned:
            _sampled(parts, name)
        if parts.worker_of_idle(name) is None:  # there what trains does its work, on whatever that has
            at_least(parts, name, tp)


def _sampled(parts: Parts, name: str) -> None:
    """The samples of a step, which divide among the replicas of a component that is planned (see work/batches.py)."""
    prompts, group = (parts.settings.whole(path, DEGREE) for path in ("data.rollout_batch_size", "algorithm.group_size"))
    its = parts.components[name]
    if its.timed and not its.timed.samples and prompts and group:
        parts.components[name] = replace(its, timed=replace(its.timed, samples=prompts.value * group.value))


def _auto(parts: Parts) -> None:
    """Everything in order over the whole cluster; what is written is the share at the start."""
    inference = parts.first_of("inference", "actor_inference")
    parts.relate(IN_ORDER, *filter(None, ("actor", "rollout", inference)))
    actor = extent(parts, "actor")
    if actor and actor.count < parts.cluster.total():
        message = (
            f"in auto mode RLinf starts `actor` on all {with_noun(parts.cluster.total(), 'accelerator')}; {actor} is its share at the start"
        )
        parts.notes.info(IGNORED, "actor", message, parts.place("actor"), "at the start")


def apply_evaluation(parts: Parts) -> None:
    """All that the mode says of the components; those that it does not know stay as they are written."""
    need_components(parts, *NEEDED[parts.placer])
    need_sections(parts, "rollout")
    its, found = generating(parts.settings), extent(parts, "rollout")
    shape = Packing(its.tp.value) if its.tp else None
    if found:
        most = fitting_tp(parts, Arrangement.COLLOCATED, None, found.count, found.count)
        fits = fits_in(parts, "rollout", its.tp, found.count, most)
        shape = shape if fits and shape and fits_whole(parts, "rollout", found.count, shape, its.tp) else None
    pack(parts, "rollout", shape, engine_degrees(its, shape))
    pack(parts, "reward", Packing(), fills=True)


SHARED = ("actor", "rollout", "reward", "inference")
"""Components that may lie on the accelerators of others; all others keep apart from each other."""

JUDGE = "rollout_judge"


def apply_multi_agent(parts: Parts) -> None:
    """All that the mode says of the components of a training job."""
    need_components(parts, *NEEDED[parts.placer])
    need_sections(parts, "actor.model", "rollout")
    check_inference(parts, Arrangement.COLLOCATED)
    actor, its = trained(parts.settings, "actor"), generating(parts.settings)
    found, trains = extent(parts, "rollout"), extent(parts, "actor")
    partly = found is not None and trains is not None and found.count < trains.count
    check_engine_tp(parts, Arrangement.COLLOCATED, actor.tp, its.tp, found.count if found else None, partly)
    parts.relate(COLOCATED, "actor", "reward")
    names = dict.fromkeys([*parts.written, *parts.components])
    for name in names:
        if name.startswith("rollout"):
            parts.relate(SUBSET, name, "actor")
    for pair in combinations([name for name in names if name not in SHARED], 2):
        parts.relate(DISJOINT, *pair)
    megatron = parts.settings.word("actor.training_backend", DEGREE) == MEGATRON
    pack(parts, "actor", Packing(), actor.parallel if megatron else None)
    shape = None
    if found is None or fits_in(
        parts, "rollout", its.tp, found.count, fitting_tp(parts, Arrangement.COLLOCATED, actor.tp, found.count, found.count)
    ):
        shape = of_rollout(parts, Arrangement.COLLOCATED, actor, its, found.count if found else None)
    pack(parts, "rollout", shape, engine_degrees(its, shape))
    reward = extent(parts, "reward")
    if reward is None or reward.solid:  # with holes it is not where the actor is, whatever is made of it
        pack(parts, "reward", Packing())
    _judge(parts, shape)


def apply_multi_agent_evaluation(parts: Parts) -> None:
    """All that the mode says of the components of a job that only evaluates."""
    apply_evaluation(parts)
    rollout = parts.on_accelerators("rollout")
    _judge(parts, Packing(rollout.per_process) if rollout else None)
    _halves(parts)


def _judge(parts: Parts, shape: Packing | None) -> None:
    """The judge's engines are packed as those of rollout, and must be whole by its own degrees."""
    if not parts.settings.flag("agentloop.use_local_judge", SETTING):
        return
    need_components(parts, JUDGE)
    found = extent(parts, JUDGE)
    if found and shape and not fits_whole(parts, JUDGE, found.size, shape):
        shape = None
    for key in ("tensor_parallel_size", "pipeline_parallel_size", "dp_size"):
        degree = parts.settings.whole(f"{JUDGE}.{key}", DEGREE)
        if found and degree and shape:
            shape = shape if fits_whole(parts, JUDGE, found.size, Packing(degree.value), degree) else None
    pack(parts, JUDGE, shape, fills=True)


def _halves(parts: Parts) -> None:
    """Planner and workers with engines of their own get one half of rollout each."""
    found = extent(parts, "rollout")
    if not found or not parts.settings.flag("rollout.use_fixed_worker", SETTING):
        return
    for section in ("rollout", "rollout_fixed_worker"):
        tp = parts.settings.whole(f"{section}.tensor_parallel_size", DEGREE, 1 if section == "rollout" else None)
        if tp and found.count % (2 * tp.value):
            fits_whole(parts, "rollout", found.count, Packing(2 * tp.value), tp)
            return


TRAINED = ("actor", "rollout")
"""Those that the embodied programs ask for besides, but for the ones that collect data or evaluate."""


def with_own_degrees(settings: Settings, said: Said, planned: bool) -> Said:
    """Where hints leave degrees open a component has those that the file itself says, whether or not the hints offer them.

    RLinf starts its ranks with these, not with what is preferred; of those that are open they are the first. Where ranks are `planned`
    and hints say no degrees, a component all of whose times are of those of the file has these too. The other modes read the degrees
    themselves, and make them those of the components.
    """
    if placer_of(settings, settings.word("runner.task_type", SETTING) or "") is not Placer.HYBRID:
        return said
    own = {name: own_of(settings, name, its) or its[0] for name, its in said.choices.items()}
    own |= {each.name: its for each in said.components if planned and (its := _measured(settings, each)) is not None}
    choices = {name: tuple(sorted(its, key=lambda each: each != own[name])) for name, its in said.choices.items()}
    components = tuple(replace(each, parallel=own.get(each.name, each.parallel)) for each in said.components)
    return replace(said, components=components, choices=choices)


def _measured(settings: Settings, component: Component) -> Parallel | None:
    """The degrees of the file, of a component that has times with these, and none with those that the hints say of it, which are none."""
    its = own_of(settings, component.name, (component.parallel,))
    if its is None or component.timed is None or "parallel" in component.spans:
        return None
    said, own = (any(each.holds_with(degrees) for each in component.timed.measured) for degrees in (component.parallel, its))
    return its if own and not said else None


def apply_hybrid(parts: Parts) -> None:
    """An error for each component that every program starts and that is not placed, a warning for those that training starts."""
    notes, task = parts.notes, parts.task
    check_unread_tp(parts)
    if notes.partial or (not parts.written and any(finding.severity is Severity.ERROR for finding in notes.findings)):
        return  # more may be placed than could be read
    names = STARTED.get(task, ())
    if task == "offline" and _evaluates(parts):
        names += ("env", "rollout")
    for name in names:
        if not parts.has(name):
            message = f"`{name}` is not placed, but every program of task `{task}` asks for its place"
            notes.error(SETTING, name, message, parts.owner, f"no `{name}`", f"add a line for `{name}`, such as `{name}: all`")
    trains = task == "embodied" and parts.settings.has("actor.training_backend") and not parts.settings.flag("runner.only_eval", SETTING)
    for name in TRAINED if trains else ():
        if not parts.has(name):
            message = f"`{name}` is not placed, but the programs that train ask for its place"
            notes.warn(SETTING, name, message, parts.owner, f"no `{name}`", f"add a line for `{name}`, such as `{name}: all`")


def _evaluates(parts: Parts) -> bool:
    interval = parts.settings.whole("runner.val_check_interval", SETTING, -1, least=-(10**9))
    return bool(interval and interval.value > 0) or bool(parts.settings.flag("runner.only_eval", SETTING))


_APPLY: Mapping[Placer, Callable[[Parts], None]] = {
    Placer.HYBRID: apply_hybrid,
    Placer.MODEL_PARALLEL: apply_model_parallel,
    Placer.MODEL_PARALLEL_EVAL: apply_evaluation,
    Placer.MULTI_AGENT: apply_multi_agent,
    Placer.MULTI_AGENT_EVAL: apply_multi_agent_evaluation,
}


@dataclass(frozen=True)
class Mode:
    """What a mode made of the components, and what it demands besides. `task` is "" where it is not known.

    `placed` are the names of all components, also of those that could not be read; `ways` the arrangements that are left to a plan.
    """

    task: str
    placer: Placer
    components: tuple[Component, ...]
    relations: tuple[Relation, ...]
    shaped: frozenset[str]
    """Components whose degrees the settings of the job fix."""
    placed: frozenset[str]
    owner: Span
    """Where `component_placement` stands."""
    ways: tuple[Way, ...] = ()
    shapes: Mapping[str, Mapping[Parallel, Shape]] = field(default_factory=dict)
    """The processes of components by themselves with each choice of their degrees."""

    @property
    def packs(self) -> bool:
        """Are processes packed into solid ranges, so that process ranks are not written?"""
        return self.placer is not Placer.HYBRID


def read_mode(
    notes: Notes,
    settings: Settings,
    cluster: Cluster,
    written: dict[str, Span],
    owner: Span,
    components: tuple[Component, ...],
    hinted: tuple[Relation, ...],
    planned: frozenset[str] = frozenset(),
    choices: Mapping[str, tuple[Parallel, ...]] | None = None,
    profiled: bool = False,
) -> Mode:
    """The components as the task's placement class has them. `written`, `owner` and what follows are those of `Parts`."""
    task = task_of(notes, settings)
    placer = placer_of(settings, task)
    known = {each.name: each for each in components}
    if placer is Placer.MODEL_PARALLEL:
        drop_critics(notes, settings, known, written)
    open_ = choices if profiled and choices else {}
    parts = Parts(notes, settings, cluster, task, placer, known, written, owner, hinted, planned, open_, profiled, choices or {})
    parts.faulty = with_faults(notes, settings, parts)
    take_as_meant(parts)
    check_unused(parts)
    if placer in _APPLY:
        _APPLY[placer](parts)
    shaped = frozenset(
        each.name
        for each in components
        if parts.components.get(each.name, each).parallel != each.parallel and not (each.timed and each.name in parts.choices)
    )
    return Mode(
        task,
        placer,
        tuple(parts.components.values()),
        (*hinted, *parts.relations),
        shaped,
        frozenset((*written, *parts.components)),
        owner,
        tuple(parts.ways),
        of_choices(parts) if parts.ways else of_undivided(parts) if placer is Placer.HYBRID else {},
    )


__all__ = ["Mode", "Placer", "read_mode"]
