"""The blocks of workers of a configuration, those that ROLL starts first, in its own order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.span import Span
from ....text.tree import Mapping
from ..roles.known_keys import BLOCKS, STUDENT_INFER, STUDENT_TRAIN, WORKER_KEYS
from ..roles.parts import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    CRITICS,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
)  # fmt: skip
from ..roles.pipelines import RLVR, Pipeline
from .switches import Switch, is_configured, read_switches

_STARTED = "the pipeline always starts it"
NOT_STARTED = "does not start it"
"""How the reason ends where another pipeline would start the role."""
_CLUSTERS = {TRAIN_ENV: "train_env", VAL_ENV: "val_env"}


@dataclass(frozen=True, slots=True)
class Block:
    """One block, or one that ROLL starts without it. See `Role`; `counts` tells whether its devices count for `num_nodes`."""

    key: str
    part: str
    cluster: str
    created: bool | None
    reason: str
    span: Span
    mapping: Mapping | None
    counts: bool = True


def blocks_of(notes: Notes, settings: Settings, pipeline: Pipeline, root: Mapping) -> tuple[Block, ...]:
    """Every block that ROLL reads, and every one that it starts."""
    return tuple(_Blocks(notes, settings, pipeline, root).found())


class _Blocks:
    def __init__(self, notes: Notes, settings: Settings, pipeline: Pipeline, root: Mapping) -> None:
        self.notes, self.settings, self.pipeline, self.root = notes, settings, pipeline, root
        self.switches = read_switches(notes, settings, pipeline) if pipeline.ppo else None

    def found(self) -> Iterator[Block]:
        taken: set[str] = set()
        for part in self.pipeline.creates:
            for block in self._started(part):
                taken.add(block.key)
                yield block
        for name in BLOCKS[self.pipeline.config]:
            for key in self._declared(name):
                if key not in taken:
                    yield self._unused(name, key)

    # -- those that may be started

    def _started(self, part: str) -> Iterator[Block]:
        if part == REWARDS:
            for key in self._declared(REWARDS):
                yield self._block(key, REWARDS, f"reward-{key.removeprefix(f'{REWARDS}.')}", True, _STARTED)
        elif part == REFERENCES and self.switches:
            yield from self._references(self.switches.reference, self.switches.opd)
        elif part == CRITICS and self.switches:
            yield self._switched(CRITICS, CRITICS, self.switches.critic)
        elif part in (REWARD_MODEL, AGENTIC_REWARD):
            if self._at(part) is not None:
                yield self._block(part, part, self._name(part), True, _STARTED)
        elif self.pipeline.pure_opd and part in (ACTOR_TRAIN, ACTOR_INFER):
            key = STUDENT_TRAIN if part == ACTOR_TRAIN else STUDENT_INFER
            yield self._block(key, part, key, True, _STARTED)
        else:
            yield self._block(part, part, _CLUSTERS.get(part, part), True, _STARTED)

    def _references(self, switch: Switch, opd: bool) -> Iterator[Block]:
        """The teachers, where there are any: ROLL then starts these. Source: PPOConfig.reference_configs."""
        teachers = [key for key in self._declared(TEACHERS) if "." in key or opd or is_configured(self.settings, key)]
        if not teachers or self.pipeline.lora_reference:
            if opd:
                yield self._switched(TEACHERS, REFERENCES, switch)
            else:
                yield self._switched(REFERENCES, REFERENCES, switch)
            return
        for key in teachers:
            name = f"teacher-{key.partition('.')[2]}" if len(teachers) > 1 else "teacher"
            yield self._switched(key, REFERENCES, switch, name if opd else self._name(key))

    def _switched(self, key: str, part: str, switch: Switch, cluster: str = "") -> Block:
        block = self._block(key, part, cluster or key, switch.on, switch.why)
        return block if block.mapping is not None else Block(key, part, cluster or key, switch.on, switch.why, switch.span, None)

    # -- the others

    def _unused(self, name: str, key: str) -> Block:
        replaced = self.pipeline.pure_opd and name in (ACTOR_TRAIN, ACTOR_INFER, REFERENCES)
        why = "the students and teachers take its place" if replaced else f"`{self.pipeline.launcher}` {NOT_STARTED}"
        return self._block(key, name, "", False, why, not replaced)

    def _declared(self, name: str) -> Iterator[str]:
        """The paths of the blocks under a name: several for `rewards` and for several teachers."""
        value = self._at(name)
        if name == REWARDS and self.pipeline.config == RLVR:
            yield from (f"{name}.{entry.key.text}" for entry in value or ())
        elif name == TEACHERS and self.pipeline.ppo and value is not None and _holds_workers(value):
            yield from (f"{name}.{entry.key.text}" for entry in value)
        elif value is not None:
            yield name

    def _at(self, key: str) -> Mapping | None:
        value = self.settings.at(key)
        return value if isinstance(value, Mapping) else None

    def _name(self, key: str) -> str:
        return self.settings.word(f"{key}.name", "PW105") or ""

    def _block(self, key: str, part: str, cluster: str, created: bool | None, reason: str, counts: bool = True) -> Block:
        group, _, inner = key.partition(".")
        owner = self._at(group) if inner else self.root
        entry = owner.entry(inner or group) if owner is not None else None
        if entry is None:
            return Block(key, part, cluster, created, reason, self.settings.top, None, counts)
        return Block(key, part, cluster, created, reason, entry.key.span, self._at(key), counts)


def _holds_workers(value: Mapping) -> bool:
    """Is it a map of several teachers rather than one teacher? ROLL tries this first."""
    return bool(value.entries) and all(isinstance(entry.value, Mapping) and entry.key.text not in WORKER_KEYS for entry in value)
