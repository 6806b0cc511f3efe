"""Parallel degrees of a job's components, by the settings that RLinf reads for each.

Source: RLinf, rlinf/utils/placement.py, properties of ModelParallelComponentPlacement; of inference
also rlinf/workers/inference/megatron_inference_worker.py (_build_inference_cfg).
"""

from __future__ import annotations

from ....component import Parallel
from ....configuration.settings import Amount, Settings
from ....record import dataclass
from ....text.tree import Scalar
from ..known import CRITICS_INFERENCE, DEGREE, FSDP, INFERENCE, INFERRING, MEGATRON

TP, PP, _CP = (f"{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context"))
_OF_ROLLOUT = {"tp": "tensor_parallel_size", "pp": "pipeline_parallel_size"}
SECTIONS = {
    "rollout": ("rollout", _OF_ROLLOUT),
    **{role: (f"{role}.model", {"tp": TP, "pp": PP, "cp": _CP}) for role in ("actor", "critic", "inference")},
}
"""Component -> section with its degrees, and key per degree."""


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


def degrees_in_section(settings: Settings, name: str) -> Parallel | None:
    """Return the degrees in a component's section, else None; nothing is noted."""
    path, keys = SECTIONS.get(name, ("", {}))
    written = {degree: settings.at(f"{path}.{key}") for degree, key in keys.items() if settings.has(f"{path}.{key}")}
    sizes = {
        degree: value.value
        for degree, value in written.items()
        if isinstance(value, Scalar) and type(value.value) is int and value.value > 0
    }
    return Parallel(**sizes) if sizes and len(sizes) == len(written) else None


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
    names = [name for name, trained in reversed(INFERENCE.items()) if trained == role]
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
    if name != "rollout" and name not in INFERENCE:
        return None
    apart = degrees_of(settings, name).parallel
    if name == "rollout":
        return (apart, Parallel(apart.tp)) if apart and apart.pp > 1 else None
    role = INFERENCE[name]
    together = degrees_of(settings, role).parallel
    if apart and together and apart != together and settings.word(f"{role}.training_backend", DEGREE) == MEGATRON:
        return apart, together
    return None
