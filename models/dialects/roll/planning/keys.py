"""The keys in which a role says its degrees, and trees with other values of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping as MappingType

from ....component import Parallel
from ....text.tree import Entry, Mapping, Scalar, Value, find, plain
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
_INT = "tag:yaml.org,2002:int"


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
                root = _at(root, f"{role}.{key}".split("."), None)
    return root


def with_numbers(root: Mapping, role: str, values: MappingType[str, int]) -> Mapping:
    """The tree with other numbers below a role."""
    for key, value in values.items():
        root = _at(root, f"{role}.{key}".split("."), value)
    return root


def _at(owner: Mapping, path: list[str], value: int | None) -> Mapping:
    """The map with another number at a path, or without what is there; nothing is added where there is no way to it."""
    name, *rest = path
    entry = owner.entry(name)
    if rest:
        inner: Value | None = entry.value if entry else None
        if value is None and not isinstance(inner, Mapping):
            return owner
        inner = inner if isinstance(inner, Mapping) else Mapping((), owner.span, owner.flow)
        new: Value | None = _at(inner, rest, value)
    else:
        new = None if value is None else Scalar(str(value), _INT, entry.value.span if entry else owner.span)
    key = entry.key if entry else Scalar(name, "tag:yaml.org,2002:str", owner.span)
    if new is None:
        return replace(owner, entries=tuple(each for each in owner.entries if each is not entry))
    if entry is None:
        return replace(owner, entries=(*owner.entries, Entry(key, new)))
    return replace(owner, entries=tuple(Entry(key, new) if each is entry else each for each in owner.entries))
