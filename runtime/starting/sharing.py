"""Nodes of which a plan holds a part: which accelerators it was given there, and the plan with these in place of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.findings.wording import with_noun
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.assignment import Assignment, compress
from ...models.placements.plan import Plan
from ...models.placements.run import Run
from ...models.ranks import merge, write_ranks
from ..failure import LaunchFailed
from ..reserving.parts import accelerators_given
from ..reserving.reservation import Reservation
from ..world.matching import Match, held_masks, in_part
from ..world.vendors import vendor_of

_HELP = "discover the cluster as it is (`placewright discover`) and solve for that"


@dataclass(frozen=True, slots=True)
class Given:
    """What a plan was given of a node that it shares: local indices, ascending, one for each that it names."""

    node_rank: int
    node: str
    planned: tuple[int, ...]
    given: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.node}: accelerators {_ranges(self.planned)} of the plan are {_ranges(self.given)} there"


def parts_of(plan: Plan, matches: Mapping[int, Match]) -> dict[int, int]:
    """node rank -> the accelerators that the plan holds there, as a bit mask, of nodes of which a part can be held."""
    masks = held_masks(plan)
    return {rank: masks[rank] for rank, match in matches.items() if rank in masks and in_part(plan, match, masks[rank])}


def given(reservation: Reservation, matches: Mapping[int, Match], parts: Mapping[int, int]) -> tuple[Given, ...]:
    """What is held of nodes that are shared, asked of processes there. Nodes where it is what the plan names are left out.

    Raises LaunchFailed: PW704, PW705 where that is not told, PW702 where the plan cannot run on it.
    """
    ids: dict[str, tuple[str, ...]] = {}
    for resource in sorted({vendor.resource for rank in parts if (vendor := vendor_of(matches[rank].node.accelerator_type))}):
        nodes = {matches[rank].ray.node_id: matches[rank].ray for rank in parts}
        told = accelerators_given(reservation.port, reservation.hold, reservation.wanted, resource, nodes)
        ids |= {wanted.bundle.node_id: its for wanted, its in zip(reservation.wanted, told) if its}
    faults: list[Finding] = []
    found: list[Given] = []
    for rank, mask in parts.items():
        node, its = matches[rank].node, ids.get(matches[rank].ray.node_id, ())
        indices = {
            accelerator.physical_id: accelerator.index for accelerator in node.accelerators if not node.taken >> accelerator.index & 1
        }
        if len(its) != mask.bit_count():
            message = f"node {rank} (`{node.name}`) gave {with_noun(mask.bit_count(), 'accelerator')} and tells the ids of {len(its)}"
            faults.append(error("PW702", node.name, message, help="launch without `--share-nodes`", witnesses=(rank,), amount=1))
            continue
        if unfit := [id for id in its if id not in indices]:
            why = "which the plan's machine does not have or counts as taken"
            message = f"node {rank} (`{node.name}`) gave accelerators {', '.join(unfit)}, {why}"
            faults.append(error("PW702", node.name, message, help=_HELP, witnesses=(rank,), amount=len(unfit)))
            continue
        planned = tuple(index for index in range(mask.bit_length()) if mask >> index & 1)
        real = tuple(sorted(indices[id] for id in its))
        if planned != real:
            found.append(Given(rank, node.name, planned, real))
    if faults:
        raise LaunchFailed(*faults)
    return tuple(found)


def with_given(plan: Plan, found: Sequence[Given]) -> Plan:
    """The plan with what it was given in place of what it names; the same plan where that is nothing else."""
    if not found:
        return plan
    instead = {its.node_rank: dict(zip(its.planned, its.given)) for its in found}
    runs = {name: tuple(new for run in its for new in _moved(run, instead.get(run.node))) for name, its in plan.assignment.runs.items()}
    return replace(plan, assignment=Assignment(runs))


def _moved(run: Run, instead: Mapping[int, int] | None) -> tuple[Run, ...]:
    """The run on other accelerators of its node; several where these follow no pattern."""
    if instead is None or run.kind != ACCELERATOR or not run.each:
        return (run,)
    processes = ((rank, [(run.node, instead[index]) for index in run.held_by(rank)]) for rank in run.ranks)
    return compress(processes, run.kind, run.node_group)


def _ranges(indices: Sequence[int]) -> str:
    return write_ranks(merge([range(index, index + 1) for index in indices]))
