"""The mode of the reasoning tasks that only evaluate: rollout and reward, nothing trained.

Source: RLinf, rlinf/utils/placement.py, ModelParallelEvalComponentPlacement; examples/agent/searchr1/eval.py, which alone uses it.
"""

from __future__ import annotations

from . import presence
from .arrangement import Arrangement
from .degrees import Degrees, generating
from .fitting_tp import fitting_tp
from .pack import extent, pack
from .parts import Parts
from .shape import CODE, Shape, engine, fits_in, whole


def apply(parts: Parts) -> None:
    """All that the mode says of the components; those that it does not know stay as they are written."""
    presence.needed(parts, "rollout", "reward")
    presence.sections(parts, "rollout")
    its, found = generating(parts.settings), extent(parts, "rollout")
    agents_fit(parts, its)
    shape = Shape(its.tp.value) if its.tp else None
    if found:
        most = fitting_tp(parts, Arrangement.COLLOCATED, None, found.count, found.count)
        fits = fits_in(parts, "rollout", its.tp, found.count, most)
        shape = shape if fits and shape and whole(parts, "rollout", found.count, shape, its.tp) else None
    pack(parts, "rollout", shape, engine(its, shape))
    pack(parts, "reward", Shape(), fills=True)


def agents_fit(parts: Parts, its: Degrees) -> None:
    """The programs with agents start as many of them as rollout has processes, and assert that these are its replicas of tp x pp."""
    if its.tp and its.pp and its.pp.value > 1 and parts.has("rollout"):
        message = (
            f"{its.pp.said}: rollout is packed by tp alone, and then its processes are not the replicas of tp x pp that RLinf's agents need"
        )
        message += "; RLinf notices this only after workers have started"
        place = its.pp.span or parts.place("rollout")
        parts.notes.error(CODE, "rollout", message, place, "not 1", f"set `{its.pp.name}: 1`", its.pp.becomes(1))
