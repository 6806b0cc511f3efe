"""Nodes of a Ray cluster in a fixed order, and a survey of them."""

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
"""Seconds for the survey of a node; 1 to 2 s on an idle node."""


def inventory(port: Port, reports: Mapping[str, Report] | None = None) -> tuple[RayNode, ...]:
    """Return the living nodes, ordered by Ray's knowledge and the reports; see `ordered`."""
    return ordered(port.nodes(), reports)


def survey(port: Port, nodes: Sequence[RayNode], limit: float = SURVEY_LIMIT) -> tuple[dict[str, Report], dict[str, str]]:
    """Survey the nodes at once, a process per node.

    Returns (Ray node id -> report, Ray node id -> reason for a missing report).
    """
    arguments = {node.node_id: (list(LOOKED_AT), not is_simulated(node)) for node in nodes}
    answers = ask_nodes(port, look, arguments, limit)
    missing = silent(arguments, answers)
    return {node_id: answer for node_id, answer in answers.items() if node_id not in missing}, missing
