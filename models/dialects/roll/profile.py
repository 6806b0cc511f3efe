"""Facts of ROLL by release: classes with their keys, types and defaults; pipelines and their programs.

Made from checkouts by tools/roll_profile.py (keys.json) and read in their sources (pipelines.json).
"""

from __future__ import annotations

import ast
import json
from functools import cache, cached_property
from typing import Any, Iterable, Iterator, Mapping

from ...configuration.settings import Default
from ...record import dataclass
from ...releases.choice import Choice
from ...releases.evidence import by_masks, mask_of
from ...releases.release import ALWAYS, Range, Release, read_releases
from ...text.document import Document
from ...text.tree import MapNode, Scalar, find
from . import names
from .names import AGENTIC, ALL_BLOCKS, FACTS, RELEASES, REWARDS, RLVR, STRATEGY

_OF_JOB = {
    AGENTIC: ("partial_gpu_mode",),
    RLVR: ("num_return_sequences_in_group",),
    "PPOConfig": (
        "adv_estimator", "enable_reference", "use_kl_loss", "is_pure_opd", "use_opd", "pure_opd_pipeline_type", "ppo_epochs",
    ),
    "ScheduleConfig": ("max_running_requests", "generate_opt_level"),
    "BaseConfig": ("num_nodes", "num_gpus_per_node", "rollout_batch_size", "val_batch_size"),
}  # fmt: skip
_OF_WORKERS = {
    "WorkerConfig": ("num_gpus_per_worker", "infer_batch_size", "max_concurrency"),
    "agentic.EnvManagerConfig": (names.GROUPS, names.SIZE, names.REDUNDANCY, names.MOST),
}
"""Class -> keys whose defaults hold where nothing is written."""
_CLASS_OF = {
    REWARDS: "rlvr.RewardConfig", names.AGENTIC_REWARD: "agentic.RewardConfig",
    names.TRAIN_ENV: "agentic.EnvManagerConfig", names.VAL_ENV: "agentic.EnvManagerConfig",
}  # fmt: skip
_WORKERS = ("WorkerConfig", "RewardConfig", "EnvManagerConfig")


@dataclass(frozen=True)
class Pipeline:
    """One of ROLL's pipelines.

    Attributes
    ----------
    name, launcher, config : its name here, the program that starts it, the class of its configuration.
    creates : parts that it may start, in that order.
    pure_opd : True if the launcher makes it pure on-policy distillation.
    checks_types : True if the types of all values are checked when the configuration is loaded.
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
        """True if it has actor, references and critic."""
        return self.config in (RLVR, AGENTIC)

    @property
    def agentic(self) -> bool:
        """True if it rolls out in environments."""
        return self.config == AGENTIC

    @property
    def updates_models(self) -> bool:
        """True if the weights of `actor_train` go to `actor_infer`."""
        return {names.ACTOR_TRAIN, names.ACTOR_INFER} <= set(self.creates)


@cache
def pipelines() -> dict[str, Pipeline]:
    """Pipelines of all releases by name."""
    found = {}
    for name, entry in json.loads((FACTS / "pipelines.json").read_text("utf-8")).items():
        releases, creates = Range(entry.pop("since", ""), entry.pop("until", "")), tuple(entry.pop("creates"))
        found[name] = Pipeline(name, creates=creates, releases=releases, **entry)
    return found


@cache
def _facts() -> dict[str, dict[str, list[list[Any]]]]:
    """Data of all releases: section -> name -> runs ``[since, until, value...]``."""
    found: dict[str, dict[str, list[list[Any]]]] = json.loads((FACTS / "keys.json").read_text("utf-8"))
    return found


@dataclass(frozen=True)
class Profile:
    """Classes, keys and defaults of one release."""

    release: Release

    @cached_property
    def _own(self) -> dict[str, dict[str, list[Any]]]:
        """Class -> its own keys -> type and default."""
        found: dict[str, dict[str, list[Any]]] = {}
        for name, runs in _facts()["keys"].items():
            if (value := self._at(runs)) is not None:
                owner, _, key = name.rpartition(".")
                found.setdefault(owner, {})[key] = value
        return found

    def _at(self, runs: Iterable[list[Any]]) -> list[Any] | None:
        """Value of the run that holds the release."""
        table = read_releases(RELEASES)
        return next((run[2:] for run in runs if table.holds(Range(*run[:2]), self.release)), None)

    @cached_property
    def _keys(self) -> dict[str, dict[str, list[Any]]]:
        """Class -> its keys, as far as they were asked for."""
        return {"": {}}

    def keys(self, name: str) -> dict[str, list[Any]]:
        """Keys of a class with those of its bases: type and default; {} of an unknown class."""
        if name not in self._keys:
            value = self._at(_facts()["classes"].get(name, ()))
            self._keys[name] = {} if value is None else {**self.keys(value[0]), **self._own.get(name, {})}
        return self._keys[name]

    def keys_of(self, part: str) -> frozenset[str]:
        """Keys that a block of workers of a part may have."""
        return frozenset(self.keys(_CLASS_OF.get(part, "WorkerConfig")) or self.keys("WorkerConfig"))

    def blocks(self, config: str) -> tuple[str, ...]:
        """Blocks of workers that a class knows."""
        keys = self.keys(config)
        return tuple(name for name in ALL_BLOCKS if name in keys and any(each in keys[name][0] for each in _WORKERS))

    def words(self, config: str, key: str) -> tuple[str, ...]:
        """Words that a key may be, of its `Literal` type; () if it may be any."""
        return _words(self.keys(config).get(key, [""])[0])

    @property
    def strategies(self) -> tuple[str, ...]:
        """Strategies of workers."""
        return self.words("StrategyArguments", "strategy_name")

    @property
    def default_strategy(self) -> str:
        """Strategy where `strategy_args` names none."""
        return str(self.keys("StrategyArguments")["strategy_name"][1])

    def default(self, path: str) -> Default | None:
        """Default of a path, in whatever block of workers it is; None without one."""
        key, of_workers = path.rpartition(".")[2], "." in path
        for owner, keys in (_OF_WORKERS if of_workers else _OF_JOB).items():
            for name in (owner, RLVR) if key in keys else ():  # before 0.1.3 there is no PPOConfig
                if key in self.keys(name):
                    source = self._at(_facts()["classes"][name])
                    return Default(self.keys(name)[key][1], f"ROLL, {source[1]}" if source else "ROLL")
        return None


def _words(kind: str) -> tuple[str, ...]:
    """Words of a type ``Literal['a', 'b']``."""
    if not kind.startswith("Literal["):
        return ()
    words = ast.literal_eval(f"({kind[len('Literal[') : -1]},)")
    return tuple(word for word in words if isinstance(word, str))


@cache
def _profile(release: Release) -> Profile:
    return Profile(release)


def profile_of(choice: Choice | None) -> Profile:
    """Profile of the release at hand; of the newest where none is chosen."""
    return _profile(choice.release if choice is not None else read_releases(RELEASES).newest)


class Defaults(Mapping[str, Default]):
    """Defaults of all paths at one release, looked up when they are asked for."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def __getitem__(self, path: str) -> Default:
        found = self.profile.default(path)
        if found is None:
            raise KeyError(path)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter([key for keys in _OF_JOB.values() for key in keys])

    def __len__(self) -> int:
        return sum(map(len, _OF_JOB.values()))


def releases_with(strategy: str) -> tuple[Release, ...]:
    """Releases that know a strategy."""
    table, ranges = read_releases(RELEASES), _ranges_of(strategy)
    return tuple(release for release in table if any(table.holds(each, release) for each in ranges))


def releases_with_key(part: str, key: str) -> tuple[Release, ...]:
    """Releases in which a block of workers of a part has a key."""
    return tuple(release for release in read_releases(RELEASES) if key in _profile(release).keys_of(part))


def _ranges_of(strategy: str) -> list[Range]:
    runs = _facts()["keys"]["StrategyArguments.strategy_name"]
    return [Range(*run[:2]) for run in runs if strategy in _words(run[2])]


# Which releases a file can be for


def shown_release(document: Document) -> Choice:
    """Newest release that a file does not exclude.

    ROLL refuses a strategy that it does not know, and drops a key that it does not know without a word: so a strategy
    excludes all releases without it, a key those before it came, but not those after it went.
    """
    table, known = read_releases(RELEASES), dict[str, int]()
    for block in maps(document.root):
        name = find(block, f"{STRATEGY}.strategy_name")
        if isinstance(name, Scalar) and isinstance(name.value, str):
            known[f"strategy_name: {name.value}"] = mask_of(table, _ranges_of(name.value))
    program = document.program.name.replace("\\", "/").rpartition("/")[2] if document.program else ""
    if program in _facts()["programs"]:
        known[program] = mask_of(table, [Range(*run[:2]) for run in _facts()["programs"][program]])
    possible = sum(1 << release.index for release in by_masks(table, known).possible)
    for path, first in _since(document.root).items():
        mask = (1 << len(table.releases)) - (1 << first)
        if mask & possible:
            known[path], possible = mask, mask & possible
    return by_masks(table, known)


def maps(root: MapNode) -> Iterator[MapNode]:
    """The blocks of a configuration, and those in them."""
    for entry in root:
        if isinstance(entry.value, MapNode):
            yield entry.value
            yield from (inner.value for inner in entry.value if isinstance(inner.value, MapNode))


def _since(root: MapNode) -> dict[str, int]:
    """Keys of the file that came with a later release -> index of the release."""
    first = _first_releases()
    found = {entry.key.text: index for entry in root if (index := first.get(("", entry.key.text)))}
    for block in root:
        name, value = block.key.text, block.value
        part = _CLASS_OF.get(name, "WorkerConfig" if name in ALL_BLOCKS else "")
        trees = [each.value for each in value] if name == REWARDS and isinstance(value, MapNode) else [value]
        for entry in (entry for tree in trees if part and isinstance(tree, MapNode) for entry in tree):
            if index := first.get((part, entry.key.text), first.get(("WorkerConfig", entry.key.text))):
                found[f"{name}.{entry.key.text}"] = index
    return found


@cache
def _first_releases() -> dict[tuple[str, str], int]:
    """(class, or "" for the job, key) -> index of the first release that has it."""
    found: dict[tuple[str, str], int] = {}
    jobs = {"BaseConfig", "PPOConfig", "ScheduleConfig", *(each.config for each in pipelines().values())}
    table = read_releases(RELEASES)
    for name, runs in _facts()["keys"].items():
        owner, _, key = name.rpartition(".")
        since = table.named(runs[0][0]) if runs[0][0] else None
        place, index = ("" if owner in jobs else owner, key), since.index if since else 0
        found[place] = min(found.get(place, index), index)
    return found
