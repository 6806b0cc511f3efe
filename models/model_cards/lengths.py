"""Findings about sequences that are longer than the positions of their model."""

from __future__ import annotations

from typing import Iterator, Mapping

from ..component import Component
from ..findings.finding import Finding, Severity, error, warning
from ..findings.wording import are
from .use import ESTIMATE, Length, ModelUse

CODE = "PW403"


def length_findings(models: Mapping[str, ModelUse], components: Mapping[str, Component]) -> Iterator[Finding]:
    """Yield a finding per model and length."""
    earlier_messages = set[str]()
    for name, use in models.items():
        lengths = use.lengths or _lengths_of_estimate(use, components[name]) if name in components and use.card else ()
        findings = [finding for length in lengths if (finding := _judge(name, use, length)) is not None]
        findings = [finding for finding in findings if finding.severity is Severity.ERROR][:1] or findings[:1]
        yield from (finding for finding in findings if finding.message not in earlier_messages)
        earlier_messages.update(finding.message for finding in findings)


def _lengths_of_estimate(use: ModelUse, component: Component) -> tuple[Length, ...]:
    """Return the written length of an estimate; none if a framework states the model."""
    estimate = component.estimate
    if use.key != ESTIMATE or estimate is None or "sequence" not in estimate.written:
        return ()
    help_, when = "set `sequence` to VALUE or less", "engines refuse it, or end every answer at the last position"
    return (Length(estimate.sequence, f"a sequence of {estimate.sequence} tokens", help_, component.span(ESTIMATE), when=when),)


def _judge(name: str, use: ModelUse, length: Length) -> Finding | None:
    card = use.card
    positions = length.positions(card) if card else 0
    if card is None or not positions or length.tokens <= positions:
        return None
    value = positions - length.remainder
    help_ = f"{length.help.replace('VALUE', str(value))}, or name a model with more positions" if value > 0 else "shorten the prompt"
    notes = [note for note in (length.note, length.when) if note]
    if card.assumed:
        notes.insert(0, f"the model is taken for `{card.name}`, by the last part of its path")
    is_proved = length.proved and not card.assumed and not (length.of_unscaled and card.has_rope_scaling)
    verb = are(2 if length.text.startswith("the ") else 1)
    message = f"{length.text} {verb} more than the {positions} positions of `{card.name}`"
    return (error if is_proved else warning)(CODE, name, message, length.span or use.span, help=help_, notes=tuple(notes))
