"""What a Ray cluster has: its nodes in a fixed order, and what is seen by looking at each."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..port.node import RANK_LABEL, RANK_LABELS, RayNode
from ..port.port import Port
from .asked import ask_nodes, silent
from .found import LOOKED_AT, Report
from .labels import is_simulated
from .on_node.look import look
from .order import ordered

__all__ = ["RANK_LABEL", "RANK_LABELS", "RayNode", "inventory", "survey"]
SURVEY_LIMIT = 60.0
"""Seconds in which every node starts a process and looks at itself; it takes one or two where nothing else starts."""


def inventory(port: Port, reports: Mapping[str, Report] | None = None) -> tuple[RayNode, ...]:
    """The nodes that are alive, in the order that Ray's own knowledge gives, and that of reports about them: see `ordered`."""
    return ordered(port.nodes(), reports)


def survey(port: Port, nodes: Sequence[RayNode], limit: float = SURVEY_LIMIT) -> tuple[dict[str, Report], dict[str, str]]:
    """(Ray's node id -> what was seen there, Ray's node id -> why nothing was): one process on each node, all at once."""
    arguments = {node.node_id: (list(LOOKED_AT), not is_simulated(node)) for node in nodes}
    answers = ask_nodes(port, look, arguments, limit)
    missing = silent(arguments, answers)
    return {node_id: answer for node_id, answer in answers.items() if node_id not in missing}, missing
