"""Impossible request: a failure that is also a ValueError, as in the frameworks."""

from __future__ import annotations

from ..models.findings.finding import error
from .failure import LaunchFailed


class Refusal(LaunchFailed, ValueError):
    """Request that contradicts itself or exceeds the cluster; raised before anything is started.

    Its text is complete (holders, help), because it mostly ends a user's program.
    """

    def __str__(self) -> str:
        return "\n".join(line for finding in self.findings for line in (finding.message, *finding.notes, f"help: {finding.help}"))


def refused(
    code: str, subject: str, message: str, help: str, *witnesses: int | str, amount: int = 0, notes: tuple[str, ...] = ()
) -> Refusal:
    """Build a refusal with a single Finding."""
    return Refusal(error(code, subject, message, help=help, witnesses=witnesses, amount=amount, notes=notes))


def kind_of(value: object) -> str:
    """Describe a value: ``None``, a class name, or ``a dict``."""
    return "None" if value is None else value.__name__ if isinstance(value, type) else f"a {type(value).__name__}"
