"""Nodes of a Ray cluster in a fixed order, with a report from each."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Sequence

from ..port.port import RANK_LABEL, RANK_LABELS, AnswerFailed, Port, RayNode, Ticket
from .on_node.look import survey_node
from .order import ordered
from .ray_machine import LOOKED_AT, Report, is_simulated


def run_on_nodes(port: Port, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]], limit: float) -> dict[str, Any]:
    """Return Ray node id -> result or AnswerFailed; nodes silent for `limit` s are missing.

    `arguments`: Ray node id -> arguments of the call on that node.
    """
    tickets: dict[Ticket, str] = {port.run_on(node_id, function, *values): node_id for node_id, values in arguments.items()}
    deadline = port.now() + limit
    answers: dict[str, Any] = {}
    while tickets:
        ticket = port.first_done(list(tickets), max(0.0, deadline - port.now()))
        if ticket is None:
            break
        node_id = tickets.pop(ticket)
        try:
            answers[node_id] = port.answer(ticket)
        except AnswerFailed as problem:
            answers[node_id] = problem
    return answers


def missing_answers(asked: Iterable[str], answers: Mapping[str, Any]) -> dict[str, str]:
    """Return Ray node id -> reason, for every node without an answer."""
    return {
        node_id: answers[node_id].reason if node_id in answers else "no answer in time"
        for node_id in asked
        if isinstance(answers.get(node_id, AnswerFailed("")), AnswerFailed)
    }


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
    answers = run_on_nodes(port, survey_node, arguments, limit)
    missing = missing_answers(arguments, answers)
    return {node_id: answer for node_id, answer in answers.items() if node_id not in missing}, missing
