"""The mode of the reasoning and coding tasks: actor and rollout share all their accelerators, or none.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement.
"""

from __future__ import annotations

from dataclasses import replace

from ....component import IN_ORDER, Parallel
from ....findings.wording import are, with_noun
from . import presence
from .arrangement import Arrangement, arrangement, relate
from .degrees import INFERENCE, Degrees, generating, inferred, inferring, sections_of_inference, trained
from .fitting_tp import fitting_tp
from .handing_on import handing_on
from .pack import IGNORED, degrees_without_ranks, extent, other_degrees, pack, packed
from .parts import Parts
from .shape import CODE, Shape, at_least, engine, fits_in, of_rollout, whole
from .solid import Extent
from .undivided import FSDP, ROLES, undivided, without_times
from .ways import ways
from .weights import weights

MEGATRON = "megatron"


def apply(parts: Parts) -> None:
    """All that the mode says of the components."""
    presence.needed(parts, "actor", "rollout", "reward")
    presence.sections(parts, "actor.model", "rollout")
    presence.log_probabilities(parts)
    actor, rollout = trained(parts.settings, "actor"), generating(parts.settings)
    found = arrangement(parts, actor, rollout)
    relate(parts, found)
    if {"actor", "rollout"} <= parts.planned:
        parts.ways += ways(parts, actor, rollout)
    presence.inference(parts, found)
    presence.critic(parts, found)
    presence.pipeline(parts, found)
    presence.engine_within_actor(parts, found, actor.tp, rollout.tp, _count(parts, "rollout"))
    without_times(parts, *ROLES)
    backend = parts.settings.word("actor.training_backend", CODE)
    _actor(parts, actor, backend)
    shape = _rollout(parts, found, actor, rollout)
    pack(parts, "rollout", shape, degrees := engine(rollout, shape))
    if found is Arrangement.NONE or (shape is not None and degrees is None):
        _without_ranks(parts, rollout)
    _weights(parts, found, actor, rollout)
    _inference(parts, found)
    pack(parts, "reward", Shape(), fills=True)
    if parts.has("critic"):
        its = trained(parts.settings, "critic").parallel
        trains = parts.settings.word("critic.training_backend", CODE) == MEGATRON
        pack(parts, "critic", Shape(), its if trains else None)
    if found is Arrangement.AUTO:
        _auto(parts)


def _without_ranks(parts: Parts, rollout: Degrees) -> None:
    """What can be said of degrees where it is not known how actor and rollout lie to each other: what they are in either case."""
    if rollout.tp and rollout.pp:
        possible = (Parallel(rollout.tp.value, rollout.pp.value), Parallel(rollout.tp.value))
        degrees_without_ranks(parts, "rollout", possible, "whether it shares the accelerators of `actor`, and on which nodes that is")
    for name, role in INFERENCE.items():
        its = inferred(parts.settings, role).parallel if parts.has(name) else None
        if its and parts.settings.word(f"{role}.training_backend", CODE) == MEGATRON:
            degrees_without_ranks(parts, name, (its,), "")


def _count(parts: Parts, name: str) -> int | None:
    found = extent(parts, name)
    return found.count if found else None


def _actor(parts: Parts, its: Degrees, backend: str | None) -> None:
    """Its tensor parallel group must fit; whole replicas matter to megatron, which fails without them, not to fsdp."""
    count = _count(parts, "actor")
    if backend == FSDP and parts.profiled and its.parallel:
        undivided(parts, "actor", its.parallel)
    else:
        offered = parts.offered.get("actor", ())
        if backend == FSDP and its.parallel and offered and all(each.tp != its.parallel.tp for each in offered):
            other_degrees(parts, parts.components["actor"], (its.parallel,))
        pack(parts, "actor", Shape(), its.parallel if backend == MEGATRON else None)
    if backend == MEGATRON and "actor" in parts.planned:
        _sampled(parts, "actor")  # among how many replicas depends on degrees that hints may leave open
    at_least(parts, "actor", its.tp)
    if backend == MEGATRON or count is None or not fits_in(parts, "actor", its.tp, count, count) or backend == "fsdp" or backend is None:
        return
    parallel = its.parallel or Parallel()
    if count % parallel.replica:
        message = f"the {with_noun(count, 'accelerator')} of `actor` {are(count)} no multiple of tp x pp x cp = {parallel.replica}"
        parts.notes.warn(CODE, "actor", message, parts.place("actor"), "", "give it a multiple, if it trains with megatron")


def _rollout(parts: Parts, found: Arrangement, actor: Degrees, its: Degrees) -> Shape | None:
    count = _count(parts, "rollout")
    if count is not None and not fits_in(parts, "rollout", its.tp, count, fitting_tp(parts, found, actor.tp, count, count)):
        return None
    if found is Arrangement.AUTO and count is not None and parts.settings.flag("cluster.use_pre_process_policy", CODE):
        actors = _count(parts, "actor") or 0
        if its.tp and not whole(parts, "actor", actors, Shape(its.tp.value), its.tp):
            return None
        return _with_actor(parts, of_rollout(parts, found, actor, its, count + actors), count)
    if found is Arrangement.COLLOCATED and its.pp and its.pp.value > 1:
        message = f"{its.pp.said} does nothing where actor and rollout share their accelerators: RLinf packs processes by tp alone"
        parts.notes.warn(IGNORED, "rollout", message, its.pp.span or parts.place("rollout"), "ignored", "drop it", None)
    return of_rollout(parts, found, actor, its, count)


def _weights(parts: Parts, found: Arrangement, actor: Degrees, its: Degrees) -> None:
    counts = _count(parts, "rollout"), _count(parts, "actor")
    if found is Arrangement.DISAGGREGATED and counts[0] and counts[1] and "actor" not in parts.planned:
        weights(parts, actor, its, (counts[0], counts[1]))


def _with_actor(parts: Parts, shape: Shape | None, count: int) -> Shape | None:
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
        presence.sections(parts, *sections_of_inference(parts))
        handing_on(parts)
    for name, role in INFERENCE.items():
        count = _count(parts, name)
        shadowed = name == "actor_inference" and parts.has("inference")
        judged = found is Arrangement.DISAGGREGATED and not shadowed and parts.has(name)
        tp = inferring(parts.settings, role) if judged else None
        if count is not None:
            fits_in(parts, name, tp, count, count)
        divided = judged and parts.settings.word(f"{role}.training_backend", CODE) == MEGATRON
        pack(parts, name, Shape(), inferred(parts.settings, role).parallel if divided else None)
        if divided and name in parts.planned:
            _sampled(parts, name)
        if parts.worker_of_idle(name) is None:  # there what trains does its work, on whatever that has
            at_least(parts, name, tp)


def _sampled(parts: Parts, name: str) -> None:
    """The samples of a step, which divide among the replicas of a component that is planned (see work/batches.py)."""
    prompts, group = (parts.settings.whole(path, CODE) for path in ("data.rollout_batch_size", "algorithm.group_size"))
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
