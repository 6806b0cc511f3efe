"""Configuration of a whole RLinf job (reasoning): the placement and the batches."""

from __future__ import annotations

from math import gcd

from ...problem import Problem
from ...roles import REFERENCE, ROLLOUT, role_of
from ...training_job import TrainingJob
from ..merging import merged, titled
from .rendering import render


def training_file(problem: Problem, job: TrainingJob, title: str) -> str:
    """Return the file: what is on the reference's accelerators is `inference`, `reward` is with the actor.

    Raises UnusableInput (PW606) if RLinf cannot express the problem.
    """
    rollout = next(component for component in problem.components if role_of(component) == ROLLOUT)
    keys: dict[str, object] = {
        "runner.task_type": "reasoning",
        "algorithm.group_size": job.samples,
        "algorithm.recompute_logprobs": True,
        "algorithm.n_minibatches": job.prompts // job.mini_batch,
        "data.rollout_batch_size": job.prompts,
        "data.max_prompt_length": job.prompt,
        "algorithm.sampling_params.max_new_tokens": job.response,
        "rollout.tensor_parallel_size": rollout.parallel.tp,
        "rollout.pipeline_parallel_size": rollout.parallel.pp,
        "rollout.gpu_memory_utilization": job.utilization / 100,
        "rollout.model.model_path": job.model,
        "actor.model.model_path": job.model,
        "actor.micro_batch_size": job.micro_batch,
        "actor.global_batch_size": job.mini_batch * job.samples,
    }
    tree = merged(render(problem).text, keys, without=("placewright",))
    placement = tree["cluster"]["component_placement"]
    reference = next((component.name for component in problem.components if role_of(component) == REFERENCE), None)
    if reference in placement:
        ranks = placement.pop(reference)
        if ranks != placement["actor"]:
            placement["inference"] = ranks
    placement["reward"] = _share_of(str(placement["actor"]), job)
    return titled(f"{title}. Add what `defaults` gave your other jobs: data, optimizer, reward.", tree)


def _share_of(ranks: str, job: TrainingJob) -> str:
    """Return the ranks of the actor, or the first of them that divide the prompts."""
    first, _, last = ("0", "", "") if ranks == "all" else ranks.partition("-")
    count = sum(job.ranks.values()) if ranks == "all" else int(last or first) - int(first) + 1
    share = gcd(job.prompts, count)
    return ranks if share == count else f"{first}-{int(first) + share - 1}"
