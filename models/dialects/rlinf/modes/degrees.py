"""The degrees of parallelism that RLinf's model-parallel placement reads, with its fallbacks.

Source: RLinf, rlinf/utils/placement.py, properties of ModelParallelComponentPlacement; of inference also
rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from ....component import Parallel
from ....configuration.settings import Amount, Settings
from ....text.tree import Scalar
from ..capabilities import INFERENCE as INFERENCE
from .parts import Parts

RULE = "PW208"
_TP, _PP, _CP = "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"
_OF_ROLLOUT = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size"}
SECTIONS = {
    "rollout": ("rollout", _OF_ROLLOUT),
    **{role: (f"{role}.model", {"tp": _TP, "pp": _PP, "cp": _CP}) for role in ("actor", "critic", "inference")},
}
"""Component -> the section that says its degrees, and the key of each."""


def own_of(settings: Settings, name: str, choices: Sequence[Parallel]) -> Parallel | None:
    """The degrees that the section of a component says; one that this does not say is 1, and `ep` what all choices say of it.

    None where it says nothing, or no numbers. Nothing is noted: not every program of RLinf reads these keys.
    """
    path, keys = SECTIONS.get(name, ("", {}))
    written = {degree: settings.at(f"{path}.{key}") for degree, key in keys.items() if settings.has(f"{path}.{key}")}
    said = {degree: value.value for degree, value in written.items() if isinstance(value, Scalar) and type(value.value) is int}
    if not written or len(said) < len(written) or min(said.values()) < 1:
        return None
    experts = {each.ep for each in choices}
    return Parallel(**said, ep=experts.pop() if len(experts) == 1 else 1)


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
    """Those of `actor` or `critic`; fsdp knows neither pp nor cp, whatever is written."""
    if settings.word(f"{role}.training_backend", RULE) == "fsdp":
        return Degrees(settings.whole(f"{role}.model.{_TP}", RULE, 1), _ONE, _ONE)
    tp, pp, cp = (settings.whole(f"{role}.model.{key}", RULE, 1) for key in (_TP, _PP, _CP))
    return Degrees(tp, pp, cp)


def generating(settings: Settings) -> Degrees:
    """Those of the rollout engine."""
    tp, pp = (settings.whole(f"rollout.{key}", RULE, 1, exact=True) for key in _OF_ROLLOUT.values())
    return Degrees(tp, pp, _ONE)


def generated_otherwise(its: Degrees) -> tuple[Parallel, Parallel] | None:
    """(degrees of the rollout engine by itself, those that it has on the accelerators of the actor: tp alone); None where they are the same."""
    own = its.parallel
    return (own, Parallel(own.tp)) if own is not None and own.pp > 1 else None


def inferring(settings: Settings, role: str) -> Amount | None:
    """The tp of the inference component of `actor` or `critic`: from its section; without one, or for a critic whose own says none, its role's."""
    sections = [name for name in ("inference", "actor_inference") if settings.at(name) is not None]
    if role == "critic":
        sections = ["critic_inference"] if settings.at(f"critic_inference.model.{_TP}") is not None else []
    return settings.whole(f"{(*sections, role)[0]}.model.{_TP}", RULE, 1)


def inferred(settings: Settings, role: str) -> Degrees:
    """Those with which the inference component of `actor` or `critic` is set up: tp and pp of its own section, cp of its role's.

    Megatron's worker looks for `actor_inference` before `inference`. Without a section they are its role's.
    """
    names = (f"{role}_inference", "inference") if role == "actor" else (f"{role}_inference",)
    section, its = next((name for name in names if settings.at(f"{name}.model") is not None), None), trained(settings, role)
    if section is None or settings.word(f"{role}.training_backend", RULE) == "fsdp":
        return Degrees(inferring(settings, role), its.pp, its.cp)
    tp = settings.whole(f"{section}.model.{_TP}", RULE, 1) if settings.at(f"{section}.model.{_TP}") else inferring(settings, role)
    pp = settings.whole(f"{section}.model.{_PP}", RULE, 1) if settings.at(f"{section}.model.{_PP}") else its.pp
    return Degrees(tp, pp, its.cp)


def inferred_otherwise(settings: Settings, role: str) -> tuple[Parallel, Parallel] | None:
    """(degrees of inference by itself, those of what trains); None where they are the same, or not known, or not Megatron's."""
    own, its = inferred(settings, role).parallel, trained(settings, role).parallel
    otherwise = own and its and own != its and settings.word(f"{role}.training_backend", RULE) == "megatron"
    return (own, its) if own and its and otherwise else None


def sections_of_inference(parts: Parts) -> list[str]:
    """The sections that the tp of the placed inference components is read from, besides those of the actor."""
    found = []
    section = next((name for name in ("inference", "actor_inference") if parts.settings.at(name) is not None), None)
    if section and parts.first_of("inference", "actor_inference"):
        found.append(f"{section}.model")
    if parts.has("critic_inference") and parts.settings.at(f"critic_inference.model.{_TP}") is None:
        found.append("critic.model")
    return found
