"""Prices of changes: a row for each, with changed objective terms."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ..models.answer import Answer
from ..models.findings.finding import Unchecked
from ..models.findings.wording import with_noun
from ..models.planning.workload import SECOND
from ..solver.pricing.result import LARGER, RESIZED, SAME, SMALLER, PricedChange, Pricing, accelerators_of, sizes_of, terms_of
from ..solver.wording import with_unit
from .json import attributes, finding_to_data, unchecked_to_data, with_schema
from .planning.words import seconds
from .table import table
from .terminal import escape, paint
from .text import render_unchecked

AS_IT_IS = "as it is"
MAX_WHYS = 3
"""Maximum number of infeasible changes with reasons."""


def render(file: str, pricing: Pricing, colour: bool = False) -> str:
    """Format the table of all changes; for a single change all terms before and after."""
    rows = [["change", "verdict", "effect", "what changes"], [AS_IT_IS, _verdict(pricing.before), "", _terms(pricing.before)]]
    rows += [[change.name, _verdict(change.answer), change.effect, _differences(pricing.before, change)] for change in pricing.after]
    blocks = [table(rows, uncut=True)]
    if len(pricing.after) == 1 and pricing.before.plan and pricing.after[0].answer.plan:
        old, new = terms_of(pricing.before), pricing.after[0].terms
        terms = [[name, str(old.get(name, "-")), str(new.get(name, "-"))] for name in dict.fromkeys((*old, *new))]
        blocks += [table([["objective", "before", "after"], *terms], right=(1, 2))] if terms else []
    with_reasons = [
        change for change in pricing.after if change.answer.findings and (change.effect != SAME or len(pricing.after) <= MAX_WHYS)
    ]
    blocks += [_format_reason(change, colour) for change in with_reasons[:MAX_WHYS]]
    counts = Counter(change.effect for change in pricing.after)
    changes = with_noun(len(pricing.after), "change") + ": " + ", ".join(f"{count} {effect}" for effect, count in counts.items())
    verdict = f"{escape(file)}: {_verdict(pricing.before)}; {changes if counts else 'there is no demand that could be dropped'}"
    return "\n\n".join(filter(None, [*blocks, _format_unchecked(pricing), verdict]))


def to_json(file: str, pricing: Pricing) -> str:
    """Format the prices as JSON with ``"schema": 1``."""
    changes = [{"change": change.name, "effect": change.effect, **_answer(change.answer, file)} for change in pricing.after]
    return with_schema(file=file, before=_answer(pricing.before, file), changes=changes)


def _answer(answer: Answer, file: str) -> dict[str, object]:
    plan, result, times = answer.plan, answer.planned, dict[str, object]()
    if result is not None:
        count = result.best.accelerators(result.question)
        times = {"seconds": result.best.total / SECOND, "accelerators": count, "proved": result.proved}
    return {
        "verdict": answer.verdict,
        "objective": plan.objective if plan else None,
        "gap": plan.gap if plan else None,
        "terms": [attributes(term, "name", "value", "bound", "tier") for term in plan.terms] if plan else [],
        "findings": [finding_to_data(finding, file) for finding in answer.findings],
        **({"accelerators": accelerators_of(answer), "processes": sizes_of(answer)} if plan else {}),
        **({"unchecked": [unchecked_to_data(item) for item in answer.unchecked]} if answer.unchecked else {}),
        **times,
    }


def _verdict(answer: Answer) -> str:
    gap = f" ({answer.plan.gap:.1%} open)" if answer.plan and answer.plan.gap else ""
    return answer.verdict + gap


def _terms(answer: Answer) -> str:
    return ", ".join([*_format_prices(answer).values(), *(f"{name} {value}" for name, value in terms_of(answer).items() if value)])


def _format_prices(answer: Answer) -> dict[str, str]:
    """Format the prices of a plan chosen by time."""
    if answer.planned is None:
        return {}
    best = answer.planned.best
    count = best.accelerators(answer.planned.question)
    return {"seconds": with_unit(seconds(best.total)), "accelerators": with_noun(count, "accelerator")}


def _differences(before: Answer, after: PricedChange) -> str:
    """Format terms with changed values; nonzero terms without an answer before."""
    if before.plan is None:
        return _terms(after.answer)
    old, new = terms_of(before), after.terms
    if after.answer.plan is None:
        return ""
    names = [name for name in dict.fromkeys((*old, *new)) if old.get(name, 0) != new.get(name, 0)]
    old_sizes, new_sizes = _format_prices(before), _format_prices(after.answer)
    sizes = [
        f"{old_sizes[name].split()[0]} -> {size}" for name, size in new_sizes.items() if name in old_sizes and size != old_sizes[name]
    ] or _sizes(before, after)
    return ", ".join([*sizes, *(f"{name} {old.get(name, 0)} -> {new.get(name, 0)}" for name in names)])


def _sizes(before: Answer, after: PricedChange) -> list[str]:
    """Format growth or shrinkage of the job: accelerators, else components."""
    if after.effect not in (SMALLER, LARGER, RESIZED):
        return []
    old, new = accelerators_of(before), accelerators_of(after.answer)
    if old != new:
        return [f"{old:,} -> {with_noun(new, 'accelerator', ',')}"]
    then, now = sizes_of(before), sizes_of(after.answer)
    names = [name for name in dict.fromkeys((*then, *now)) if then.get(name, 0) != now.get(name, 0)]
    return [f"{name} {then.get(name, 0):,} -> {with_noun(now.get(name, 0), 'process', ',')}" for name in names]


def _format_unchecked(pricing: Pricing) -> str:
    """Format unchecked demands of the answer, and of a few changes alone."""
    unchecked = _list_unchecked(pricing.before)
    blocks = [render_unchecked(unchecked)]
    for change in pricing.after if len(pricing.after) <= MAX_WHYS else ():
        new = [item for item in _list_unchecked(change.answer) if item not in unchecked]
        blocks.append(render_unchecked(new, f"{escape(change.name)}, not checked"))
    return "\n\n".join(filter(None, blocks))


def _list_unchecked(answer: Answer) -> list[Unchecked]:
    """Return the unchecked demands of an answer by component."""
    return [replace(item, subject=name) for item in answer.unchecked for name in item.subject.split(", ")]


def _format_reason(change: PricedChange, colour: bool) -> str:
    finding = change.answer.findings[0]
    more = [*(f"note: {note}" for note in finding.notes), *([f"help: {finding.help}"] if finding.help else [])]
    head = f"{paint(escape(f'{change.name} [{finding.code}]'), 'cyan', colour)}: {escape(finding.message)}"
    return "\n".join([head, *(f"  = {escape(line)}" for line in more)])
