"""Which of ROLL's pipelines a configuration is for: the file itself does not say it."""

from __future__ import annotations

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....text.program import Program
from ..roles.known_keys import DEVICES, STUDENT_INFER, STUDENT_TRAIN, WORLD_SIZE
from ..roles.parts import ACTOR_INFER, ACTOR_TRAIN, REFERENCES, REWARD_MODEL, REWARDS, SFT_TRAIN, STUDENTS, TRAIN_ENV, VAL_ENV
from ..roles.pipelines import BY_NAME, PIPELINES, Pipeline

RULE = "PW123"


def pipeline_of(notes: Notes, settings: Settings, program: Program | None) -> Pipeline:
    """The pipeline that the program starts; without one, that which goes with the keys of the file.

    Where another pipeline goes with the keys too, and starts other roles, which one was taken is noted as unchecked.
    """
    started = [each for each in PIPELINES if program is not None and program.name.replace("\\", "/").rsplit("/", 1)[-1] == each.launcher]
    if started:
        return started[0] if len(started) == 1 else _distilled(settings)
    found, other = _by_keys(settings)
    if other is not None:
        why = f"the file does not say which pipeline it is for; it was read as one for {found.launcher}, not {other.launcher}"
        notes.unsure(RULE, "", why, True, "Verify the script that starts it")
    return found


def _by_keys(settings: Settings) -> tuple[Pipeline, Pipeline | None]:
    """The pipeline, and another one that is possible and would start other roles."""
    if settings.has(SFT_TRAIN):
        return BY_NAME["sft"], None
    if settings.has(STUDENT_TRAIN) or settings.has(STUDENT_INFER) or settings.flag("is_pure_opd", RULE):
        return _distilled(settings), None
    if settings.has(STUDENTS):
        return BY_NAME["distill"], None
    trains = any(settings.has(f"{ACTOR_TRAIN}.{key}") for key in (DEVICES, WORLD_SIZE, "strategy_args"))
    if any(settings.has(key) for key in (TRAIN_ENV, VAL_ENV, "custom_envs", "env_manager_cls")):
        return BY_NAME["agentic" if trains or not settings.has(ACTOR_INFER) else "agentic_rollout"], None
    if _is_dpo(settings):
        return BY_NAME["dpo"], None
    if not trains and not settings.has(ACTOR_TRAIN) and settings.has(ACTOR_INFER):
        return BY_NAME["rlvr_rollout"], BY_NAME["rlvr"]
    lora = settings.has(f"{ACTOR_TRAIN}.model_args.lora_target")
    differ = lora or settings.has(REWARD_MODEL)
    return BY_NAME["rlvr"], BY_NAME["rlvr_vl"] if differ else None


def _is_dpo(settings: Settings) -> bool:
    """Has it an actor that trains and a reference, and nothing of what rolls out?"""
    rolls_out = any(settings.has(key) for key in (ACTOR_INFER, REWARDS, "adv_estimator"))
    return settings.has(ACTOR_TRAIN) and (settings.has(REFERENCES) or settings.has("chosen_key")) and not rolls_out


def _distilled(settings: Settings) -> Pipeline:
    agentic = settings.word("pure_opd_pipeline_type", RULE) == "agentic"
    return BY_NAME["opd_agentic" if agentic else "opd_rlvr"]
