"""Signs of a ROLL configuration, and capabilities of ROLL placements."""

from __future__ import annotations

from ...job import Capabilities
from ...text.nearest import nearest
from ...text.tree import Entry, MapNode, Value
from ..signs import Signs
from .ids import range_text
from .names import (
    ALL_BLOCKS,
    CRITICS,
    DEVICES,
    NOTICES,
    PER_WORKER,
    REWARD_MODEL,
    REWARDS,
    SFT_TRAIN,
    STRATEGY,
    STUDENT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
    WORLD_SIZE,
)  # fmt: skip

# Recognition of a ROLL configuration.

NAME = "roll"
HINTS = "placewright"
_SIGNS = (DEVICES, PER_WORKER, STRATEGY)
_OF_JOBS = (
    REWARDS, REWARD_MODEL, CRITICS, STUDENTS, STUDENT_TRAIN, SFT_TRAIN, TRAIN_ENV, VAL_ENV, HINTS,
    "adv_estimator", "init_kl_coef", "use_kl_loss", "enable_reference", "num_return_sequences_in_group", "train_batch_size",
    "chosen_key", "custom_envs", "env_manager_cls", "is_pure_opd",
)  # fmt: skip
"""Keys of the pipelines' configurations; ROLL's tests of single strategies have roles alone."""


def signs(root: MapNode) -> Signs:
    """Return the worker blocks with `device_mapping`, misspelt ones included.

    If there are none, blocks that ROLL knows count where the file has hints or dotted keys. Beside a
    model, roles without a key of any pipeline are weak: rlvr_config.py (__post_init__) reads
    `rewards`, and only tests/distributed/strategy of ROLL read such files.
    """
    blocks = [entry.key.text for entry in root if is_worker(entry.value, DEVICES)]
    for group in (REWARDS, TEACHERS):
        inner = root.get(group)
        blocks += [f"{group}.{entry.key.text}" for entry in inner if is_worker(entry.value, DEVICES)] if isinstance(inner, MapNode) else []
    if not blocks and (root.get(HINTS) is not None or dotted_keys(root)):
        blocks = [entry.key.text for entry in root if entry.key.text in ALL_BLOCKS and _has_strategy(entry.value)]
    if root.get("pretrain") is not None and not any(root.get(key) is not None for key in _OF_JOBS):
        return Signs(weak=tuple(blocks))
    return Signs(tuple(blocks))


def _has_strategy(value: Value) -> bool:
    """Return True if a block has strategy settings, misspelt ones included.

    The `strategy` of verl's `critic` is a word, not a map, and does not count.
    """
    return isinstance(value, MapNode) and any(isinstance(entry.value, MapNode) for entry in value if nearest(entry.key.text, (STRATEGY,)))


def is_worker(value: Value | None, *signs: str) -> bool:
    """Return True if a block has any of the given keys, misspelt ones included.

    The default keys occur in blocks of workers alone.
    """
    wanted = signs or _SIGNS
    if not isinstance(value, MapNode):
        return False
    return any(entry.key.text in wanted or nearest(entry.key.text, wanted) for entry in value)


def has_worker_blocks(value: Value) -> bool:
    """Return True if a value maps names to blocks of workers, as `rewards` does."""
    return isinstance(value, MapNode) and any(is_worker(entry.value, DEVICES, WORLD_SIZE) for entry in value)


def dotted_keys(root: MapNode) -> list[Entry]:
    """Return the top-level keys with a dot, for example `actor_train.device_mapping`.

    Users copy them from command lines; ROLL drops them.
    """
    ends = (DEVICES, WORLD_SIZE, PER_WORKER)
    return [entry for entry in root if "." in entry.key.text and entry.key.text.rsplit(".", 1)[1] in ends]


# Capabilities of ROLL's placements, and when ROLL notices errors.

CAPABILITIES = Capabilities(
    shares_accelerators=True, groups_may_cross=True, processes_may_cross=True, reserves_nodes=True, range_text=range_text, notices=NOTICES
)
"""Capabilities of ROLL placements.

Overlapping `device_mapping`s express colocation. Nodes have no order, and a group or a worker may
cross nodes. Source: ROLL, roll/distributed/scheduler/resource_manager.py,
roll/distributed/executor/cluster.py.
"""
