"""Alternative answers: differences from the best, and the term that loses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ..models.findings.wording import plural
from ..models.placements.plan import Plan
from ..models.structure import AMOUNT, SHARED, Key
from ..solver.wording import level_name
from .table import table
from .terminal import escape

if TYPE_CHECKING:
    from ..solver.alternatives import Alternative, Alternatives

MAX_DIFFERENCES = 3
"""Maximum number of structural differences per answer."""


def render(alternatives: Alternatives, level: str) -> str:
    """Format the answers as columns, then in words."""
    found = alternatives.found
    values = [{term.name: term.value for term in each.plan.terms} for each in found]
    rows = [["alternative", *(str(number) for number in range(1, len(found) + 1))], ["status", *(each.plan.status for each in found)]]
    rows += [[term.name, *(str(its.get(term.name, "-")) for its in values)] for term in found[0].plan.terms]
    lines = [table(rows, right=tuple(range(1, len(rows[0]))))]
    lines += [f"{number}: {_words(each, found[0].plan, level)}" for number, each in enumerate(found[1:], 2)]
    if alternatives.complete:
        lines.append(f"note[PW608]: no other structure is possible than {'this one' if len(found) == 1 else f'these {len(found)}'}")
    return "\n".join(lines)


def _words(each: Alternative, best: Plan, level: str) -> str:
    degrees = [f"{name} with {its}" for name, its in each.plan.degrees.items() if best.degrees.get(name) != its]
    told = [*degrees, *(_difference(key, value, other, level) for key, value, other in each.differs)]
    more = f", and {len(told) - MAX_DIFFERENCES} more differences" if len(told) > MAX_DIFFERENCES else ""
    why = f"loses by {each.loss.term}: {each.loss.value} instead of {each.loss.best}" if each.loss else "as good as 1"
    return escape(f"{'; '.join(told[:MAX_DIFFERENCES])}{more}: {why}")


def _difference(key: Key, value: int, best: int, level: str) -> str:
    what, *names, kind = key
    who = " and ".join(names)
    if what == AMOUNT:
        return f"{who} has {value} instead of {best}"
    verb = "share" if what == SHARED else "is in"
    return f"{who} {verb} {value} {plural(level_name(level), value)} like `{kind}` instead of {best}"


def to_data(alternatives: Alternatives) -> dict[str, object]:
    """Convert the answers to JSON data, with components as in a plan."""
    return {"complete": alternatives.complete, "found": [_one(each) for each in alternatives.found]}


def _one(each: Alternative) -> dict[str, object]:
    canonical = each.plan.canonical()
    data: dict[str, object] = {name: canonical[name] for name in ("status", "degrees", "components") if name in canonical}
    data["terms"] = {term.name: term.value for term in each.plan.terms}
    data["differs"] = [_figure(key, value, best) for key, value, best in each.differs]
    if each.loss:
        data["loss"] = {"term": each.loss.term, "value": each.loss.value, "best": each.loss.best}
    return data


def _figure(key: Sequence[str], value: int, best: int) -> dict[str, object]:
    what, *names, kind = key
    return {"what": what, "components": names, "like": kind, "value": value, "best": best}
