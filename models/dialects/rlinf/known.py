"""What RLinf can say and refuses, and what each release knows: tasks, algorithms, hardware and keys.

The data is made by ``python -m placewright.tools.rlinf_profile`` from checkouts of the releases.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Iterator

from ...hints.block import timed_names
from ...job import Capabilities
from ...releases.choice import Choice
from ...releases.evidence import by_masks, mask_of
from ...releases.release import Range, read_releases
from ...text.document import Document
from ...text.tree import ListNode, MapNode, Scalar, Value, find

AT_LAUNCH = "RLinf notices this only at launch, after Ray is up and all nodes have joined"

FOLDER = "Pass `--config-root DIR` with the folder of its `defaults`"
LATE = "RLinf notices this only after workers have started"
CHECKED = "RLinf checks it once Ray is up and all nodes have joined"

AT_PLACEMENT = {"PW205": CHECKED, "PW211": CHECKED, "PW213": CHECKED}
"""What the classes that pack processes assert when they are constructed. Source: RLinf, rlinf/utils/placement.py."""

CAPABILITIES = Capabilities(
    shares_accelerators=True,
    nodes_in_order=True,
    groups_may_cross=True,
    notices={
        "PW203": AT_LAUNCH,
        "PW208": "RLinf notices this only when Megatron sets up its groups, after the workers have started",
        "PW210": AT_LAUNCH,
    },
)
"""Overlapping ranks of two components are how RLinf says colocation (there is no check between components); processes
whose nodes do not ascend are refused at launch ("Placements must be sorted by node_id", flexible.py and node.py). Tensor
parallel groups over several nodes are slow, but nothing refuses them. What rules find of given ranks and RLinf does not
check, or not before launch: PW208 is judged for degrees that only Megatron looks at; those that RLinf checks are read in modes/."""

SETTING, DEGREE, IDLE, PLANS = "PW123", "PW208", "PW803", "PW604"
"""Codes of settings that RLinf refuses, of degrees that do not fit, of what nothing starts, and of times."""

FSDP, MEGATRON = "fsdp", "megatron"
"""Training backends."""

INFERENCE = {"inference": "actor", "actor_inference": "actor", "critic_inference": "critic"}
"""Components that recompute probabilities, or values -> whose model they have.

Where actor and rollout share their accelerators, these do it themselves. Source: rlinf/utils/placement.py and rlinf/runners/reasoning_runner.py."""

RESERVED_LABELS = ("cluster", "node")
"""Labels of the groups that always exist. Source: rlinf/scheduler/cluster/config.py."""

MAX_PROCESSES = 1 << 20
"""The most processes of one component that are read; an own limit, no job is near it."""

MAX_RUNS = 1 << 21
"""After so many runs (nodes and segments of all components together) no more components are read; an own limit."""

NAMES = ("label", "node_group", "hardware", "hardware_type", "env_configs", "profiling")
"""The keys below which no value is taken from the environment: it would be shown as a name, or saved with a plan."""

ENVIRONMENT = ("NUM_NODES", "NNODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""The environment variables that an interpolation may read: the size of the job, nothing that is secret."""


KEY, COST = "profile_data", "_cost"


def saying(name: str, key: str, in_profile: bool) -> str:
    """What says how long a component takes, in the words of the file: under a key of its profile where it has one, else in hints."""
    return f"add `{key}` to `{KEY}`" if in_profile else f"say `seconds` of `{name}` in `placewright.components`"


def is_profiled(root: MapNode, hints: Value | None) -> bool:
    """Does it, so that other ranks may be chosen by that? Components without ranks are searched, whether or not they have times.

    Those that infer need no ranks: where actor and rollout share their accelerators, RLinf does not start them.
    """
    hinted, placed = timed_names(hints), placed_in(root)
    if not hinted - set(INFERENCE) <= placed:
        return False
    return isinstance(root.get(KEY), MapNode) or not hinted.isdisjoint(placed)


def placed_in(root: MapNode) -> frozenset[str]:
    """The components that have ranks."""
    cluster = root.get("cluster")
    placed = cluster.get("component_placement") if isinstance(cluster, MapNode) else None
    entries = placed if isinstance(placed, MapNode) else ()
    return frozenset(name.strip() for each in entries for name in each.key.text.split(","))


FACTS = Path(__file__).parent / "facts"
RELEASES = FACTS / "releases.json"

SEVERAL_GROUPS = Range(since="0.2")
"""Several node groups of one component. Source: RLinf, rlinf/scheduler/placement/placement.py (MultiNodeGroupResolver)."""

CRITICS = Range(since="0.2")
"""`critic`, `critic_inference` and `actor_inference`. Source: RLinf, rlinf/utils/placement.py, ModelParallelComponentPlacement."""

MULTI_AGENT = Range(since="0.3")
"""Placement of several engines on one actor. Source: RLinf, rlinf/utils/placement.py, MultiAgentModelParallelComponentPlacement."""

_WORDS = {"runner.task_type": "task", "algorithm.adv_type": "advantage", "algorithm.loss_type": "loss"}
"""Setting -> kind of fact that its values are. Other programs may register algorithms of their own, which exclude nothing."""
_DEPTH = 3


@cache
def _known() -> dict[str, dict[str, tuple[Range, ...]]]:
    data = json.loads((FACTS / "known.json").read_text(encoding="utf-8"))
    return {
        kind: {name: runs for text, names in groups.items() for runs in [_runs(text)] for name in names} for kind, groups in data.items()
    }


def _runs(text: str) -> tuple[Range, ...]:
    return tuple(Range(*each.split(":")) for each in text.split(","))


def releases_of(kind: str, name: str) -> tuple[Range, ...]:
    """Ranges of the releases that know a name of a kind; none if no release does."""
    return _known()[kind].get(name, ())


def before(kind: str, name: str) -> Range | None:
    """Releases that do not know a name yet; None if the oldest does, or none."""
    first = since(kind, name)
    return Range(until=first) if first else None


def since(kind: str, name: str) -> str:
    """First release that knows a name; "" if the oldest does, or none."""
    runs = releases_of(kind, name)
    return runs[0].since if runs else ""


def names(kind: str, choice: Choice | None = None) -> tuple[str, ...]:
    """Names of a kind that the release at hand knows, the oldest first; without one, of all releases."""
    known = sorted(_known()[kind].items(), key=lambda each: each[1][0].since)
    return tuple(name for name, runs in known if choice is None or any(choice.has(each) for each in runs))


def shown_release(document: Document) -> Choice:
    """Release that a file itself shows: the newest that knows all of its keys and words."""
    table = read_releases(RELEASES)
    return by_masks(table, {name: mask_of(table, runs) for name, runs in _evidence(document.root)})


def _evidence(root: MapNode) -> Iterator[tuple[str, tuple[Range, ...]]]:
    """What a file shows, with the releases that know it."""
    keys = _known()["key"]
    for path in _paths(root, ""):
        if "." in path and path in keys:  # a section alone may be the user's own
            yield path, keys[path]
    for path, kind in _WORDS.items():
        word = find(root, path)
        if isinstance(word, Scalar) and (runs := releases_of(kind, word.text)):
            yield f"{path}: {word.text}", runs
    groups = find(root, "cluster.node_groups")
    for group in groups.items if isinstance(groups, ListNode) else ():
        word = find(group, "hardware.type")
        if isinstance(word, Scalar) and (runs := releases_of("hardware", word.text)):
            yield f"type: {word.text}", runs
            configs = find(group, "hardware.configs")
            for config in configs.items if isinstance(configs, ListNode) else ():
                for entry in config if isinstance(config, MapNode) else ():
                    yield entry.key.text, releases_of("hardware_field", f"{word.text}.{entry.key.text}")


def _paths(tree: MapNode, before: str, depth: int = _DEPTH) -> Iterator[str]:
    for entry in tree if isinstance(tree, MapNode) else ():
        path = before + entry.key.text
        yield path
        if depth > 1 and isinstance(entry.value, MapNode):
            yield from _paths(entry.value, f"{path}.", depth - 1)
