"""ROLL's pipelines: what starts each, and which of its roles it knows."""

from __future__ import annotations

from dataclasses import dataclass

from .parts import (
    ACTOR_INFER,
    ACTOR_TRAIN,
    AGENTIC_REWARD,
    CRITICS,
    REFERENCES,
    REWARD_MODEL,
    REWARDS,
    SFT_TRAIN,
    STUDENTS,
    TEACHERS,
    TRAIN_ENV,
    VAL_ENV,
)  # fmt: skip

RLVR, AGENTIC, DISTILL, DPO, SFT = "RLVRConfig", "AgenticConfig", "DistillConfig", "DPOConfig", "SFTConfig"
"""The classes that configurations become."""


@dataclass(frozen=True)
class Pipeline:
    """One of ROLL's pipelines.

    Attributes
    ----------
    name : what it is called here.
    launcher : the program that starts it.
    config : the class that its configuration becomes.
    creates : the parts that it may start, in that order.
    pure_opd : whether the launcher makes it pure on-policy distillation: `student_train`, `student_infer` and `teacher`.
    checks_types : whether the types of all values are checked when the configuration is loaded.
    lora_reference : whether it starts a reference although the actor trains adapters alone.
    """

    name: str
    launcher: str
    config: str
    creates: tuple[str, ...]
    pure_opd: bool = False
    checks_types: bool = True
    lora_reference: bool = False

    @property
    def ppo(self) -> bool:
        """Has it actor, references and critic, as ROLL's PPOConfig describes them?"""
        return self.config in (RLVR, AGENTIC)

    @property
    def agentic(self) -> bool:
        """Does it roll out in environments?"""
        return self.config == AGENTIC

    @property
    def updates_models(self) -> bool:
        """Are the weights of `actor_train` given to `actor_infer`?"""
        return ACTOR_TRAIN in self.creates and ACTOR_INFER in self.creates


_ACTORS = (ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS)
_OF_RLVR, _OF_AGENTIC = (*_ACTORS, REWARDS, REWARD_MODEL), (*_ACTORS, AGENTIC_REWARD, TRAIN_ENV, VAL_ENV)

PIPELINES = (
    Pipeline("rlvr", "start_rlvr_pipeline.py", RLVR, _OF_RLVR),
    Pipeline("rlvr_vl", "start_rlvr_vl_pipeline.py", RLVR, (*_ACTORS, REWARDS), lora_reference=True),
    Pipeline("rlvr_rollout", "start_rlvr_rollout_pipeline.py", RLVR, (ACTOR_INFER, REWARDS)),
    Pipeline("agentic", "start_agentic_pipeline.py", AGENTIC, _OF_AGENTIC),
    Pipeline("agentic_rollout", "start_agentic_rollout_pipeline.py", AGENTIC, (ACTOR_INFER, TRAIN_ENV)),
    Pipeline("opd_rlvr", "start_onpolicy_distill_pipeline.py", RLVR, _OF_RLVR, pure_opd=True, checks_types=False),
    Pipeline("opd_agentic", "start_onpolicy_distill_pipeline.py", AGENTIC, _OF_AGENTIC, pure_opd=True, checks_types=False),
    Pipeline("distill", "start_distill_pipeline.py", DISTILL, (STUDENTS, TEACHERS)),
    Pipeline("distill_vl", "start_distill_vl_pipeline.py", DISTILL, (STUDENTS, TEACHERS)),
    Pipeline("dpo", "start_dpo_pipeline.py", DPO, (ACTOR_TRAIN, REFERENCES)),
    Pipeline("sft", "start_sft_pipeline.py", SFT, (SFT_TRAIN,)),
)
"""Source: ROLL, examples/start_*_pipeline.py, and the `__init__` of each class in roll/pipeline/."""

BY_NAME = {pipeline.name: pipeline for pipeline in PIPELINES}
