"""The same question to several nodes at once, one process on each; whoever does not answer in time is left out."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping

from ..port.errors import AnswerFailed
from ..port.port import Port, Ticket


def ask_nodes(port: Port, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]], limit: float) -> dict[str, Any]:
    """Ray's node id -> what the function said there, or an AnswerFailed. Nodes that are silent for `limit` s are not in it.

    `arguments`: Ray's node id -> what the function is called with on that node.
    """
    tickets: dict[Ticket, str] = {port.run_on(node_id, function, *its): node_id for node_id, its in arguments.items()}
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


def silent(asked: Iterable[str], answers: Mapping[str, Any]) -> dict[str, str]:
    """Ray's node id -> why there is no answer, for each node that was asked and did not give one."""
    return {
        node_id: answers[node_id].reason if node_id in answers else "no answer in time"
        for node_id in asked
        if isinstance(answers.get(node_id, AnswerFailed("")), AnswerFailed)
    }
