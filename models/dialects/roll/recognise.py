"""Signs of a ROLL configuration, and what its placement can say."""

from __future__ import annotations

from ...job import Capabilities
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Value
from ..signs import Signs
from .ids import range_text
from .names import ALL_BLOCKS, DEVICES, NOTICES, PER_WORKER, REWARDS, STRATEGY, TEACHERS, WORLD_SIZE

# Is this a ROLL configuration?

NAME = "roll"
HINTS = "placewright"
_SIGNS = (DEVICES, PER_WORKER, STRATEGY)


def signs(root: MapNode) -> Signs:
    """Blocks of workers with `device_mapping`, also misspelt, or blocks that ROLL knows and that are left to hints."""
    blocks = [entry.key.text for entry in root if is_worker(entry.value, DEVICES)]
    for group in (REWARDS, TEACHERS):
        inner = root.get(group)
        blocks += [f"{group}.{entry.key.text}" for entry in inner if is_worker(entry.value, DEVICES)] if isinstance(inner, MapNode) else []
    if not blocks and (root.get(HINTS) is not None or dotted(root)):
        blocks = [entry.key.text for entry in root if entry.key.text in ALL_BLOCKS and _has_strategy(entry.value)]
    return Signs(tuple(blocks))


def _has_strategy(value: Value) -> bool:
    """Does a block have the settings of a strategy, also misspelt? (verl's `critic` has a `strategy` too, which is a word.)"""
    return isinstance(value, MapNode) and any(isinstance(each.value, MapNode) for each in value if nearest(each.key.text, (STRATEGY,)))


def is_worker(value: Value | None, *signs: str) -> bool:
    """Does a block describe workers: has it one of these keys (by default any that only such blocks have), also misspelt?"""
    wanted = signs or _SIGNS
    if not isinstance(value, MapNode):
        return False
    return any(entry.key.text in wanted or nearest(entry.key.text, wanted) for entry in value)


def holds_workers(value: Value) -> bool:
    """Is it a map of several blocks of workers, as `rewards` is?"""
    return isinstance(value, MapNode) and any(is_worker(entry.value, DEVICES, WORLD_SIZE) for entry in value)


def dotted(root: MapNode) -> list[Entry]:
    """Keys such as `actor_train.device_mapping` at the top level, as they are written on a command line; ROLL drops them."""
    ends = (DEVICES, WORLD_SIZE, PER_WORKER)
    return [entry for entry in root if "." in entry.key.text and entry.key.text.rsplit(".", 1)[1] in ends]


# What ROLL's placement can say, and when ROLL itself notices what is wrong with it.

CAPABILITIES = Capabilities(
    shares_accelerators=True, groups_may_cross=True, processes_may_cross=True, reserves_nodes=True, range_text=range_text, notices=NOTICES
)
"""Overlapping `device_mapping`s are how ROLL says colocation; there is no order of nodes, and nothing keeps a group or a worker on
one node. Source: ROLL, roll/distributed/scheduler/resource_manager.py, roll/distributed/executor/cluster.py."""
