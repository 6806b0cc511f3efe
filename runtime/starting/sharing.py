"""Shared nodes: granted accelerators, and the plan with them in place of its own."""

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
from ..world.matching import Match, held_masks, is_shareable_part
from ..world.vendors import vendor_of

_HELP = "discover the cluster as it is (`placewright discover`) and solve for that"


@dataclass(frozen=True, slots=True)
class GrantedAccelerators:
    """Accelerators granted on a shared node: ascending local indices for those of the plan."""

    node_rank: int
    node: str
    planned: tuple[int, ...]
    given: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.node}: accelerators {_ranges(self.planned)} of the plan are {_ranges(self.given)} there"


def parts_of(plan: Plan, matches: Mapping[int, Match]) -> dict[int, int]:
    """Return node rank -> mask of the plan's accelerators, for divisible nodes."""
    masks = held_masks(plan)
    return {rank: masks[rank] for rank, match in matches.items() if rank in masks and is_shareable_part(plan, match, masks[rank])}


def given(reservation: Reservation, matches: Mapping[int, Match], parts: Mapping[int, int]) -> tuple[GrantedAccelerators, ...]:
    """Query the granted accelerators of shared nodes; omit nodes that grant the plan's own.

    Raises LaunchFailed: PW704, PW705 without an answer, PW702 if the plan cannot run on them.
    """
    ids: dict[str, tuple[str, ...]] = {}
    for resource in sorted({vendor.resource for rank in parts if (vendor := vendor_of(matches[rank].node.accelerator_type))}):
        nodes = {matches[rank].ray.node_id: matches[rank].ray for rank in parts}
        granted = accelerators_given(reservation.port, reservation.hold, reservation.wanted, resource, nodes)
        ids |= {wanted.bundle.node_id: ids_there for wanted, ids_there in zip(reservation.wanted, granted) if ids_there}
    faults: list[Finding] = []
    replacements: list[GrantedAccelerators] = []
    for rank, mask in parts.items():
        node, ids_there = matches[rank].node, ids.get(matches[rank].ray.node_id, ())
        indices = {
            accelerator.physical_id: accelerator.index for accelerator in node.accelerators if not node.taken >> accelerator.index & 1
        }
        if len(ids_there) != mask.bit_count():
            message = f"node {rank} (`{node.name}`) gave {with_noun(mask.bit_count(), 'accelerator')} and tells the ids of {len(ids_there)}"
            faults.append(error("PW702", node.name, message, help="launch without `--share-nodes`", witnesses=(rank,), amount=1))
            continue
        if unfit := [id for id in ids_there if id not in indices]:
            reason = "which the plan's machine does not have or counts as taken"
            message = f"node {rank} (`{node.name}`) gave accelerators {', '.join(unfit)}, {reason}"
            faults.append(error("PW702", node.name, message, help=_HELP, witnesses=(rank,), amount=len(unfit)))
            continue
        planned = tuple(index for index in range(mask.bit_length()) if mask >> index & 1)
        real = tuple(sorted(indices[id] for id in ids_there))
        if planned != real:
            replacements.append(GrantedAccelerators(rank, node.name, planned, real))
    if faults:
        raise LaunchFailed(*faults)
    return tuple(replacements)


def with_given(plan: Plan, replacements: Sequence[GrantedAccelerators]) -> Plan:
    """Return the plan with granted accelerators in place of named ones."""
    if not replacements:
        return plan
    mapping = {grant.node_rank: dict(zip(grant.planned, grant.given)) for grant in replacements}
    runs = {name: tuple(new for run in grant for new in _moved(run, mapping.get(run.node))) for name, grant in plan.assignment.runs.items()}
    return replace(plan, assignment=Assignment(runs))


def _moved(run: Run, mapping: Mapping[int, int] | None) -> tuple[Run, ...]:
    """Return the run on the replacements; several runs if these follow no pattern."""
    if mapping is None or run.kind != ACCELERATOR or not run.each:
        return (run,)
    processes = ((rank, [(run.node, mapping[index]) for index in run.held_by(rank)]) for rank in run.ranks)
    return compress(processes, run.kind, run.node_group)


def _ranges(indices: Sequence[int]) -> str:
    return write_ranks(merge([range(index, index + 1) for index in indices]))
