"""The mode of the multi-agent tasks: several engines share out the accelerators of one actor.

Source: RLinf, rlinf/utils/placement.py, MultiAgentModelParallelComponentPlacement and its Eval; rlinf/workers/rollout/utils.py
(DisaggRankMapper); examples/agent/wideseek_r1.
"""

from __future__ import annotations

from itertools import combinations

from ....component import COLOCATED, DISJOINT, SUBSET
from . import evaluation, presence
from .arrangement import Arrangement
from .degrees import generating, trained
from .fitting_tp import fitting_tp
from .model_parallel import MEGATRON
from .pack import extent, pack
from .parts import Parts
from .shape import CODE, Shape, engine, fits_in, of_rollout, whole

SHARED = ("actor", "rollout", "reward", "inference")
"""Components that may lie on the accelerators of others; all others keep apart from each other."""

JUDGE = "rollout_judge"


def apply(parts: Parts) -> None:
    """All that the mode says of the components of a training job."""
    presence.needed(parts, "actor", "rollout", "reward")
    presence.sections(parts, "actor.model", "rollout")
    presence.log_probabilities(parts)
    presence.inference(parts, Arrangement.COLLOCATED)
    actor, its = trained(parts.settings, "actor"), generating(parts.settings)
    found, trains = extent(parts, "rollout"), extent(parts, "actor")
    partly = found is not None and trains is not None and found.count < trains.count
    presence.engine_within_actor(parts, Arrangement.COLLOCATED, actor.tp, its.tp, found.count if found else None, partly)
    evaluation.agents_fit(parts, its)
    parts.relate(COLOCATED, "actor", "reward")
    names = dict.fromkeys([*parts.written, *parts.components])
    for name in names:
        if name.startswith("rollout"):
            parts.relate(SUBSET, name, "actor")
    for pair in combinations([name for name in names if name not in SHARED], 2):
        parts.relate(DISJOINT, *pair)
    megatron = parts.settings.word("actor.training_backend", CODE) == MEGATRON
    pack(parts, "actor", Shape(), actor.parallel if megatron else None)
    shape = None
    if found is None or fits_in(
        parts, "rollout", its.tp, found.count, fitting_tp(parts, Arrangement.COLLOCATED, actor.tp, found.count, found.count)
    ):
        shape = of_rollout(parts, Arrangement.COLLOCATED, actor, its, found.count if found else None)
    pack(parts, "rollout", shape, engine(its, shape))
    reward = extent(parts, "reward")
    if reward is None or reward.solid:  # with holes it is not where the actor is, whatever is made of it
        pack(parts, "reward", Shape())
    _judge(parts, shape)


def evaluate(parts: Parts) -> None:
    """All that the mode says of the components of a job that only evaluates."""
    evaluation.apply(parts)
    rollout = parts.on_accelerators("rollout")
    _judge(parts, Shape(rollout.per_process) if rollout else None)
    _halves(parts)


def _judge(parts: Parts, shape: Shape | None) -> None:
    """The judge's engines are packed as those of rollout, and must be whole by its own degrees."""
    if not parts.settings.flag("agentloop.use_local_judge", presence.CODE):
        return
    presence.needed(parts, JUDGE)
    found = extent(parts, JUDGE)
    if found and shape and not whole(parts, JUDGE, found.size, shape):
        shape = None
    for key in ("tensor_parallel_size", "pipeline_parallel_size", "dp_size"):
        degree = parts.settings.whole(f"{JUDGE}.{key}", CODE)
        if found and degree and shape:
            shape = shape if whole(parts, JUDGE, found.size, Shape(degree.value), degree) else None
    pack(parts, JUDGE, shape, fills=True)


def _halves(parts: Parts) -> None:
    """Planner and workers with engines of their own get one half of rollout each."""
    found = extent(parts, "rollout")
    if not found or not parts.settings.flag("rollout.use_fixed_worker", presence.CODE):
        return
    for section in ("rollout", "rollout_fixed_worker"):
        tp = parts.settings.whole(f"{section}.tensor_parallel_size", CODE, 1 if section == "rollout" else None)
        if tp and found.count % (2 * tp.value):
            whole(parts, "rollout", found.count, Shape(2 * tp.value), tp)
            return
