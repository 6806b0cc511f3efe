"""The strategy of a role: the one that has its degrees of parallelism, and workers of its size."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....component import Component, Parallel
from ....conversion.losses import dropped, moved
from ....findings.finding import Finding
from ....findings.wording import with_noun
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN, CRITICS, SFT_TRAIN, STUDENTS

Data = dict[str, object]
_TRAINS = (ACTOR_TRAIN, CRITICS, SFT_TRAIN, STUDENTS)


@dataclass
class Strategy:
    """`strategy_args` and `num_gpus_per_worker` of a block, and what the component is then: its degrees, accelerators of one process."""

    name: str
    config: Data = field(default_factory=dict)
    parallel: Parallel = field(default_factory=Parallel)
    each: int = 1
    written: int = 1

    @property
    def block(self) -> Data:
        """As keys of the block of a role."""
        args: Data = {"strategy_name": self.name} | ({"strategy_config": self.config} if self.config else {})
        return {"strategy_args": args} | ({"num_gpus_per_worker": self.written} if self.written > 1 else {})


def strategy_of(component: Component, part: str, each: int, losses: list[Finding]) -> Strategy:
    """The strategy of a component whose processes hold `each` accelerators; `losses` gets what is otherwise in ROLL."""
    if part == ACTOR_INFER:
        found = _vllm(component, each)
    elif part in _TRAINS or each == 1:
        found = _ranks(component.parallel, part in _TRAINS)
    else:
        found = Strategy("hf_infer", {}, Parallel(), each, each) if component.parallel == Parallel() else _vllm(component, each)
    if found.parallel != component.parallel:
        message = f"`{component.name}` has {component.parallel}; with strategy `{found.name}` ROLL gives it {found.parallel}"
        losses.append(moved(component.name, message) if component.runs is None else dropped(component.name, message))
    if found.each != each:
        message = f"the processes of `{component.name}` hold {with_noun(each, 'accelerator')} each, the workers that ROLL makes of them {found.each}"
        losses.append(moved(component.name, message))
    return found


def _vllm(component: Component, each: int) -> Strategy:
    """An engine of tp x pp accelerators in one worker; of as many as a process holds where no degrees are said."""
    its = component.parallel
    tp, pp = (its.tp, its.pp) if its.tp * its.pp > 1 else (each, 1)
    config: Data = {"tensor_parallel_size": tp}
    if pp > 1:
        config["pipeline_parallel_size"] = pp
    return Strategy("vllm", config, Parallel(tp, pp), tp * pp)


def _ranks(its: Parallel, trains: bool) -> Strategy:
    """One accelerator for each worker; Megatron where anything is parallel."""
    kind = "train" if trains else "infer"
    if its.tp * its.pp * its.cp * its.ep == 1:
        return Strategy(f"fsdp2_{kind}" if trains else "hf_infer")
    names: Data = {"tensor_model": its.tp, "pipeline_model": its.pp, "context": its.cp, "expert_model": its.ep}
    config: Data = {f"{name}_parallel_size": degree for name, degree in names.items() if degree != 1}
    return Strategy(f"megatron_{kind}", config, Parallel(its.tp, its.pp, its.cp, its.ep))
