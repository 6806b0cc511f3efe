"""What is asked for cannot be: a failure that is also a ValueError, as the frameworks whose words these are raise it."""

from __future__ import annotations

from ..models.findings.finding import error
from .failure import LaunchFailed


class Refusal(LaunchFailed, ValueError):
    """Raised before anything is started or sent: what is asked for contradicts itself, or the cluster has not what it needs.

    As a text it is all that is known, because it mostly ends a program of the user's: who holds what, and what helps.
    """

    def __str__(self) -> str:
        return "\n".join(line for each in self.findings for line in (each.message, *each.notes, f"help: {each.help}"))


def refused(
    code: str, subject: str, message: str, help: str, *witnesses: int | str, amount: int = 0, notes: tuple[str, ...] = ()
) -> Refusal:
    """A refusal with one Finding."""
    return Refusal(error(code, subject, message, help=help, witnesses=witnesses, amount=amount, notes=notes))


def kind_of(value: object) -> str:
    """What was given, in words: ``None``, the name of a class, or ``a dict``."""
    return "None" if value is None else value.__name__ if isinstance(value, type) else f"a {type(value).__name__}"
