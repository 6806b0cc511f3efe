"""Facts of ROLL by release: classes with keys, types and defaults; pipelines and programs.

tools/roll_profile.py makes keys.json from checkouts: section -> name -> runs ``[since, until, value...]``;
the other files were read from the sources. guesses.json: in order, the pipeline of a file by its keys.
trainer_arguments.json has the fields of `TrainingArguments` of transformers 4.48.3, 4.57.6 and 5.2.0.
"""

from __future__ import annotations

import json
import re
from dataclasses import field
from functools import cache, cached_property
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ...configuration.settings import Default
from ...record import dataclass
from ...releases.choice import ReleaseChoice
from ...releases.evidence import choose_by_masks, mask_of
from ...releases.release import ALWAYS, Range, Release, read_releases
from ...text.document import Document
from ...text.tree import MapNode, Scalar, find
from ..released import infer_release
from . import names
from .groups import absent_groups
from .names import AGENTIC, ALL_BLOCKS, FACTS, RELEASES, REWARDS, RLVR, STRATEGY

_CLASS_OF = {
    REWARDS: "rlvr.RewardConfig", names.AGENTIC_REWARD: "agentic.RewardConfig",
    names.TRAIN_ENV: "agentic.EnvManagerConfig", names.VAL_ENV: "agentic.EnvManagerConfig",
}  # fmt: skip
_WORKERS = ("WorkerConfig", "RewardConfig", "EnvManagerConfig")


@dataclass(frozen=True)
class Pipeline:
    """Pipeline of ROLL.

    Attributes
    ----------
    name, launcher, config : name used here, program that starts it, class of its configuration.
    creates : parts that it may start, in start order.
    pure_opd : True if the launcher makes it pure on-policy distillation.
    checks_types : True if ROLL checks the types of all values when it loads the configuration.
    lora_reference : True if it starts a reference although the actor trains adapters alone.
    releases : releases that have it.
    """

    name: str
    launcher: str
    config: str
    creates: tuple[str, ...]
    pure_opd: bool = False
    checks_types: bool = True
    lora_reference: bool = False
    releases: Range = ALWAYS

    @property
    def ppo(self) -> bool:
        """True if the pipeline has an actor, references and a critic."""
        return self.config in (RLVR, AGENTIC)

    @property
    def agentic(self) -> bool:
        """True if the pipeline generates in environments."""
        return self.config == AGENTIC

    @property
    def updates_models(self) -> bool:
        """True if the weights of `actor_train` go to `actor_infer`."""
        return {names.ACTOR_TRAIN, names.ACTOR_INFER} <= set(self.creates)


@cache
def fact_file(name: str) -> Any:
    """Return a data file of the facts."""
    return json.loads((FACTS / f"{name}.json").read_text("utf-8"))


@cache
def pipelines() -> dict[str, Pipeline]:
    """Return the pipelines of all releases by name."""
    by_name = {}
    for name, entry in fact_file("pipelines").items():
        facts = {key: value for key, value in entry.items() if key not in ("since", "until", "creates")}
        releases = Range(entry.get("since", ""), entry.get("until", ""))
        by_name[name] = Pipeline(name, creates=tuple(entry["creates"]), releases=releases, **facts)
    return by_name


@dataclass(frozen=True)
class Profile:
    """Classes, keys and defaults of a release."""

    release: Release
    _known: dict[str, dict[str, list[Any]]] = field(default_factory=lambda: {"": {}}, compare=False, repr=False)

    @cached_property
    def _own(self) -> dict[str, dict[str, list[Any]]]:
        """Class -> keys without inherited ones -> type and default."""
        keys_by_class: dict[str, dict[str, list[Any]]] = {}
        for name, runs in fact_file("keys")["keys"].items():
            if (value := self._select(runs)) is not None:
                owner, _, key = name.rpartition(".")
                keys_by_class.setdefault(owner, {})[key] = value
        return keys_by_class

    def _select(self, runs: Iterable[list[Any]]) -> list[Any] | None:
        return next((run[2:] for run in runs if read_releases(RELEASES).holds(Range(*run[:2]), self.release)), None)

    def keys(self, name: str) -> dict[str, list[Any]]:
        """Return the keys of a class, inherited ones included: type and default; {} if unknown."""
        if name not in self._known:
            value = self._select(fact_file("keys")["classes"].get(name, ()))
            self._known[name] = {} if value is None else {**self.keys(value[0]), **self._own.get(name, {})}
        return self._known[name]

    def source(self, name: str) -> str:
        """Return the file of a class."""
        source = self._select(fact_file("keys")["classes"][name])
        return f"ROLL, {source[1]}" if source else "ROLL"

    def keys_of(self, part: str) -> frozenset[str]:
        """Return the keys that a worker block of a part may have."""
        return frozenset(self.keys(_CLASS_OF.get(part, "WorkerConfig")) or self.keys("WorkerConfig"))

    @cached_property
    def groups(self) -> dict[str, Any]:
        """Content of the texts in `examples/config`, by name."""
        selections = ((name, self._select(runs)) for name, runs in fact_file("groups").items())
        return {name: content[0] for name, content in selections if content is not None}

    @cached_property
    def megatron_keys(self) -> dict[str, list[Any]]:
        """Keys of `strategy_config` for Megatron: ROLL's own arguments, then those of transformers."""
        return {**self.keys("mcore_adapter.TrainingArguments"), **{key: [] for key in fact_file("trainer_arguments")}}

    def blocks(self, config: str) -> tuple[str, ...]:
        """Return the worker blocks of a configuration class."""
        keys = self.keys(config)
        return tuple(name for name in ALL_BLOCKS if name in keys and any(worker_class in keys[name][0] for worker_class in _WORKERS))

    @property
    def strategies(self) -> tuple[str, ...]:
        """Strategies of workers."""
        return _words(self.keys("StrategyArguments").get("strategy_name", [""])[0])


def _words(kind: str) -> tuple[str, ...]:
    return tuple(re.findall("'([^']*)'", kind)) if kind.startswith("Literal[") else ()


_profile = cache(Profile)


def profile_of(choice: ReleaseChoice | None) -> Profile:
    """Return the profile of the selected release; by default the newest."""
    return _profile(choice.release if choice is not None else read_releases(RELEASES).newest)


class Defaults(Mapping[str, Default]):
    """Lazy mapping from path to default, for a release. Paths are of the job or in any worker block."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.owners: dict[str, dict[str, list[str]]] = fact_file("defaults")

    def __getitem__(self, path: str) -> Default:
        key, of_workers = path.rpartition(".")[2], "." in path
        for owner, keys in self.owners["workers" if of_workers else "job"].items():
            for name in (owner, RLVR) if key in keys else ():  # before 0.1.3 there is no PPOConfig
                if key in self.profile.keys(name):
                    return Default(self.profile.keys(name)[key][1], self.profile.source(name))
        raise KeyError(path)

    def __iter__(self) -> Iterator[str]:
        return iter([key for keys in self.owners["job"].values() for key in keys])

    def __len__(self) -> int:
        return sum(map(len, self.owners["job"].values()))


def releases_with(strategy: str) -> tuple[Release, ...]:
    """Return the releases that know a strategy."""
    table, ranges = read_releases(RELEASES), _ranges_of(strategy)
    return tuple(release for release in table if any(table.holds(interval, release) for interval in ranges))


def releases_with_key(key: str, part: str = "") -> tuple[Release, ...]:
    """Return the releases that have a key of a part, by default of Megatron."""
    profiles = map(_profile, read_releases(RELEASES))
    return tuple(profile.release for profile in profiles if key in (profile.keys_of(part) if part else profile.megatron_keys))


def _ranges_of(strategy: str) -> list[Range]:
    return [Range(*run[:2]) for run in fact_file("keys")["keys"]["StrategyArguments.strategy_name"] if strategy in _words(run[2])]


# Releases that a file can be for.


def release_of(document: Document, roots: Sequence[str] = ()) -> ReleaseChoice:
    """See `Dialect.release_of`."""
    return infer_release(RELEASES, document, roots, _shown_release)


def _shown_release(document: Document) -> ReleaseChoice:
    """Return the newest release that a file does not exclude.

    ROLL refuses unknown strategies and silently drops unknown keys: a strategy excludes all
    releases without it; a key excludes the releases before it came, but not those after it went.
    """
    table, masks = read_releases(RELEASES), dict[str, int]()
    for block in maps(document.root):
        name = find(block, f"{STRATEGY}.strategy_name")
        if isinstance(name, Scalar) and isinstance(name.value, str):
            masks[f"strategy_name: {name.value}"] = mask_of(table, _ranges_of(name.value))
    paths = ("global_template", f"{names.ACTOR_TRAIN}.data_args.template")
    templates = [(path, value.text) for path in paths if isinstance(value := find(document.root, path), Scalar) and not value.is_null]
    if templates and templates[0][1] == "qwen2_5_dpo":  # the first is read alone
        masks[": ".join(templates[0])] = mask_of(table, [Range("", "0.2.1")])
    program = document.program.name.replace("\\", "/").rpartition("/")[2] if document.program else ""
    if program in fact_file("keys")["programs"]:
        masks[program] = mask_of(table, [Range(*run[:2]) for run in fact_file("keys")["programs"][program]])
    runs = fact_file("groups")
    for group in (group for group in absent_groups(document) if group in runs):
        masks[f"defaults: {group}"] = mask_of(table, [Range(*run[:2]) for run in runs[group]])
    possible = sum(1 << release.index for release in choose_by_masks(table, masks).possible)
    for path, first in _since(document.root).items():
        mask = (1 << len(table.releases)) - (1 << first)
        if mask & possible:
            masks[path], possible = mask, mask & possible
    return choose_by_masks(table, masks)


def maps(root: MapNode) -> Iterator[MapNode]:
    """Yield the maps of a configuration at the first two depths."""
    for entry in root:
        if isinstance(entry.value, MapNode):
            yield entry.value
            yield from (inner.value for inner in entry.value if isinstance(inner.value, MapNode))


def _since(root: MapNode) -> dict[str, int]:
    """Map keys of the file, if new in a later release, to the release index."""
    first = _first_releases()
    indices = {entry.key.text: index for entry in root if (index := first.get(("", entry.key.text)))}
    for block in root:
        name, value = block.key.text, block.value
        part = _CLASS_OF.get(name, "WorkerConfig" if name in ALL_BLOCKS else "")
        trees = [inner.value for inner in value] if name == REWARDS and isinstance(value, MapNode) else [value]
        for entry in (entry for tree in trees if part and isinstance(tree, MapNode) for entry in tree):
            if index := first.get((part, entry.key.text), first.get(("WorkerConfig", entry.key.text))):
                indices[f"{name}.{entry.key.text}"] = index
    return indices


@cache
def _first_releases() -> dict[tuple[str, str], int]:
    """Map (class, or "" for the job; key) to the first release's index."""
    indices: dict[tuple[str, str], int] = {}
    jobs = {"BaseConfig", "PPOConfig", "ScheduleConfig", *(pipeline.config for pipeline in pipelines().values())}
    table = read_releases(RELEASES)
    for name, runs in fact_file("keys")["keys"].items():
        owner, _, key = name.rpartition(".")
        since = table.find(runs[0][0]) if runs[0][0] else None
        place, index = ("" if owner in jobs else owner, key), since.index if since else 0
        indices[place] = min(indices.get(place, index), index)
    return indices
