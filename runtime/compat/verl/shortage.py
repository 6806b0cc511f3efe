"""Explanation of a shortage: the deciding sum, the capacity per node, the holders."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...failure import Refusal, build_refusal
from ...port.port import Port, RayNode
from ...reserving.fitting import NOISE, Need, fit
from ...reserving.reservation import amount_of, format_holders, list_held
from ...world.ray_machine import name_of

SHOWN = 8
"""Maximal number of nodes listed."""


def hopeless(nodes: Sequence[RayNode], needs: Sequence[Need], lead: str) -> bool:
    """Return True if the parts would not fit even an empty cluster."""
    empty = [RayNode(node.node_id, node.name, node.address, node.labels, node.total, node.total) for node in nodes]
    return fit(empty, needs, lead) is None


def shortage(port: Port, nodes: Sequence[RayNode], name: str, needs: Sequence[Need], lead: str) -> Refusal:
    """Build the refusal (PW702) of a pool from the first sum that shows the shortage."""
    message, help, amount = _sums(nodes, name, needs, lead)
    holders = None if hopeless(nodes, needs, lead) else list_held(port.holdings(), lead)
    notes = [_node(node, lead, None if holders is None else holders.get(node.node_id, {})) for node in nodes[:SHOWN]]
    notes += [f"and {len(nodes) - SHOWN} more nodes"] if len(nodes) > SHOWN else []
    return build_refusal("PW702", name, message, help, amount=max(1, round(amount)), notes=tuple(notes))


def _sums(nodes: Sequence[RayNode], name: str, needs: Sequence[Need], lead: str) -> tuple[str, str, float]:
    """Return (message, help, missing amount): what the whole cluster lacks, else what is not free."""
    resources = list(dict.fromkeys([lead, "CPU", *(part_need for need in needs for part_need in need)]))
    later = "wait for what holds them, or end it"
    for field, free in (("total", ""), ("free", " free")):
        for resource in resources:
            need = sum(part_need.get(resource, 0.0) for part_need in needs)
            has, total = (sum(getattr(node, amounts).get(resource, 0.0) for node in nodes) for amounts in (field, "total"))
            if need > has + NOISE:
                rest = f"{has:g} of {total:g} are free" if free else f"the cluster has {has:g}"
                message = f"pool `{name}` needs {amount_of(resource, need)}{_per_accelerator(needs, resource, lead)}, {rest}"
                return message, _either(resource, lead, later if free else "ask for a smaller pool, or start more nodes"), need - has
        for resource in [lead] if free else resources:
            largest = max(part_need.get(resource, 0.0) for part_need in needs)
            most = max(getattr(node, field).get(resource, 0.0) for node in nodes)
            if largest > most + NOISE:
                per = _per_accelerator(needs, resource, lead)
                message = (
                    f"a part of pool `{name}` needs {amount_of(resource, largest)} on one node{per}, no node has more than {most:g}{free}"
                )
                return message, _either(resource, lead, later if free else "give the pool parts that fit one node"), largest - most
        if not free and hopeless(nodes, needs, lead):
            message = f"the parts {_parts(needs, lead)} of pool `{name}` do not fit the nodes together"
            return message, "give the pool parts that fit the nodes", 1
    return f"the parts {_parts(needs, lead)} of pool `{name}` do not fit what is free on the nodes", later, 1


def _either(resource: str, lead: str, help: str) -> str:
    """Return the help; prefer a lower max_colocate_count if CPUs per accelerator are short."""
    return f"lower max_colocate_count; or {help}" if resource == "CPU" != lead else help


def _per_accelerator(needs: Sequence[Need], resource: str, lead: str) -> str:
    """Return the text "(N with each accelerator ...)" if CPUs are short."""
    sizes = [(need.get(lead, 0.0), need.get(resource, 0.0)) for need in needs]
    if resource != "CPU" or lead == "CPU" or not sizes[0][0]:
        return ""
    return f" ({sizes[0][1] / sizes[0][0]:g} with each accelerator, its max_colocate_count)"


def _parts(needs: Sequence[Need], lead: str) -> str:
    return f"[{', '.join(f'{need.get(lead, 0.0):g}' for need in needs)}]"


def _node(node: RayNode, lead: str, holders: Mapping[str, float] | None) -> str:
    """Format the capacity of a node; with `holders` also the free part and its holders."""
    total, cpus = amount_of(lead, node.total.get(lead, 0.0)), node.total.get("CPU", 0.0)
    if holders is None:
        return f"`{name_of(node)}`: {total}" + ("" if lead == "CPU" else f", {amount_of('CPU', cpus)}")
    holders_text = f", held: {format_holders(holders)}" if holders else ""
    free_cpus = "" if lead == "CPU" else f", {node.free.get('CPU', 0.0):g} of {cpus:g} CPUs"
    return f"`{name_of(node)}`: {node.free.get(lead, 0.0):g} of {total} free{free_cpus}{holders_text}"
