"""What the strategy of a role demands of the number of its workers and GPUs.

Source: ROLL, roll/distributed/strategy/fsdp2_strategy.py (FSDP2StrategyBase.setup_fsdp2_configuration, create_device_mesh_with_ep),
vllm_strategy.py and sglang_strategy.py (initialize); Megatron-LM, core/parallel_state.py.
"""

from __future__ import annotations

from dataclasses import replace

from ....findings.wording import do, with_noun
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import FSDP2, MEGATRON, SGLANG, VLLM, Degrees, degrees
from .fsdp2 import fsdp2
from .hinted import hinted, passed_over
from .notices import IN_WORKERS
from .sglang import sglang

DIVIDES, MATCHES = "PW208", "PW403"


def backends(setup: Setup) -> None:
    """Give every component its degrees, and say what its strategy refuses."""
    for role in setup.roles:
        if not role.created or role.key not in setup.components:
            continue
        its = degrees(setup, role)
        _shape(setup, role, its)
        if not role.on_devices:
            continue
        if its is not None and role.strategy in MEGATRON:
            _experts(setup, role, its)
        elif its is not None and role.strategy in FSDP2:
            fsdp2(setup, role, its)
        elif role.strategy == VLLM:
            _vllm(setup, role)
        elif its is not None and role.strategy == SGLANG:
            sglang(setup, role, its)


def _shape(setup: Setup, role: Role, its: Degrees | None) -> None:
    """Whole replicas; GPUs that one engine of sglang does not fill are judged apart."""
    component = setup.components[role.key]
    if its is None:
        return
    if component.runs is None and "placement" not in component.spans:
        setup.components[role.key] = hinted(setup, role, component, its)
        return
    passed_over(setup, role, component, its)
    if role.strategy != SGLANG or its.parallel.replica == role.num_gpus_per_worker:
        setup.components[role.key] = replace(component, parallel=its.parallel)


def _experts(setup: Setup, role: Role, its: Degrees) -> None:
    """The ranks divide into expert parallel groups too; only failure with every version of Megatron is told."""
    count = role.ids.count if role.ids else 0
    if its.ep is None or (its.ep.value == 1 and its.etp is None) or not all(count % size for size in its.experts):
        return
    size = its.experts[0]
    etp = f" x etp {its.etp.value}" if its.etp and its.etp.value > 1 else ""
    message = f"the {with_noun(count, 'rank')} of {role.key} {do(count)} not divide into expert parallel groups: ep {its.ep.value}{etp} x pp {its.pp.value} is {size}"
    lower = count // size * size
    fit = f"{lower} or {lower + size}" if lower else str(size)
    at = its.ep.span or role.place
    setup.notes.error(DIVIDES, role.key, message, at, f"no divisor of {count}", f"give {role.key} {fit} GPUs", None, IN_WORKERS)


def _vllm(setup: Setup, role: Role) -> None:
    """Several data parallel ranks of vLLM are the workers, each of which is one."""
    dp = setup.settings.whole(role.config("data_parallel_size"), MATCHES, 1, exact=True)
    if dp and dp.value > 1 and role.world_size is not None and dp.value != role.world_size:
        message = f"{dp.said}, but {role.key} has {with_noun(role.world_size, 'worker')}, and each is one data parallel rank"
        better = dp.becomes(role.world_size)
        help = f"write `{role.world_size}`" if better else f"set `{dp.name}: {role.world_size}`"
        setup.notes.error(MATCHES, role.key, message, dp.span or role.place, with_noun(role.world_size, "worker"), help, better, IN_WORKERS)
