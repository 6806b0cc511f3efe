"""What each release of RLinf knows: tasks, algorithms, hardware and keys.

The data is made by ``python -m placewright.tools.rlinf_profile`` from checkouts of the releases.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Iterator, Mapping

from ...releases.choice import Choice
from ...releases.evidence import by_masks, mask_of
from ...releases.release import Range, read_releases
from ...text.document import Document
from ...text.tree import Mapping as Tree
from ...text.tree import Scalar, Sequence, Value, find

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


def _evidence(root: Tree) -> Iterator[tuple[str, tuple[Range, ...]]]:
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
    for group in groups.items if isinstance(groups, Sequence) else ():
        word = find(group, "hardware.type")
        if isinstance(word, Scalar) and (runs := releases_of("hardware", word.text)):
            yield f"type: {word.text}", runs
            configs = find(group, "hardware.configs")
            for config in configs.items if isinstance(configs, Sequence) else ():
                for entry in config if isinstance(config, Tree) else ():
                    yield entry.key.text, releases_of("hardware_field", f"{word.text}.{entry.key.text}")


def _paths(tree: Mapping[str, Value] | Tree, before: str, depth: int = _DEPTH) -> Iterator[str]:
    for entry in tree if isinstance(tree, Tree) else ():
        path = before + entry.key.text
        yield path
        if depth > 1 and isinstance(entry.value, Tree):
            yield from _paths(entry.value, f"{path}.", depth - 1)
