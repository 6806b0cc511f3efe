"""How many devices ROLL counts on a node, and how many nodes it reserves: figures that it takes from elsewhere than the file.

Source: ROLL, roll/configs/base_config.py, BaseConfig.__post_init__ (`current_platform.device_count()` of the machine that the job is
started on; the highest device id of all roles), roll/pipeline/rlvr/rlvr_config.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....derivation import Derivation, Figure
from ....machines.cluster import Cluster
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, AsDeclared
from ....text.tree import Scalar
from ..mapping.device_mapping import KEY
from ..roles.role import Role
from ..workers.worker import REWRITTEN

PER_NODE, NODES = "num_gpus_per_node", "num_nodes"
RULE = "PW102"


@dataclass(frozen=True, slots=True)
class PerNode:
    """How many devices a node has as ROLL counts them; `assumed` where nobody described the machines."""

    count: int
    assumed: bool = False


def devices_per_node(notes: Notes, settings: Settings, machines: Cluster | AsDeclared | None) -> PerNode:
    """What ROLL's driver counts on its own machine, which is taken to be the first one with accelerators."""
    written = settings.whole(PER_NODE, RULE, 8, exact=True)
    if machines is None:
        count = min(written.value, MAX_ACCELERATORS_PER_NODE) if written else 8
        why = f"accelerators per node unknown; ROLL counts those of its own machine, {count} are assumed"
        notes.unsure(RULE, PER_NODE, why, True, f"Pass `--cluster x{count}`")
        return PerNode(count, True)
    count = (
        machines.count
        if isinstance(machines, AsDeclared)
        else next((len(its.node.accelerators) for its in machines.alike if its.node.accelerators), 0)
    )
    if isinstance(machines, Cluster) and count and not machines.nodes[0].accelerators:
        notes.unsure(RULE, PER_NODE, "the first node has no accelerators; ROLL is taken to be started on the first one that has some")
    if written is not None and written.scalar is not None and count and written.value != count:
        message = f"`{PER_NODE}` is {written.value}, but ROLL replaces it with {count}: the devices of the machine that it is started on"
        notes.warn(REWRITTEN, "", message, written.scalar, f"becomes {count}", f"write `{PER_NODE}: {count}`", written.becomes(count))
    return PerNode(max(count, 1))


def nodes_reserved(
    notes: Notes, settings: Settings, roles: Iterable[Role], per_node: PerNode, derivations: list[Derivation], left_to_solve: bool
) -> int:
    """How many nodes ROLL reserves: those up to the highest device id of any role, also of one that it does not start.

    `left_to_solve`: some roles have no ids yet, so that it may be as many more as the file says.
    """
    written = settings.whole(NODES, RULE, 1, exact=True)
    counting = [role for role in roles if role.counts and role.mapping is not None]
    known = [role for role in counting if role.ids is not None and role.ids.count]
    if not known:
        return written.value if written else 1
    first = max(known, key=lambda role: role.ids.highest if role.ids else 0)
    highest = first.ids.highest if first.ids else 0
    nodes = highest // per_node.count + 1
    if left_to_solve:
        return max(nodes, written.value if written else 1)
    figures = (
        Figure(f"{first.key}.{KEY}", f"device ids up to {highest}", first.place),
        Figure(PER_NODE, per_node.count, None, "the devices of the driver's machine"),
    )
    derivations.append(Derivation("", NODES, nodes, f"highest device id {highest} // {per_node.count} per node + 1", figures))
    if written is not None and isinstance(written.scalar, Scalar) and written.value != nodes and len(known) == len(counting):
        message = f"`{NODES}` is {written.value}, but ROLL replaces it with {nodes}: the highest device id is {highest}, with {per_node.count} a node"
        notes.warn(REWRITTEN, "", message, written.scalar, f"becomes {nodes}", f"write `{NODES}: {nodes}`", written.becomes(nodes))
    return nodes
