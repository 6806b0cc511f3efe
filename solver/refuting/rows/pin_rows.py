"""Sums that show pinned ranks impossible: the nodes that they are pinned to have too little that the component may use."""

from __future__ import annotations

from ....models.findings.wording import plural
from ....models.locality import Pin
from ....models.machines.node_group import ACCELERATOR
from ....models.part import explicit
from ....models.ranks import write_range
from ...layout.bundle import Bundle
from ...memory import peak
from ...wording import listed
from .question import Question
from .row import Row


def pin_row(question: Question, bundle: Bundle) -> Row | None:
    """The first pin whose processes do not fit on their nodes, even if they were alone there."""
    for component in bundle.components:
        for pin in component.pins:
            room = _room(question, bundle, pin, component.per_process)
            need = len(pin.ranks)
            if room < need:
                nodes = listed([f"node {node}" for node in pin.nodes[:4]]) + (" and others" if len(pin.nodes) > 4 else "")
                sentence = (
                    f"ranks {write_range(pin.ranks)} of {component.name} are pinned to {nodes}, where {room} "
                    f"{plural('process', room)} of it can be; {need} are asked for"
                )
                return Row(bundle.components, need, room, sentence)
    return None


def _room(question: Question, bundle: Bundle, pin: Pin, each: int) -> int:
    """Processes that these nodes have room for."""
    problem, given = question.problem, question.problem.given()
    found = 0
    inside = [problem.cluster.members(component.node_groups) for component in bundle.components]
    models = {component.accelerator_model for component in bundle.components if component.accelerator_model}
    for rank in dict.fromkeys(pin.nodes):
        node = problem.cluster.nodes[rank]
        free = node.free(bundle.kind)
        for other in explicit(problem).components:
            free &= ~given.masks(other.name).get((rank, bundle.kind), 0)
        has = node.accelerator_memory
        fits = bundle.kind != ACCELERATOR or has is None or has >= peak(bundle.components, has)
        right = all(rank in its for its in inside) and (bundle.kind != ACCELERATOR or models <= {node.accelerator_model})
        out = any(rank in component.excluded for component in bundle.components)
        found += free.bit_count() // each if fits and right and not out else 0
    return found
