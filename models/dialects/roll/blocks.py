"""The pipeline of a configuration, what it switches on, and the blocks of workers that it starts."""

from __future__ import annotations

from typing import Callable, Iterator

from ...configuration.notes import Notes
from ...configuration.settings import Settings
from ...findings.span import Span
from ...record import dataclass
from ...text.nearest import nearest
from ...text.program import Program
from ...text.tree import Mapping, Scalar
from .names import AT_LOAD
from .names import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    CRITICS,
    DEVICES,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    RLVR,
    SFT_TRAIN,
    STUDENT_INFER,
    STUDENT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
    WORLD_SIZE,
)  # fmt: skip
from .profile import Pipeline, pipelines, profile_of

# The settings that decide which roles a PPO pipeline starts: critic, reference, distillation from teachers.

RULE = "PW123"
STARTS = "PW101"
"""Code of what decides whether a role is started."""
BY_ESTIMATOR, BY_KL = "`adv_estimator` is", "`init_kl_coef` is"
"""How the reasons begin why there is a critic, or none, and why there is a reference."""
NO_REFERENCE = "nothing needs a reference: `init_kl_coef` is 0, `use_kl_loss` and `enable_reference` are false"


@dataclass(frozen=True, slots=True)
class Switch:
    """Whether something is on, None where that is not known; why, as part of a sentence, and where that is written."""

    on: bool | None
    why: str
    span: Span


@dataclass(frozen=True, slots=True)
class Switches:
    """`critic` and `reference`: are they started? `opd`: are teachers used as references?"""

    critic: Switch
    reference: Switch
    opd: bool


def read_switches(notes: Notes, settings: Settings, pipeline: Pipeline) -> Switches:
    """What a PPO configuration switches on. Source: ROLL, roll/configs/base_config.py (PPOConfig), BC:654 and `_handle_opd_mapping`."""
    mixed = notes.choice is not None and notes.choice.since("0.2.1") and bool(settings.flag("use_opd", STARTS))
    if pipeline.pure_opd and mixed:
        message = "`use_opd: true` cannot be used with pure on-policy distillation: ROLL refuses both together"
        notes.error(
            RULE, "", message, _span(settings, "use_opd"), "both", "write `use_opd: false`", settings.becomes("use_opd", "false"), AT_LOAD
        )
    if mixed and not pipeline.pure_opd and is_configured(settings, REFERENCES):
        message = "with `use_opd: true` the teachers are the references, and ROLL refuses a configured `reference`"
        notes.error(RULE, REFERENCES, message, _span(settings, REFERENCES), "configured", "remove `reference`", None, AT_LOAD)
    return Switches(_critic(notes, settings, pipeline), _reference(notes, settings, pipeline, mixed), pipeline.pure_opd or mixed)


def _critic(notes: Notes, settings: Settings, pipeline: Pipeline) -> Switch:
    if pipeline.pure_opd:
        return Switch(False, "pure distillation needs no critic", settings.top)
    estimator = settings.word("adv_estimator", STARTS)
    if estimator is None:
        return Switch(None, "`adv_estimator` is not known here", settings.top)
    if not settings.has("adv_estimator"):
        return Switch(True, f"{BY_ESTIMATOR} `gae` by default", settings.top)
    span = _span(settings, "adv_estimator")
    estimators = profile_of(notes.choice).words(pipeline.config, "adv_estimator")
    if estimator not in estimators and pipeline.checks_types:
        close = nearest(estimator, estimators)
        help = f"write `{close}`" if close else f"write one of {', '.join(f'`{each}`' for each in estimators)}"
        message = f"`adv_estimator` is `{estimator}`, which ROLL does not know"
        notes.error("PW105", "", message, span, "not known", help, settings.becomes("adv_estimator", close) if close else None, AT_LOAD)
        return Switch(close == "gae", f"`adv_estimator` is meant to be `{close}`", span)
    return Switch(estimator == "gae", f"{BY_ESTIMATOR} `{estimator}`", span)


def _reference(notes: Notes, settings: Settings, pipeline: Pipeline, mixed: bool) -> Switch:
    choice = notes.choice
    lora_reference = pipeline.lora_reference or (pipeline.agentic and choice is not None and choice.until("0.2.0"))
    if settings.has(f"{ACTOR_TRAIN}.model_args.lora_target") and not pipeline.pure_opd and not lora_reference:
        why = "with `lora_target` the actor without its adapters is the reference"
        return Switch(False, why, _span(settings, f"{ACTOR_TRAIN}.model_args.lora_target"))
    if pipeline.pure_opd or mixed:
        return Switch(True, "distillation compares with the teacher", settings.top)
    if choice is not None and choice.until("0.1.3"):
        return Switch(True, f"{choice.release} always does", settings.top)
    for key in ("enable_reference", "use_kl_loss"):
        flag = settings.flag(key, STARTS)
        if flag is None:
            return Switch(None, f"`{key}` is not known here", settings.top)
        if flag:
            return Switch(True, f"`{key}` is true", _span(settings, key))
    if settings.is_open("init_kl_coef", STARTS):
        return Switch(None, "`init_kl_coef` is not known here", settings.top)
    if settings.at("init_kl_coef") is None:
        return Switch(True, f"{BY_KL} 0.2 by default", settings.top)
    span = _span(settings, "init_kl_coef")
    if _is_positive(notes, settings, pipeline, "init_kl_coef"):
        return Switch(True, f"{BY_KL} above 0", span)
    return Switch(False, NO_REFERENCE, span)


def _is_positive(notes: Notes, settings: Settings, pipeline: Pipeline, path: str) -> bool:
    """Is it a number above 0? Hydra reads `1e-3` as one, which other readers of YAML take for text."""
    value = settings.at(path)
    written = value.value if isinstance(value, Scalar) else None
    number = written if isinstance(written, (int, float)) else None
    if isinstance(value, Scalar) and isinstance(written, str) and notes.document.text_of(value.span.file)[value.span.start] not in "'\"":
        try:
            number = float(written)
        except ValueError:
            number = None
    if value is not None and number is None and pipeline.checks_types:
        notes.wrong_type("", path, value, "a number", "write a number such as `0`")
    return (number or 0) > 0


def is_configured(settings: Settings, key: str) -> bool:
    """Has a block devices or a model? Source: ROLL, WorkerConfig.is_configured."""
    return settings.has(f"{key}.{DEVICES}") or settings.has(f"{key}.model_args.model_name_or_path")


def _span(settings: Settings, path: str) -> Span:
    value = settings.at(path)
    return value.span if value is not None else settings.top


# The blocks of workers of a configuration, those that ROLL starts first, in its own order.

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
        self.known = profile_of(notes.choice).blocks(pipeline.config)
        self.switches = read_switches(notes, settings, pipeline) if pipeline.ppo else None

    def found(self) -> Iterator[Block]:
        taken: set[str] = set()
        for part in self.pipeline.creates:
            for block in self._started(part) if part in self.known else ():
                taken.add(block.key)
                yield block
        for name in self.known:
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
        elif name == TEACHERS and self.pipeline.ppo and value is not None and self._holds_workers(value):
            yield from (f"{name}.{entry.key.text}" for entry in value)
        elif value is not None:
            yield name

    def _at(self, key: str) -> Mapping | None:
        value = self.settings.at(key)
        return value if isinstance(value, Mapping) else None

    def _holds_workers(self, value: Mapping) -> bool:
        """True for a map of several teachers rather than one teacher. ROLL tries this first."""
        known = profile_of(self.notes.choice).keys_of(TEACHERS)
        return bool(value.entries) and all(isinstance(entry.value, Mapping) and entry.key.text not in known for entry in value)

    def _name(self, key: str) -> str:
        return self.settings.word(f"{key}.name", "PW105") or ""

    def _block(self, key: str, part: str, cluster: str, created: bool | None, reason: str, counts: bool = True) -> Block:
        group, _, inner = key.partition(".")
        owner = self._at(group) if inner else self.root
        entry = owner.entry(inner or group) if owner is not None else None
        if entry is None:
            return Block(key, part, cluster, created, reason, self.settings.top, None, counts)
        return Block(key, part, cluster, created, reason, entry.key.span, self._at(key), counts)


# Which of ROLL's pipelines a configuration is for: the file itself does not say it.


def pipeline_of(notes: Notes, settings: Settings, program: Program | None) -> Pipeline:
    """The pipeline that the program starts; without one, that which goes with the keys of the file.

    Where another pipeline goes with the keys too, and starts other roles, which one was taken is noted as unchecked.
    """
    started = [
        each for each in pipelines().values() if program is not None and program.name.replace("\\", "/").rsplit("/", 1)[-1] == each.launcher
    ]
    if started:
        return started[0] if len(started) == 1 else _distilled(settings)
    found, other = _by_keys(settings, lambda name: notes.choice is None or notes.choice.has(pipelines()[name].releases))
    if other is not None:
        why = f"the file does not say which pipeline it is for; it was read as one for {found.launcher}, not {other.launcher}"
        notes.unsure(RULE, "", why, True, "Verify the script that starts it")
    return found


def _by_keys(settings: Settings, is_possible: Callable[[str], bool]) -> tuple[Pipeline, Pipeline | None]:
    """The pipeline, and another one that is possible and would start other roles."""
    if settings.has(SFT_TRAIN):
        return pipelines()["sft"], None
    if settings.has(STUDENT_TRAIN) or settings.has(STUDENT_INFER) or settings.flag("is_pure_opd", RULE):
        return _distilled(settings), None
    if settings.has(STUDENTS):
        return pipelines()["distill"], None
    trains = any(settings.has(f"{ACTOR_TRAIN}.{key}") for key in (DEVICES, WORLD_SIZE, "strategy_args"))
    if any(settings.has(key) for key in (TRAIN_ENV, VAL_ENV, "custom_envs", "env_manager_cls")):
        return pipelines()["agentic" if trains or not settings.has(ACTOR_INFER) else "agentic_rollout"], None
    if _is_dpo(settings):
        return pipelines()["dpo"], None
    if is_possible("reward_fl") and settings.has("train_batch_size") and settings.has(ACTOR_TRAIN) and not _rolls_out(settings):
        return pipelines()["reward_fl"], None
    if not trains and not settings.has(ACTOR_TRAIN) and settings.has(ACTOR_INFER):
        return pipelines()["rlvr_rollout"], pipelines()["rlvr"]
    lora = settings.has(f"{ACTOR_TRAIN}.model_args.lora_target")
    differ = lora or settings.has(REWARD_MODEL)
    return pipelines()["rlvr"], pipelines()["rlvr_vl"] if differ else None


def _is_dpo(settings: Settings) -> bool:
    """Has it an actor that trains and a reference, and nothing of what rolls out?"""
    return settings.has(ACTOR_TRAIN) and (settings.has(REFERENCES) or settings.has("chosen_key")) and not _rolls_out(settings)


def _rolls_out(settings: Settings) -> bool:
    return any(settings.has(key) for key in (ACTOR_INFER, REWARDS, "adv_estimator"))


def _distilled(settings: Settings) -> Pipeline:
    agentic = settings.word("pure_opd_pipeline_type", RULE) == "agentic"
    return pipelines()["opd_agentic" if agentic else "opd_rlvr"]
