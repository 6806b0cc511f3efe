"""When ROLL itself would notice what is wrong, and own limits."""

from __future__ import annotations

# When ROLL itself would notice what is wrong: a sentence for each moment.

AT_LOAD = "ROLL notices this as it reads the configuration"
IN_WORKERS = "ROLL notices this only when the workers set up their groups, once all roles have their workers"
WITH_MODEL = "ROLL notices this only when the workers build their model, once all roles have their workers"
IN_ENGINE = "ROLL notices this only when the workers start their engine, after the models that are trained were loaded"
AFTER_MODELS = "ROLL notices this only after all models are loaded"
AT_UPDATE = "ROLL does not check this; the first update of the weights fails, after all models are loaded"
AT_TRAINING = "ROLL notices this only at the first training step"
AFTER_ROLLOUT = f"{AT_TRAINING}, after a whole rollout"
NEVER = "ROLL never notices this"

NOTICES = {
    "PW204": AFTER_MODELS,
    "PW205": AFTER_MODELS,
    "PW207": AFTER_MODELS,
    "PW208": "ROLL notices this as it reads the configuration for `actor_train` with Megatron, else only when the workers set up their"
    " groups",
    "PW212": AFTER_MODELS,
}
"""Code of a shared rule -> when ROLL would notice what it finds of given ids."""


# How many workers are read.

MAX_WORKERS = 1 << 20
"""The most of one role; an own limit, no job is near it."""
