"""Signs of a ROLL configuration: its worker blocks, misspelt ones included."""

from __future__ import annotations

from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Value
from ..signs import Signs
from .names import ALL_BLOCKS, DEVICES, HINTS, PER_WORKER, REWARDS, STRATEGY, TEACHERS, WORLD_SIZE

_SIGNS = (DEVICES, PER_WORKER, STRATEGY)


def signs(root: MapNode) -> Signs:
    """Return the worker blocks with `device_mapping`, misspelt ones included.

    If there are none, blocks that ROLL knows count where the file has hints or dotted keys.
    """
    blocks = [entry.key.text for entry in root if is_worker(entry.value, DEVICES)]
    for group in (REWARDS, TEACHERS):
        inner = root.get(group)
        blocks += [f"{group}.{entry.key.text}" for entry in inner if is_worker(entry.value, DEVICES)] if isinstance(inner, MapNode) else []
    if not blocks and (root.get(HINTS) is not None or dotted_keys(root)):
        blocks = [entry.key.text for entry in root if entry.key.text in ALL_BLOCKS and _has_strategy(entry.value)]
    return Signs(tuple(blocks))


def _has_strategy(value: Value) -> bool:
    """Return True if a block has a map of strategy settings; verl's `strategy` is a word."""
    return isinstance(value, MapNode) and any(isinstance(entry.value, MapNode) for entry in value if nearest(entry.key.text, (STRATEGY,)))


def is_worker(value: Value | None, *signs: str) -> bool:
    """Return True if a block has any of the given keys, by default those of workers alone."""
    wanted = signs or _SIGNS
    if not isinstance(value, MapNode):
        return False
    return any(entry.key.text in wanted or nearest(entry.key.text, wanted) for entry in value)


def has_worker_blocks(value: Value) -> bool:
    """Return True if a value maps names to blocks of workers, as `rewards` does."""
    return isinstance(value, MapNode) and any(is_worker(entry.value, DEVICES, WORLD_SIZE) for entry in value)


def dotted_keys(root: MapNode) -> list[Entry]:
    """Return top-level keys such as `actor_train.device_mapping`, copied from command lines; ROLL drops them."""
    ends = (DEVICES, WORLD_SIZE, PER_WORKER)
    return [entry for entry in root if "." in entry.key.text and entry.key.text.rsplit(".", 1)[1] in ends]
