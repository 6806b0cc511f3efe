"""The degrees of parallelism that RLinf's model-parallel placement reads, with its fallbacks.

Source: RLinf, rlinf/utils/placement.py, properties of ModelParallelComponentPlacement.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....component import Parallel
from ..settings import Amount, Settings

RULE = "PW208"
_TP, _PP, _CP = "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"


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
    """Those of `actor` or `critic`."""
    tp, pp, cp = (settings.whole(f"{role}.model.{key}", RULE, 1) for key in (_TP, _PP, _CP))
    return Degrees(tp, pp, cp)


def generating(settings: Settings) -> Degrees:
    """Those of the rollout engine."""
    tp, pp = (settings.whole(f"rollout.{key}", RULE, 1) for key in ("tensor_parallel_size", "pipeline_parallel_size"))
    return Degrees(tp, pp, _ONE)


def inferring(settings: Settings, role: str) -> Degrees:
    """Those of the inference component of `actor` or `critic`; where it has no section, those of the role itself."""
    sections = ("inference", "actor_inference") if role == "actor" else ("critic_inference",)
    section = next((name for name in sections if settings.at(name) is not None), None)
    if section is None:
        its = trained(settings, role)
        return Degrees(its.tp, its.pp, _ONE)
    tp = settings.whole(f"{section}.model.{_TP}", RULE, 1)
    pp = settings.whole(f"{section}.model.{_PP}", RULE)
    if pp is None and settings.at(f"{section}.model.{_PP}") is None:
        pp = trained(settings, role).pp
    return Degrees(tp, pp, _ONE)
