"""Pipeline of a configuration, switches of the pipeline, and started worker blocks."""

from __future__ import annotations

from typing import Callable, Iterator

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...findings.span import Span
from ...record import dataclass
from ...text.document import Program
from ...text.tree import MapNode, Scalar
from ..checks import Facts, OneOf
from . import names
from .names import ACTOR_TRAIN, AT_LOAD, CRITICS, REFERENCES, REWARDS, TEACHERS
from .profile import Pipeline, pipelines, profile_of

# Settings that decide whether a PPO pipeline starts a critic, a reference, and teachers.

RULE = "PW123"
STARTS = "PW101"
"""Code of settings that decide which roles start."""
BY_ESTIMATOR, BY_KL = "`adv_estimator` is", "`init_kl_coef` is"
"""Prefixes of the reasons for a critic, or none, and for a reference."""
NO_REFERENCE = "nothing needs a reference: `init_kl_coef` is 0, `use_kl_loss` and `enable_reference` are false"


@dataclass(frozen=True, slots=True)
class Switch:
    """State of a switch, with reason and place.

    `on` is None if unknown; `why` is a part of a sentence.
    """

    on: bool | None
    why: str
    span: Span


class Switches:
    """Switches of a PPO configuration: `critic`, `reference`, and `opd` (teachers as references).

    Source: ROLL, roll/configs/base_config.py (PPOConfig, `_handle_opd_mapping`).
    """

    def __init__(self, notes: Notes, settings: Settings, pipeline: Pipeline) -> None:
        self.notes, self.settings, self.pipeline = notes, settings, pipeline
        mixed = notes.choice is not None and notes.choice.since("0.2.1") and bool(settings.flag("use_opd", STARTS))
        self.opd = pipeline.pure_opd or mixed
        if pipeline.pure_opd and mixed:
            message, edit = "ROLL refuses `use_opd: true` with pure on-policy distillation", settings.becomes("use_opd", "false")
            notes.error(RULE, "", message, self._span("use_opd"), "both", "write `use_opd: false`", edit, AT_LOAD)
        elif mixed and is_configured(settings, REFERENCES):
            message = "with `use_opd: true` the teachers are the references, and ROLL refuses a configured `reference`"
            notes.error(RULE, REFERENCES, message, self._span(REFERENCES), "configured", "remove `reference`", None, AT_LOAD)
        self.critic, self.reference = self._critic(), self._reference()

    def _critic(self) -> Switch:
        settings, pipeline = self.settings, self.pipeline
        if pipeline.pure_opd:
            return Switch(False, "pure distillation needs no critic", settings.top)
        estimator = settings.word("adv_estimator", STARTS)
        if estimator is None:
            return Switch(None, "`adv_estimator` is not known here", settings.top)
        if not settings.has("adv_estimator"):
            return Switch(True, f"{BY_ESTIMATOR} `gae` by default", settings.top)
        if pipeline.checks_types:
            estimators = profile_of(self.notes.choice).words(pipeline.config, "adv_estimator")
            source = "ROLL, roll/configs/base_config.py"
            OneOf(code="PW105", source=source, when=AT_LOAD, key="adv_estimator", values=estimators).run(Facts(self.notes, settings))
        return Switch(estimator == "gae", f"{BY_ESTIMATOR} `{estimator}`", self._span("adv_estimator"))

    def _reference(self) -> Switch:
        settings, pipeline, choice = self.settings, self.pipeline, self.notes.choice
        with_adapters = pipeline.lora_reference or (pipeline.agentic and choice is not None and choice.until("0.2.0"))
        adapters = f"{ACTOR_TRAIN}.model_args.lora_target"
        if settings.has(adapters) and not pipeline.pure_opd and not with_adapters:
            return Switch(False, "with `lora_target` the actor without its adapters is the reference", self._span(adapters))
        if self.opd:
            return Switch(True, "distillation compares with the teacher", settings.top)
        if choice is not None and choice.until("0.1.3"):
            return Switch(True, f"{choice.release} always does", settings.top)
        for key in ("enable_reference", "use_kl_loss"):
            flag = settings.flag(key, STARTS)
            if flag is not False:
                return Switch(flag, f"`{key}` is {'true' if flag else 'not known here'}", self._span(key) if flag else settings.top)
        if settings.is_open("init_kl_coef", STARTS):
            return Switch(None, "`init_kl_coef` is not known here", settings.top)
        if settings.at("init_kl_coef") is None:
            return Switch(True, f"{BY_KL} 0.2 by default", settings.top)
        on = self._is_positive("init_kl_coef")
        return Switch(on, f"{BY_KL} above 0" if on else NO_REFERENCE, self._span("init_kl_coef"))

    def _is_positive(self, path: str) -> bool:
        """Return True if the number at a path is above 0.

        Hydra reads `1e-3` as a number; other YAML readers take it for text.
        """
        value = self.settings.at(path)
        number = value.value if isinstance(value, Scalar) else None
        if isinstance(value, Scalar) and isinstance(number, str):
            is_quoted = self.notes.document.text_of(value.span.file)[value.span.start] in "'\""
            try:
                number = None if is_quoted else float(number)
            except ValueError:
                number = None
        if isinstance(number, (int, float)):
            return number > 0
        if value is not None and self.pipeline.checks_types:
            self.notes.wrong_type("", path, value, "a number", "write a number such as `0`")
        return False

    def _span(self, path: str) -> Span:
        value = self.settings.at(path)
        return value.span if value is not None else self.settings.top


def is_configured(settings: Settings, key: str) -> bool:
    """Return True if a block has devices or a model.

    Source: ROLL, WorkerConfig.is_configured.
    """
    return settings.has(f"{key}.{names.DEVICES}") or settings.has(f"{key}.model_args.model_name_or_path")


# Worker blocks of a configuration: started ones first, in ROLL's order.

_STARTED = "the pipeline always starts it"
NOT_STARTED = "does not start it"
"""Suffix of the reason if another pipeline would start the role."""


@dataclass(frozen=True, slots=True)
class ConfigurationBlock:
    """Worker block of the file, or a started block without an entry.

    For the fields see `Role`; `counts`: the devices count for `num_nodes`.
    """

    key: str
    part: str
    created: bool | None
    reason: str
    span: Span
    mapping: MapNode | None
    counts: bool = True


def blocks_of(notes: Notes, settings: Settings, pipeline: Pipeline, root: MapNode) -> tuple[ConfigurationBlock, ...]:
    """Return all blocks read or started by ROLL."""
    return tuple(_Blocks(notes, settings, pipeline, root).found())


class _Blocks:
    def __init__(self, notes: Notes, settings: Settings, pipeline: Pipeline, root: MapNode) -> None:
        self.settings, self.pipeline, self.root = settings, pipeline, root
        self.profile = profile_of(notes.choice)
        self.known = self.profile.blocks(pipeline.config)
        self.switches = Switches(notes, settings, pipeline) if pipeline.ppo else None

    def found(self) -> Iterator[ConfigurationBlock]:
        taken: set[str] = set()
        for part in self.pipeline.creates:
            for block in self._started(part) if part in self.known else ():
                taken.add(block.key)
                yield block
        for name in self.known:
            replaced = self.pipeline.pure_opd and name in (ACTOR_TRAIN, names.ACTOR_INFER, REFERENCES)
            why = "the students and teachers take its place" if replaced else f"`{self.pipeline.launcher}` {NOT_STARTED}"
            for key in self._declared(name):
                if key not in taken:
                    yield self._block(key, name, False, why, not replaced)

    def _started(self, part: str) -> Iterator[ConfigurationBlock]:
        """Yield the blocks of a part that the pipeline may start."""
        if part == REWARDS:
            for key in self._declared(REWARDS):
                yield self._block(key, REWARDS, True, _STARTED)
        elif part == REFERENCES and self.switches:
            yield from self._references(self.switches.reference, self.switches.opd)
        elif part == CRITICS and self.switches:
            yield self._switched(CRITICS, CRITICS, self.switches.critic)
        elif part in (names.REWARD_MODEL, names.AGENTIC_REWARD):
            if self._at(part) is not None:
                yield self._block(part, part, True, _STARTED)
        elif self.pipeline.pure_opd and part in (ACTOR_TRAIN, names.ACTOR_INFER):
            key = names.STUDENT_TRAIN if part == ACTOR_TRAIN else names.STUDENT_INFER
            yield self._block(key, part, True, _STARTED)
        else:
            yield self._block(part, part, True, _STARTED)

    def _references(self, switch: Switch, opd: bool) -> Iterator[ConfigurationBlock]:
        """Yield the teachers as references, if any; else the reference.

        Source: PPOConfig.reference_configs.
        """
        teachers = [key for key in self._declared(TEACHERS) if "." in key or opd or is_configured(self.settings, key)]
        if not teachers or self.pipeline.lora_reference:
            teachers = [TEACHERS if opd else REFERENCES]
        for key in teachers:
            yield self._switched(key, REFERENCES, switch)

    def _switched(self, key: str, part: str, switch: Switch) -> ConfigurationBlock:
        block = self._block(key, part, switch.on, switch.why)
        return block if block.mapping is not None else ConfigurationBlock(key, part, switch.on, switch.why, switch.span, None)

    def _declared(self, name: str) -> Iterator[str]:
        """Yield the paths of the blocks under a name.

        `rewards` and several teachers have several; ROLL tries to read several teachers first.
        """
        value, known = self._at(name), self.profile.keys_of(TEACHERS)
        several = name == TEACHERS and self.pipeline.ppo and value is not None and bool(value.entries)
        if several and value is not None:
            several = all(isinstance(entry.value, MapNode) and entry.key.text not in known for entry in value)
        if several or (name == REWARDS and self.pipeline.config == names.RLVR):
            yield from (f"{name}.{entry.key.text}" for entry in value or ())
        elif value is not None:
            yield name

    def _at(self, key: str) -> MapNode | None:
        value = self.settings.at(key)
        return value if isinstance(value, MapNode) else None

    def _block(self, key: str, part: str, created: bool | None, reason: str, counts: bool = True) -> ConfigurationBlock:
        group, _, inner = key.partition(".")
        owner = self._at(group) if inner else self.root
        entry = owner.entry(inner or group) if owner is not None else None
        if entry is None:
            return ConfigurationBlock(key, part, created, reason, self.settings.top, None, counts)
        return ConfigurationBlock(key, part, created, reason, entry.key.span, self._at(key), counts)


# Pipeline of a configuration; the file itself does not name it.


def pipeline_of(notes: Notes, settings: Settings, program: Program | None) -> Pipeline:
    """Return the pipeline that the program starts; without a program, guess from the keys.

    If another pipeline with other roles fits the keys too, the guess is noted as unchecked.
    """
    launcher = program.name.replace("\\", "/").rsplit("/", 1)[-1] if program is not None else ""
    started = [pipeline for pipeline in pipelines().values() if pipeline.launcher == launcher]
    if started:
        return started[0] if len(started) == 1 else _distilled(settings)
    guess, alternative = _by_keys(settings, lambda name: notes.choice is None or notes.choice.has(pipelines()[name].releases))
    if alternative:
        why = f"the file does not say which pipeline it is for; it was read as one for {guess.launcher}, not {pipelines()[alternative].launcher}"
        notes.unsure(RULE, "", why, True, "Verify the script that starts it")
    return guess


def _by_keys(settings: Settings, is_possible: Callable[[str], bool]) -> tuple[Pipeline, str]:
    """Guess the pipeline from the keys.

    The second result names a possible alternative that would start other roles; "" without one.
    """

    def has(*keys: str) -> bool:
        return any(settings.has(key) for key in keys)

    if has(names.STUDENT_TRAIN, names.STUDENT_INFER) or settings.flag("is_pure_opd", RULE):
        return (pipelines()["sft"] if has(names.SFT_TRAIN) else _distilled(settings)), ""
    trains = has(*(f"{ACTOR_TRAIN}.{key}" for key in (names.DEVICES, names.WORLD_SIZE, names.STRATEGY)))
    rolls_out = has(names.ACTOR_INFER, REWARDS, "adv_estimator")
    name, alternative = "rlvr", ""
    if has(names.SFT_TRAIN):
        name = "sft"
    elif has(names.STUDENTS):
        name = "distill"
    elif has(names.TRAIN_ENV, names.VAL_ENV, "custom_envs", "env_manager_cls"):
        name = "agentic" if trains or not has(names.ACTOR_INFER) else "agentic_rollout"
    elif has(ACTOR_TRAIN) and has(REFERENCES, "chosen_key") and not rolls_out:
        name = "dpo"
    elif is_possible("reward_fl") and has("train_batch_size") and has(ACTOR_TRAIN) and not rolls_out:
        name = "reward_fl"
    elif not has(ACTOR_TRAIN) and has(names.ACTOR_INFER):
        name, alternative = "rlvr_rollout", "rlvr"
    elif has(f"{ACTOR_TRAIN}.model_args.lora_target", names.REWARD_MODEL):
        alternative = "rlvr_vl"
    return pipelines()[name], alternative


def _distilled(settings: Settings) -> Pipeline:
    agentic = settings.word("pure_opd_pipeline_type", RULE) == "agentic"
    return pipelines()["opd_agentic" if agentic else "opd_rlvr"]
