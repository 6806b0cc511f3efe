"""Alternative answers: differences from the best, and the term that loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models.findings.wording import plural
from ..models.placements.plan import Plan
from ..models.problem import AMOUNT, SHARED, Key
from ..solver.wording import level_name
from .json import attributes
from .table import table
from .terminal import escape

if TYPE_CHECKING:
    from ..solver.alternatives import Alternative, Alternatives

MAX_DIFFERENCES = 3
"""Maximum number of structural differences per answer."""


def render(alternatives: Alternatives, level: str) -> str:
    """Format the answers as columns, then in words."""
    answers = alternatives.found
    values = [{term.name: term.value for term in alternative.plan.terms} for alternative in answers]
    rows = [
        ["alternative", *(str(number) for number in range(1, len(answers) + 1))],
        ["status", *(alternative.plan.status for alternative in answers)],
    ]
    rows += [[term.name, *(str(term_values.get(term.name, "-")) for term_values in values)] for term in answers[0].plan.terms]
    lines = [table(rows, right=tuple(range(1, len(rows[0]))))]
    lines += [f"{number}: {_words(alternative, answers[0].plan, level)}" for number, alternative in enumerate(answers[1:], 2)]
    if alternatives.complete:
        lines.append(f"note[PW608]: no other structure is possible than {'this one' if len(answers) == 1 else f'these {len(answers)}'}")
    return "\n".join(lines)


def _words(alternative: Alternative, best: Plan, level: str) -> str:
    degrees = [f"{name} with {parallel}" for name, parallel in alternative.plan.degrees.items() if best.degrees.get(name) != parallel]
    differences = [*degrees, *(_difference(key, value, best_value, level) for key, value, best_value in alternative.differs)]
    more = f", and {len(differences) - MAX_DIFFERENCES} more differences" if len(differences) > MAX_DIFFERENCES else ""
    why = (
        f"loses by {alternative.loss.term}: {alternative.loss.value} instead of {alternative.loss.best}"
        if alternative.loss
        else "as good as 1"
    )
    return escape(f"{'; '.join(differences[:MAX_DIFFERENCES])}{more}: {why}")


def _difference(key: Key, value: int, best: int, level: str) -> str:
    figure, *names, kind = key
    who = " and ".join(names)
    if figure == AMOUNT:
        return f"{who} has {value} instead of {best}"
    verb = "share" if figure == SHARED else "is in"
    return f"{who} {verb} {value} {plural(level_name(level), value)} like `{kind}` instead of {best}"


def to_data(alternatives: Alternatives) -> dict[str, object]:
    """Convert the answers to JSON data, with components as in a plan."""
    return {"complete": alternatives.complete, "found": [_alternative_data(alternative) for alternative in alternatives.found]}


def _alternative_data(alternative: Alternative) -> dict[str, object]:
    canonical = alternative.plan.canonical()
    data: dict[str, object] = {name: canonical[name] for name in ("status", "degrees", "components") if name in canonical}
    data["terms"] = {term.name: term.value for term in alternative.plan.terms}
    data["differs"] = [
        {"what": figure, "components": names, "like": kind, "value": value, "best": best}
        for (figure, *names, kind), value, best in alternative.differs
    ]
    if alternative.loss:
        data["loss"] = attributes(alternative.loss, "term", "value", "best")
    return data
