"""The degrees of parallelism of a role, as its strategy reads them.

Source: ROLL, roll/utils/config_utils.py (Megatron), roll/configs/worker_config.py (vLLM), roll/distributed/strategy/sglang_strategy.py,
fsdp2_strategy.py; mcore_adapter, initialize.py (expert groups).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ....component import Parallel
from ....configuration.settings import Amount
from ..roles.role import Role
from ..roles.setup import Setup

RULE = "PW208"
MEGATRON, FSDP2, VLLM, SGLANG = ("megatron_train", "megatron_infer"), ("fsdp2_train", "fsdp2_infer"), "vllm", "sglang"


@dataclass(frozen=True, slots=True)
class Degrees:
    """tp, pp and cp of one role, and for Megatron the expert parallel sizes; `etp` is None where nothing is written."""

    tp: Amount
    pp: Amount
    cp: Amount
    ep: Amount | None = None
    etp: Amount | None = None

    @property
    def parallel(self) -> Parallel:
        """The same as a component has them."""
        return Parallel(self.tp.value, self.pp.value, self.cp.value, self.ep.value if self.ep else 1)

    @property
    def experts(self) -> tuple[int, ...]:
        """What etp x ep x pp may be: where no etp is written it is 1 or tp, as the version of Megatron has it."""
        sizes = {self.etp.value} if self.etp else {1, self.tp.value}
        return tuple(size * self.ep.value * self.pp.value for size in sorted(sizes)) if self.ep else (1,)


def degrees(setup: Setup, role: Role) -> Degrees | None:
    """Those of a role; None where one is not known, or the strategy has none."""
    if role.strategy in MEGATRON:
        return _megatron(setup, role)
    if role.strategy == VLLM:
        return _of(_size(setup, role, "tensor_parallel_size"), _size(setup, role, "pipeline_parallel_size"), _one("context_parallel_size"))
    if role.strategy == SGLANG:
        tp = setup.settings.whole(role.config("tensor_parallel_size"), RULE, role.num_gpus_per_worker or 1, exact=True)
        return _of(tp, _size(setup, role, "pipeline_parallel_size"), _one("context_parallel_size"))
    if role.strategy in FSDP2:
        ulysses = setup.settings.whole(role.path("model_args.ulysses_size"), RULE, 1, exact=True)
        return _of(_one("tensor_parallel_size"), _one("pipeline_parallel_size"), ulysses)
    return None


def data_parallel(setup: Setup, role: Role) -> int | None:
    """How many ranks of a training role get samples of their own; None where that is not known or does not come out even."""
    its = degrees(setup, role)
    if role.ids is None or its is None or not role.ids.count or role.ids.count % its.parallel.replica:
        return None
    return role.ids.count // its.parallel.replica


def searched(its: Degrees, strategy: str | None, each: int) -> Parallel | None:
    """What whole replicas of a role that is left to solve are, so that what is found passes all checks; None if they do not fill its workers."""
    parallel = its.parallel
    if strategy == SGLANG and parallel.replica != each:
        return None
    if strategy in MEGATRON:
        whole = lcm(parallel.replica, its.experts[0])
        return Parallel(parallel.tp, parallel.pp, parallel.cp, parallel.ep, whole // parallel.replica)
    return parallel


def _megatron(setup: Setup, role: Role) -> Degrees | None:
    tp, pp, cp, ep = (_size(setup, role, f"{name}_parallel_size") for name in ("tensor_model", "pipeline_model", "context", "expert_model"))
    written = setup.settings.has(role.config("expert_tensor_parallel_size"))
    etp = _size(setup, role, "expert_tensor_parallel_size") if written else None
    return Degrees(tp, pp, cp, ep, etp) if tp and pp and cp and ep and (etp or not written) else None


def _size(setup: Setup, role: Role, name: str) -> Amount | None:
    return setup.settings.whole(role.config(name), RULE, 1, exact=True)


def _one(name: str) -> Amount:
    return Amount(1, name)


def _of(tp: Amount | None, pp: Amount | None, cp: Amount | None) -> Degrees | None:
    return Degrees(tp, pp, cp) if tp and pp and cp else None
