"""The mode of the reasoning tasks that only evaluate: rollout and reward, nothing trained.

Source: RLinf, rlinf/utils/placement.py, ModelParallelEvalComponentPlacement.
"""

from __future__ import annotations

from . import presence
from .degrees import generating
from .pack import extent, pack
from .parts import Parts
from .shape import Shape, engine, fits_in, whole


def apply(parts: Parts) -> None:
    """All that the mode says of the components; those that it does not know stay as they are written."""
    presence.needed(parts, "rollout", "reward")
    its, found = generating(parts.settings), extent(parts, "rollout")
    shape = Shape(its.tp.value) if its.tp else None
    if found and not (fits_in(parts, "rollout", its.tp, found.count) and shape and whole(parts, "rollout", found.count, shape, its.tp)):
        shape = None
    pack(parts, "rollout", shape, engine(its, shape))
    pack(parts, "reward", Shape(), fills=True)
