"""Pipeline of a configuration, its switches, and its worker blocks as roles."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, NamedTuple, Sequence

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...findings.span import Span
from ...text.document import Program
from ...text.nearest import SLIP, closest
from ...text.tree import MapNode
from . import names
from .job import Role, RollChecks, RollSetup
from .names import ACTOR_TRAIN, ALL_BLOCKS, CRITICS, REFERENCES, REWARDS, TEACHERS, is_worker
from .profile import Pipeline, fact_file, pipelines
from .types import number_of

RULE = "PW123"
STARTS = "PW101"
"""Code of settings that decide which roles start."""
BY_ESTIMATOR, BY_KL = "`adv_estimator` is", "`init_kl_coef` is"
"""Prefixes of the reasons for a critic, or none, and for a reference."""
NO_REFERENCE = "nothing needs a reference: `init_kl_coef` is 0, `use_kl_loss` and `enable_reference` are false"
NOT_STARTED = "does not start it"
"""Suffix of the reason if another pipeline would start the role."""
_STARTED = "the pipeline always starts it"

# Settings that decide whether a PPO pipeline starts a critic, a reference, and teachers.
#
# Source: ROLL, roll/configs/base_config.py (PPOConfig, `_handle_opd_mapping`).


class Switch(NamedTuple):
    """State of a switch, with reason (part of a sentence) and place. `on` is None if unknown."""

    on: bool | None
    why: str
    span: Span


# Worker blocks of a configuration: started ones first, in ROLL's order.


class ConfigurationBlocks(RollChecks):
    """Blocks that ROLL reads or starts, as roles still without workers."""

    def __init__(self, setup: RollSetup) -> None:
        super().__init__(setup)
        self.known = setup.profile.blocks(setup.pipeline.config)
        is_mixed = setup.notes.choice is not None and setup.settings.since("0.2.1") and bool(setup.settings.flag("use_opd", STARTS))
        self.teachers_refer = setup.pipeline.ppo and (setup.pipeline.pure_opd or is_mixed)
        self.switches: dict[str, Switch] = {}
        if setup.pipeline.ppo:
            self.switches = {CRITICS: self._critic(), REFERENCES: self._reference()}

    def _critic(self) -> Switch:
        settings, pipeline = self.settings, self.pipeline
        if pipeline.pure_opd:
            return Switch(False, "pure distillation needs no critic", settings.top)
        estimator = settings.word("adv_estimator", STARTS)
        if estimator is None:
            return Switch(None, "`adv_estimator` is not known here", settings.top)
        if not settings.has("adv_estimator"):
            return Switch(True, f"{BY_ESTIMATOR} `gae` by default", settings.top)
        return Switch(estimator == "gae", f"{BY_ESTIMATOR} `{estimator}`", self.setup.span_of("adv_estimator"))

    def _reference(self) -> Switch:
        settings, pipeline, choice = self.settings, self.pipeline, self.notes.choice
        with_adapters = pipeline.lora_reference or (pipeline.agentic and choice is not None and choice.is_older_than("0.2.0"))
        adapters = f"{ACTOR_TRAIN}.model_args.lora_target"
        if settings.has(adapters) and not pipeline.pure_opd and not with_adapters:
            return Switch(False, "with `lora_target` the actor without its adapters is the reference", self.setup.span_of(adapters))
        if self.teachers_refer:
            return Switch(True, "distillation compares with the teacher", settings.top)
        if choice is not None and choice.is_older_than("0.1.3"):
            return Switch(True, f"{choice.release} always does", settings.top)
        for key in ("enable_reference", "use_kl_loss"):
            flag = settings.flag(key, STARTS)
            if flag is not False:
                return Switch(flag, f"`{key}` is {'true' if flag else 'not known here'}", self.setup.span_of(key) if flag else settings.top)
        if settings.is_open("init_kl_coef", STARTS):
            return Switch(None, "`init_kl_coef` is not known here", settings.top)
        if settings.at("init_kl_coef") is None:
            return Switch(True, f"{BY_KL} 0.2 by default", settings.top)
        on = (number_of(self.notes, settings.at("init_kl_coef")) or 0) > 0
        return Switch(on, f"{BY_KL} above 0" if on else NO_REFERENCE, self.setup.span_of("init_kl_coef"))

    def roles(self) -> Iterator[Role]:
        """Yield the roles."""
        keys: set[str] = set()
        for part in self.pipeline.creates:
            for key in self._list_started(part) if part in self.known else ():
                keys.add(key)
                switch = self.switches.get(part)
                role = self._role(key, part, switch.on, switch.why) if switch else self._role(key, part, True, _STARTED)
                yield replace(role, span=switch.span) if switch and role.block is None else role
        for name in self.known:
            is_replaced = self.pipeline.pure_opd and name in (ACTOR_TRAIN, names.ACTOR_INFER, REFERENCES)
            why = "the students and teachers take its place" if is_replaced else f"`{self.pipeline.launcher}` {NOT_STARTED}"
            for key in self._find_blocks(name):
                if key not in keys:
                    yield self._role(key, name, False, why, not is_replaced)

    def _list_started(self, part: str) -> Iterator[str]:
        """Yield the paths of the blocks of a part that the pipeline may start."""
        if part == REWARDS:
            yield from self._find_blocks(REWARDS)
        elif part == REFERENCES and self.switches:
            yield from self._references()
        elif part in (names.REWARD_MODEL, names.AGENTIC_REWARD):
            yield from [part] if self._find_map(part) is not None else []
        elif self.pipeline.pure_opd and part in (ACTOR_TRAIN, names.ACTOR_INFER):
            yield names.STUDENT_TRAIN if part == ACTOR_TRAIN else names.STUDENT_INFER
        else:
            yield part

    def _references(self) -> list[str]:
        """Return the teachers as references, if any; else the reference.

        Source: PPOConfig.reference_configs, WorkerConfig.is_configured.
        """
        blocks, signs = self._find_blocks(TEACHERS) if TEACHERS in self.known else [], (names.DEVICES, "model_args.model_name_or_path")
        teachers_refer = self.teachers_refer
        teachers = [key for key in blocks if teachers_refer or "." in key or any(self.settings.has(f"{key}.{sign}") for sign in signs)]
        if not teachers or self.pipeline.lora_reference:
            return [TEACHERS if self.teachers_refer else REFERENCES]
        return teachers

    def _find_blocks(self, name: str) -> list[str]:
        """Return the paths of the blocks under a name; `rewards` and `teacher` may have several."""
        value = self._find_map(name)
        if value is None:
            return []
        teacher_keys = self.setup.profile.keys_of(TEACHERS)
        several = name == REWARDS and self.pipeline.config == names.RLVR
        if name == TEACHERS and self.pipeline.ppo and value.entries:
            several = all(isinstance(entry.value, MapNode) and entry.key.text not in teacher_keys for entry in value)
        return [f"{name}.{entry.key.text}" for entry in value] if several else [name]

    def _find_map(self, key: str) -> MapNode | None:
        value = self.settings.at(key)
        return value if isinstance(value, MapNode) else None

    def _role(self, key: str, part: str, is_created: bool | None, reason: str, counts: bool = True) -> Role:
        group, _, inner = key.partition(".")
        owner = self._find_map(group if inner else "")
        entry = owner.entry(inner or group) if owner is not None else None
        span = self.settings.top if entry is None else entry.key.span
        return Role(key, part, is_created, reason, span, self._find_map(key) if entry is not None else None, counts=counts)


# Pipeline of a configuration; the file itself does not name it.


def pipeline_of(notes: Notes, settings: Settings, program: Program | None) -> Pipeline:
    """Return the pipeline that the program starts; without a program, guess from the keys.

    If another pipeline with other roles fits the keys too, the guess is noted as unchecked.
    """
    root = settings.at("")
    entries = root.entries if isinstance(root, MapNode) else ()
    strange = [entry.key.text for entry in entries if entry.key.text not in ALL_BLOCKS and is_worker(entry.value)]

    def has(*keys: str) -> bool:
        """Return True if the file has any of the keys, or a misspelt role instead."""
        return any(settings.has(key) or (key in ALL_BLOCKS and closest(key, strange, SLIP)) for key in keys)

    def is_shown(pipeline: str, keys: Sequence[Sequence[str]] = (), without: Sequence[str] = (), alternative: str = "") -> bool:
        """Return True if the file has a key of each group, and none of `without`."""
        releases = pipelines()[pipeline].releases
        is_known = not releases.until or notes.choice is None or notes.choice.has(releases)
        return is_known and all(has(*group) for group in keys) and not has(*without)

    launcher = program.name.replace("\\", "/").rsplit("/", 1)[-1] if program is not None else ""
    candidates = [pipeline for pipeline in pipelines().values() if pipeline.launcher == launcher]
    if candidates:
        return candidates[0] if len(candidates) == 1 else _build_distillation(settings)
    if has(names.STUDENT_TRAIN, names.STUDENT_INFER) or settings.flag("is_pure_opd", RULE):
        return pipelines()["sft"] if has(names.SFT_TRAIN) else _build_distillation(settings)
    guess = next(guess for guess in fact_file("guesses") if is_shown(**guess))
    pipeline, alternative = pipelines()[guess["pipeline"]], guess.get("alternative")
    if alternative:
        why = f"the file does not say which pipeline it is for; it was read as one for {pipeline.launcher}, not {pipelines()[alternative].launcher}"
        notes.unsure(RULE, "", why, True, "Verify the script that starts it")
    return pipeline


def _build_distillation(settings: Settings) -> Pipeline:
    return pipelines()["opd_agentic" if settings.word("pure_opd_pipeline_type", RULE) == "agentic" else "opd_rlvr"]
