"""What ROLL's pipelines use their roles as, and what that is in other frameworks."""

from __future__ import annotations

from ....roles import ACTOR, CRITIC, ENVIRONMENT, REFERENCE, REWARD, ROLLOUT, STUDENT, TEACHER

ACTOR_TRAIN, ACTOR_INFER, REFERENCES, CRITICS = "actor_train", "actor_infer", "reference", "critic"
REWARDS, AGENTIC_REWARD, REWARD_MODEL = "rewards", "reward", "reward_model"
TRAIN_ENV, VAL_ENV = "train_env_manager", "val_env_manager"
STUDENTS, TEACHERS, SFT_TRAIN, VALIDATION = "student", "teacher", "sft_train", "validation"

ROLE_OF = {
    ACTOR_TRAIN: ACTOR, ACTOR_INFER: ROLLOUT, REFERENCES: REFERENCE, CRITICS: CRITIC, REWARDS: REWARD, AGENTIC_REWARD: REWARD,
    REWARD_MODEL: REWARD, TRAIN_ENV: ENVIRONMENT, VAL_ENV: ENVIRONMENT, STUDENTS: STUDENT, TEACHERS: TEACHER, SFT_TRAIN: ACTOR,
}  # fmt: skip
"""What each part does in the words of models/roles.py."""
