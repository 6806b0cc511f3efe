"""By what a profiled file is planned: RLinf's workflow and batches, and what its block `placewright.plan` says instead.

Source: RLinf, toolkits/auto_placement/auto_placement_worker.py (get_workflow_graph).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Iterator, Sequence

from ....component import Component
from ....configuration.settings import Settings
from ....hints.said import said_of_plan, timed_names
from ....planning.measured import TABLE
from ....planning.workload import RLINF_EMBODIED, After, Workload
from ....text.tree import Value
from ..capabilities import INFERENCE as ROLES
from ..modes.degrees import inferring
from ..modes.undivided import FSDP, TRAINS
from .asynchronous import as_started
from .embodied import environments
from .reasoning import batch_of

CODE = "PW604"
_FEW = 2
"""One accelerator, and those on which it was measured: what RLinf's formula knows of an embodied job."""


def as_rlinf(settings: Settings, task: str, workload: Workload, components: Sequence[Component], hints: Value | None) -> Workload:
    """The workload of the file, whose `components` have times; what its block does not say is as RLinf does it.

    Batches are the prompts of a step, of an embodied job the stages of its pipeline. There training begins when all rollouts are done.
    """
    said, embodied, names = said_of_plan(hints), task == "embodied", [each.name for each in components]
    if embodied:
        of_profile = [each for each in components if each.name not in timed_names(hints)]
        workload = replace(workload, assumed=(*workload.assumed, *_counts_of_actor(of_profile), *_unread(settings, components)))
        workload = as_started(settings, workload, said, names)
    else:
        workload = replace(workload, assumed=(*workload.assumed, *_undivided(settings, names)))
    if "workflow" not in said:
        edges = _embodied(names, workload.model == RLINF_EMBODIED) if embodied else _reasoning(names)
        workload = replace(workload, after=tuple(edges))
    if "batches" not in said:
        workload = replace(workload, batches=_batches(settings, embodied, workload.model == RLINF_EMBODIED))
    if embodied and "nested" not in said:
        workload = replace(workload, nested=True)
    return workload


def _counts_of_actor(components: Sequence[Component]) -> Iterator[str]:
    """That RLinf's tool knows few counts of what trains in an embodied job, so that no others are planned."""
    timed = next((each.timed for each in components if each.name == "actor"), None)
    if timed is not None and timed.scaling == TABLE and len(timed.measured) <= _FEW:
        counts = " or ".join(str(count) for count in sorted({each.accelerators for each in timed.measured}))
        yield f"actor: on {counts} alone, as RLinf's tool has it; `seconds` of it in `placewright.components`, by count, let it be on others"


def _unread(settings: Settings, components: Sequence[Component]) -> Iterator[str]:
    """That degrees that hints say of what FSDP trains are read nowhere in an embodied job."""
    hinted = any(each.name == TRAINS and "parallel" in each.spans for each in components)
    if hinted and settings.word(f"{TRAINS}.training_backend", CODE) == FSDP:
        yield f"{TRAINS}: on any count, whatever tp is said of it: RLinf reads none of what FSDP trains in an embodied job"


def _undivided(settings: Settings, names: Collection[str]) -> Iterator[str]:
    """That FSDP runs inference with no tp, whatever the file says: RLinf looks only whether it has as many accelerators."""
    for name, role in ROLES.items():
        if name in names and settings.word(f"{role}.training_backend", CODE) == FSDP:
            tp = inferring(settings, role)
            if tp is not None and tp.value > 1:
                yield f"{name}: tp 1, as FSDP divides no layer; by its tp (`{tp.name}`) RLinf only wants at least as many accelerators"


def _batches(settings: Settings, embodied: bool, by_environment: bool) -> int:
    if not embodied:
        batch = batch_of(settings)
        return batch.prompts if batch else 1
    amount = environments(settings) if by_environment else settings.whole("rollout.pipeline_stage_num", CODE, 1)
    return amount.value if amount else 1


def _embodied(names: Collection[str], by_environment: bool) -> Iterator[After]:
    """The simulator and its policy answer each other, stage by stage; training waits for all of it, but in RLinf's own estimate."""
    chain = [name for name in ("env", "rollout", "actor") if name in names]
    yield from (After(one, other, other == "actor" and not by_environment) for one, other in zip(chain, chain[1:]))


def _reasoning(names: Collection[str]) -> Iterator[After]:
    """rollout -> inference -> what trains; without inference rollout -> what trains; other components where no one says it: nowhere."""
    inferring = {ROLES[name]: name for name in ROLES if name in names}
    yield from (After("rollout", name) for name in inferring.values())
    for trains in ("actor", "critic"):
        if trains in names:
            before = list(inferring.values()) or ["rollout"]
            yield from (After(name, trains) for name in before)
