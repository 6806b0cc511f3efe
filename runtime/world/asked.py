"""Call of a function on several nodes at once, with a time limit."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping

from ..port.errors import AnswerFailed
from ..port.port import Port, Ticket


def ask_nodes(port: Port, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]], limit: float) -> dict[str, Any]:
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


def silent(asked: Iterable[str], answers: Mapping[str, Any]) -> dict[str, str]:
    """Return Ray node id -> reason, for every node without an answer."""
    return {
        node_id: answers[node_id].reason if node_id in answers else "no answer in time"
        for node_id in asked
        if isinstance(answers.get(node_id, AnswerFailed("")), AnswerFailed)
    }
