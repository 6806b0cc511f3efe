"""The settings that decide which roles a PPO pipeline starts: critic, reference, distillation from teachers."""

from __future__ import annotations

from dataclasses import dataclass

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.span import Span
from ....text.nearest import nearest
from ....text.tree import Scalar
from ..mapping.evaluate import AT_LOAD
from ..roles.known_keys import DEVICES
from ..roles.parts import ACTOR_TRAIN, REFERENCES
from ..roles.pipelines import Pipeline

RULE = "PW123"
STARTS = "PW101"
"""Code of what decides whether a role is started."""
ESTIMATORS = ("gae", "reinforce", "grpo", "gigpo", "step_reinforce", "agentic_reinforce")
"""Source: ROLL, roll/configs/base_config.py, PPOConfig.adv_estimator."""
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
    mixed = bool(settings.flag("use_opd", STARTS))
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
    if estimator not in ESTIMATORS and pipeline.checks_types:
        close = nearest(estimator, ESTIMATORS)
        help = f"write `{close}`" if close else f"write one of {', '.join(f'`{each}`' for each in ESTIMATORS)}"
        message = f"`adv_estimator` is `{estimator}`, which ROLL does not know"
        notes.error("PW105", "", message, span, "not known", help, settings.becomes("adv_estimator", close) if close else None, AT_LOAD)
        return Switch(close == "gae", f"`adv_estimator` is meant to be `{close}`", span)
    return Switch(estimator == "gae", f"{BY_ESTIMATOR} `{estimator}`", span)


def _reference(notes: Notes, settings: Settings, pipeline: Pipeline, mixed: bool) -> Switch:
    if settings.has(f"{ACTOR_TRAIN}.model_args.lora_target") and not pipeline.pure_opd and not pipeline.lora_reference:
        why = "with `lora_target` the actor without its adapters is the reference"
        return Switch(False, why, _span(settings, f"{ACTOR_TRAIN}.model_args.lora_target"))
    if pipeline.pure_opd or mixed:
        return Switch(True, "distillation compares with the teacher", settings.top)
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
