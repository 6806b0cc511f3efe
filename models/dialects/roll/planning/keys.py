"""The keys in which a role says its degrees, and trees with other values of them."""

from __future__ import annotations

from typing import Mapping as MappingType

from ....component import Parallel
from ....text.changed import with_value
from ....text.tree import Mapping, Scalar, find, plain
from ..modes.degrees import FSDP2, MEGATRON, SGLANG, VLLM
from ..roles.known_keys import DEVICES, PER_WORKER, STRATEGY, WORLD_SIZE

_CONFIG = f"{STRATEGY}.strategy_config."
_ENGINE = {"tp": f"{_CONFIG}tensor_parallel_size", "pp": f"{_CONFIG}pipeline_parallel_size"}
_MEGATRON = {
    "tp": f"{_CONFIG}tensor_model_parallel_size", "pp": f"{_CONFIG}pipeline_model_parallel_size",
    "cp": f"{_CONFIG}context_parallel_size", "ep": f"{_CONFIG}expert_model_parallel_size",
}  # fmt: skip
KEYS: MappingType[str, MappingType[str, str]] = {
    VLLM: _ENGINE, SGLANG: _ENGINE, **dict.fromkeys(MEGATRON, _MEGATRON), **{name: {"cp": "model_args.ulysses_size"} for name in FSDP2},
}  # fmt: skip
"""Strategy -> degree -> its key below the role."""
_DEGREES = ("tp", "pp", "cp", "ep", "dp")


def strategy_of(root: Mapping, role: str) -> str:
    """The strategy of a role, as it is written; "" where it is not."""
    name = find(root, f"{role}.{STRATEGY}.strategy_name")
    return str(plain(name)) if isinstance(name, Scalar) else ""


def numbers(root: Mapping, role: str, parallel: Parallel) -> dict[str, int] | None:
    """Key below the role -> its number, of these degrees; None where its strategy has no key for one that is not 1.

    A worker has as many devices as its engine, where the file says how many it has.
    """
    strategy = strategy_of(root, role)
    keys = KEYS.get(strategy, {})
    if any(getattr(parallel, degree) != 1 and degree not in keys for degree in _DEGREES):
        return None
    found = {key: int(getattr(parallel, degree)) for degree, key in keys.items()}
    if strategy in (VLLM, SGLANG) and find(root, f"{role}.{PER_WORKER}") is not None:
        found[PER_WORKER] = parallel.tp * parallel.pp
    # What is not written and is 1 by default needs no key.
    return {key: value for key, value in found.items() if value != 1 or find(root, f"{role}.{key}") is not None}


def opened_root(root: Mapping, roles: frozenset[str]) -> Mapping:
    """The tree without the devices of these roles, and without the number of their workers; roles on CPUs keep theirs."""
    for role in roles:
        if find(root, f"{role}.{DEVICES}") is not None:
            for key in (DEVICES, WORLD_SIZE):
                root = with_value(root, f"{role}.{key}", None)
    return root


def with_numbers(root: Mapping, role: str, values: MappingType[str, int]) -> Mapping:
    """The tree with other numbers below a role."""
    for key, value in values.items():
        root = with_value(root, f"{role}.{key}", value)
    return root
