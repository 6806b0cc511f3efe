"""Capabilities of RLinf, and names per release: tasks, algorithms, hardware and keys.

`facts/known.json` is made by ``python -m placewright.tools.rlinf_profile`` from checkouts of the
releases.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...findings.span import Edit, Span
from ...hints.block import timed_names
from ...job import Capabilities
from ...releases.choice import ReleaseChoice
from ...releases.evidence import choose_by_masks, mask_of
from ...releases.release import Range, read_releases
from ...text.document import Document
from ...text.tree import Entry, ListNode, MapNode, Scalar, Value, find
from ..messages import add_finding
from ..released import infer_release

AT_LAUNCH = "RLinf notices this only at launch, after Ray is up and all nodes have joined"
LATE = "RLinf notices this only after workers have started"
FIRST_UPDATE = "RLinf's actor fails at its first update"
CHECKED = "RLinf checks it once Ray is up and all nodes have joined"
FOLDER = "Pass `--config-root DIR` with the folder of its `defaults`"

AT_PLACEMENT = {"PW205": CHECKED, "PW211": CHECKED, "PW213": CHECKED}
"""Rule -> time of notice by the packing placement classes (rlinf/utils/placement.py)."""

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
"""Capabilities of RLinf's placement, with the time of notice of rules on explicit ranks.

Overlapping ranks of two components are RLinf's way to state colocation (components are not checked
against each other); processes with descending nodes are refused at launch ("Placements must be
sorted by node_id", flexible.py and node.py). Tensor parallel groups over several nodes are slow,
but nothing refuses them. PW208 is judged for degrees that only Megatron reads; degrees that RLinf
checks are read in modes/.
"""

SETTING, DEGREE, IDLE, PLANS = "PW123", "PW208", "PW803", "PW604"
"""Codes of refused settings, misfit degrees, components that nothing starts, and times."""
FSDP, MEGATRON = "fsdp", "megatron"
KEY, COST = "profile_data", "_cost"

INFERENCE = {"inference": "actor", "actor_inference": "actor", "critic_inference": "critic"}
INFERRING, CRITICS_INFERENCE = ("inference", "actor_inference"), "critic_inference"
"""Inference component (recomputes probabilities or values) -> role of its model.

Where actor and rollout share accelerators, the role does this work itself. Source:
rlinf/utils/placement.py and rlinf/runners/reasoning_runner.py.
"""

RESERVED_LABELS = ("cluster", "node")
"""Labels of the predefined groups (rlinf/scheduler/cluster/config.py)."""
MAX_PROCESSES, MAX_RUNS = 1 << 20, 1 << 21
"""Own limits of reading: processes per component, and runs (nodes and segments) of all."""
NAMES = ("label", "node_group", "hardware", "hardware_type", "env_configs", "profiling")
"""Keys without values from the environment, which would be shown or saved."""
ENVIRONMENT = ("NUM_NODES", "NNODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES")
"""Environment variables that an interpolation may read: the size of the job, nothing secret."""

MULTI_AGENT = Range(since="0.3")
"""Releases with several engines on an actor (rlinf/utils/placement.py)."""


def report(notes: Notes, finding: str, subject: str, /, at: Span | Value, edit: Edit | None = None, **values: Any) -> None:
    """Add a finding of facts/findings.json; see `add_finding`."""
    add_finding(notes, FACTS / "findings.json", finding, subject, at, edit, **values)


def time_advice(settings: Settings, name: str, key: str = "") -> str:
    """Return advice on stating the time of a component, in the profile or in hints."""
    in_profile = f"add `{key or name + COST}` to `{KEY}`"
    return in_profile if settings.has(KEY) else f"write `seconds` of `{name}` in `placewright.components`"


def is_profiled(root: MapNode, hints: Value | None) -> bool:
    """Return True if placed components have times, so that a plan may change their ranks.

    Components without ranks are searched with or without times. Inference components need no ranks:
    RLinf does not start them where actor and rollout share accelerators.
    """
    with_times, with_ranks = timed_names(hints), find_placed(root)
    if not with_times - set(INFERENCE) <= with_ranks:
        return False
    return isinstance(root.get(KEY), MapNode) or not with_times.isdisjoint(with_ranks)


def find_placed(root: MapNode) -> frozenset[str]:
    """Return the components with explicit ranks."""
    placements = find(root, "cluster.component_placement")
    return frozenset(name for entry in (placements if isinstance(placements, MapNode) else ()) for name in names_of(entry))


def names_of(entry: Entry) -> list[str]:
    """Return the components of a line of `component_placement`."""
    return [name.strip() for name in entry.key.text.split(",")]


FACTS = Path(__file__).parent / "facts"
RELEASES = FACTS / "releases.json"


@cache
def facts(name: str) -> Any:
    """Return the content of a file of facts."""
    return json.loads((FACTS / f"{name}.json").read_text(encoding="utf-8"))


_WORDS = {
    "runner.task_type": "task", "algorithm.adv_type": "advantage", "algorithm.loss_type": "loss",
    **{f"{section}.model.model_type": "model" for section in ("actor", "rollout")},
    **{f"env.{phase}.env_type": "environment" for phase in ("train", "eval")},
}  # fmt: skip
"""Setting -> kind of fact of its values.

Programs outside RLinf may register algorithms and models of their own, which exclude no release.
"""


_NO_FACTS: Mapping[str, Any] = {"placer": "HybridComponentPlacement", "agents": "", "starts": (), "needs": (), "timed": ()}


def task_facts(task: str) -> Mapping[str, Any]:
    """Return the facts about the programs of a task.

    - `placer`, `agents`: placement class of the usual programs, and of the multi-agent programs.
    - `starts`: components that the main programs look up in the placement.
    - `needs`: components that the placement class, or else every program, requires.
    - `timed`: components whose times a plan needs; without any, nothing is planned.

    Source: RLinf, rlinf/utils/placement.py and rlinf/config.py; get_strategy, get_hardware_ranks
    and get_world_size in examples/, evaluations/ and rlinf/.
    """
    return {**_NO_FACTS, **facts("tasks").get(task, {})}


@cache
def _read_known() -> dict[str, dict[str, tuple[Range, ...]]]:
    """Return kind -> name -> ranges of the releases that know it."""
    ranges: dict[str, dict[str, tuple[Range, ...]]] = {}
    for kind, groups in facts("known").items():
        for bounds, names in groups.items():
            ranges.setdefault(kind, {}).update(dict.fromkeys(names, tuple(Range(*bound.split(":")) for bound in bounds.split(","))))
    return ranges


def releases_of(kind: str, name: str) -> tuple[Range, ...]:
    """Return the ranges of releases that know a name of a kind."""
    return _read_known()[kind].get(name, ())


def releases_before(kind: str, name: str) -> Range | None:
    """Return the releases before a name was added; None if there are none."""
    runs = releases_of(kind, name)
    return Range(until=runs[0].since) if runs and runs[0].since else None


def names(kind: str, choice: ReleaseChoice | None = None) -> tuple[str, ...]:
    """Return the names of a kind in a release (default: all), oldest first."""
    entries = sorted(_read_known()[kind].items(), key=lambda item: item[1][0].since)
    return tuple(name for name, runs in entries if choice is None or any(choice.has(run) for run in runs))


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice:
    """See `Dialect.release_of`; a file shows the newest release that knows all its keys and words."""
    table = read_releases(RELEASES)
    masks = ((name, mask_of(table, runs)) for name, runs in _evidence(document.root))
    return infer_release(RELEASES, document, roots, lambda _: choose_by_masks(table, dict(masks)))


def _paths(root: MapNode, path: str = "") -> Iterator[str]:
    """Yield the dotted path of every key of a tree."""
    for entry in root:
        name = f"{path}.{entry.key.text}" if path else entry.key.text
        yield name
        yield from _paths(entry.value, name) if isinstance(entry.value, MapNode) else ()


def _evidence(root: MapNode) -> Iterator[tuple[str, tuple[Range, ...]]]:
    """Yield names in a file as evidence, with the releases that know them."""
    keys = _read_known()["key"]
    for path in _paths(root):
        if "." in path and path in keys:  # a top-level name may be the user's own
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
