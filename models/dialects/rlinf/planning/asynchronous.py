"""Does an embodied job generate while it trains? What its file tells of the main program that starts it.

Source: RLinf, examples/embodiment/train_async.py (the losses that it runs; no other program has the workers of the first),
rlinf/workers/rollout/hf/async_huggingface_worker.py (wait_if_stale: with 0 nothing is generated before the weights are new).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Collection

from ....configuration.settings import Settings
from ....planning.workload import STEADY, Workload
from ....times.usual import as_it_runs

CODE = "PW604"
LOSS, STALE, STAGES = "algorithm.loss_type", "algorithm.staleness_threshold", "rollout.pipeline_stage_num"
ONLY = "decoupled_actor_critic"
EITHER = ("embodied_sac", "embodied_dagger", "rlt_ac")
"""Losses that both of RLinf's programs run: `train_embodied_agent.py`, which trains when all is generated, and `train_async.py`."""


def as_started(settings: Settings, workload: Workload, said: Collection[str], names: Collection[str]) -> Workload:
    """The workload by the program that starts the job, with what is taken for granted of that.

    `said` are the keys of its plan, `names` the components that have times.
    """
    loss = settings.word(LOSS, CODE)
    stale = settings.whole(STALE, CODE, least=0) if settings.has(STALE) else None
    ahead = stale is not None and stale.value > 0
    found = workload
    if loss == ONLY and (stale is None or ahead):
        found = as_it_runs(workload, said, f"`{LOSS}: {ONLY}`")
    elif loss in EITHER and ahead:
        found = as_it_runs(workload, said, f"`{STALE}`")
    elif loss in EITHER and "cost_model" not in said:
        how = f"cost model {workload.model}: the job is taken to train when all is generated, as `train_embodied_agent.py` has it;"
        how += f" where `train_async.py` starts it, write `cost_model: {STEADY}` in `placewright.plan`"
        found = replace(workload, assumed=(*workload.assumed, how))
    if found.model == STEADY and {"env", "rollout"} <= set(names):
        stages = settings.whole(STAGES, CODE, 1)
        if stages is not None and stages.value == 1:
            apart = f"env and rollout: counted as if neither waited for the other, as each does where they are apart (`{STAGES}: 1`)"
            found = replace(found, assumed=(*found.assumed, apart))
    return found
