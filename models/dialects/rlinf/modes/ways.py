"""The two arrangements of RLinf's model-parallel mode, of which a plan chooses one.

Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement (_is_collocated, _is_disaggregated, _generate_placements).
"""

from __future__ import annotations

from itertools import product
from typing import Iterator

from ....component import Parallel
from ....planning.way import Shape, Way
from .degrees import Degrees, sections_of_inference
from .inference import CODE, lacking
from .parts import Parts

COLLOCATED, DISAGGREGATED = "collocated", "disaggregated"


def ways(parts: Parts, actor: Degrees, rollout: Degrees) -> Iterator[Way]:
    """Those that RLinf would start, of components whose ranks are all to be found."""
    inference, critics = parts.first_of("inference", "actor_inference"), parts.first_of("critic_inference")
    critic = parts.first_of("critic")
    shape = _collocated(actor, rollout)
    if shape is not None and parts.task != "coding_online_rl":
        pairs = [("actor", "rollout"), ("actor", inference), (critic or "actor", critics)]
        together = frozenset((one, other) for one, other in pairs if other)
        yield Way(COLLOCATED, together, shapes={"rollout": shape}, without=frozenset(filter(None, (inference, critics))))
    lacks_values = critic is not None and critics is None and parts.settings.flag("critic.use_critic_model", CODE)
    if not lacking(parts) and not lacks_values and all(parts.settings.at(path) is not None for path in sections_of_inference(parts)):
        pairs = [
            *product(("actor", "rollout"), (inference, critic)),
            ("actor", "rollout"),
            (critic or "rollout", critics),
            ("rollout", critics),
        ]
        yield Way(DISAGGREGATED, apart=frozenset((one, other) for one, other in pairs if other and one != other))


def _collocated(actor: Degrees, rollout: Degrees) -> Shape | None:
    """Rollout on the accelerators of the actor: engines of tp alone, which interleave; None if the degrees do not go together."""
    if not actor.tp or not rollout.tp:
        return None
    mine, its = actor.tp.value, rollout.tp.value
    if mine > its and mine % its:
        return None
    return Shape(its, mine // its if mine > its else 1, Parallel(its))
