"""When verl itself notices what is wrong: before it starts anything, after the weights are loaded, at the first step, or never."""

from __future__ import annotations

AT_START = "verl refuses this in its first check, before any worker is started"
BEFORE_WORKERS = "verl refuses this before any worker is started"
WITH_CRITIC = "verl notices this when it sets up the critic, after the pools were checked"
IN_WORKERS = "verl notices this only in the workers, after the pools were taken and they were started"
WITH_MODEL = "verl notices this only in the workers, when they build the model"
IN_ROLLOUTER = "verl notices this when it makes its rollouter, before the workers are started"
AFTER_WEIGHTS = "verl notices this only when it starts its inference engines, after the weights that are trained were loaded"
WITH_REWARD = "verl notices this when it starts the servers of the reward model, before the workers are started"
IN_SERVER = "verl notices this only when a server of the engine is started, after the weights were loaded"
FIRST_STEP = "verl notices this only at its first step, after everything was loaded"
FIRST_UPDATE = "verl notices this only at its first update, after everything was loaded and generated once"
NEVER = "verl never notices this"
OWN_TRAINER = "this program has a trainer of its own, which may do otherwise"
UNCHECKED_AT_START = "verl's own check at the start is skipped with `use_dynamic_bsz`; Megatron fails in the workers"
