"""The keys of verl that say the degrees of parallelism of a component."""

from __future__ import annotations

from ....component import Component, Parallel
from ....conversion.losses import dropped, moved
from ....findings.finding import Finding

Data = dict[str, object]


def engine(component: Component, losses: list[Finding]) -> Data:
    """Those of an inference engine; tp is written always, as verl's default is 2."""
    its = component.parallel
    data: Data = {"tensor_model_parallel_size": its.tp}
    data |= {
        key: degree
        for key, degree in (("pipeline_model_parallel_size", its.pp), ("data_parallel_size", its.dp), ("expert_parallel_size", its.ep))
        if degree > 1
    }
    _tell(component, Parallel(its.tp, its.pp, 1, its.ep, its.dp), losses)
    return data


def trained(component: Component, losses: list[Finding]) -> Data:
    """Those of something that is trained, or computes as what is trained does: Megatron's, or FSDP without any."""
    its = component.parallel
    degrees = {"tensor_model": its.tp, "pipeline_model": its.pp, "context": its.cp, "expert_model": its.ep}
    kept = Parallel(its.tp, its.pp, its.cp, its.ep)
    _tell(component, kept, losses)
    backend = "fsdp" if kept == Parallel() and component.backend != "megatron" else "megatron"
    if component.backend not in ("", backend):
        losses.append(dropped(component.name, f"`{component.name}` is trained by {component.backend}, in verl by {backend}"))
    if backend == "fsdp":
        return {"strategy": "fsdp"}
    megatron: Data = {f"{name}_parallel_size": degree for name, degree in degrees.items()}
    if its.ep > 1:
        megatron["expert_tensor_parallel_size"] = 1  # verl's default is tp, which fewer numbers of ranks divide by
    return {"strategy": "megatron", "megatron": megatron}


def _tell(component: Component, kept: Parallel, losses: list[Finding]) -> None:
    if kept != component.parallel:
        message = f"`{component.name}` has {component.parallel}; verl gives it {kept}"
        losses.append(moved(component.name, message) if component.runs is None else dropped(component.name, message))
