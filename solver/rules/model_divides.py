"""Rule PW404: the parts of a model divide among its parallel ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Iterable, Iterator

from ...models.component import Component
from ...models.findings.finding import Finding, Severity, error, warning
from ...models.findings.span import Edit
from ...models.model_cards.card import ModelCard
from ...models.model_cards.use import WORDS, Split
from ...models.parallel import Parallel
from ...models.placements.assignment import Assignment
from ...models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ..model.variables import Variables

Use = tuple[Component, ModelCard, tuple[Split, ...]]
"""Component, its model, and the splits of the model by a single degree."""

MOST_SHOWN = 12
"""Limit on legal values in a message."""


class ModelDivides:
    """Heads, layers, experts and vocabulary of a model divide by their parallel degrees.

    Key-value heads may also be fewer than the ranks, if the ranks are a multiple of them: they are
    then repeated. An unknown model is not judged. The vocabulary is judged if Megatron gets it
    unpadded from the checkpoint; engines, and frameworks that pad it first, take any size.

    Source: vLLM, vllm/config (verify_with_parallel_config); Megatron-LM,
    megatron/core/transformer/transformer_config.py; verl, verl/models/transformers/monkey_patch.py;
    ROLL, roll/distributed/strategy/fsdp2_strategy.py; RLinf, rlinf/config.py.
    """

    code: ClassVar[str] = "PW404"

    def subjects(self, problem: Problem) -> Iterable[Use]:
        for component in problem.components:
            use = problem.job.models.get(component.name)
            if use is not None and use.card is not None:
                for degree in dict.fromkeys(split.degree for split in use.splits):
                    yield component, use.card, tuple(split for split in use.splits if split.degree == degree)

    def encode(self, problem: Problem, use: Use, variables: Variables) -> None:
        component, card, splits = use
        if component.runs is None and not card.assumed:
            for split in splits:
                if split.proved:
                    variables.require(split.suits(card, split.of(component.parallel)))

    def check(self, problem: Problem, use: Use, assignment: Assignment) -> Iterator[Finding]:
        component, card, splits = use
        torn = [split for split in splits if not split.suits(card, split.of(component.parallel))]
        for split in (split for split in torn if split.refused):
            message = f"Megatron trains no experts of `{card.name}` on {split.degree} {split.of(component.parallel)} {split.refused}"
            edit = Edit(split.span, "True") if split.span else None
            yield _finding(problem, use, split, message, help=f"set `{split.key}=True`", edit=edit)
        torn, splits = [split for split in torn if not split.refused], tuple(split for split in splits if not split.refused)
        if not torn:
            return
        split = torn[0]
        if split.among:
            yield _stage_finding(problem, component, card, split)
            return
        amount, degree = getattr(card, split.card_field), split.of(component.parallel)
        most = max(problem.cluster.total(problem.kind(component)), degree)
        legal = [size for size in range(1, most + 1) if all(peer.suits(card, size) for peer in splits)]
        message = f"the {amount} {WORDS[split.card_field]} of `{card.name}` do not divide among {split.degree} {degree} of {component.name}"
        if not amount:
            message = f"`{card.name}` has no {WORDS[split.card_field]} to divide among {split.degree} {degree} of {component.name}"
        fixed_amount = component.least if component.least == component.most else 0
        edit, text = self._fix(component, split, legal, assignment.amount(component.name) or fixed_amount)
        yield _finding(
            problem, (component, card, splits), split, message, label=f"{split.degree} {degree}", help=text, edit=edit,
            notes=(f"legal up to {most}: {_list_sizes(legal)}",), witnesses=(amount, degree), amount=_compute_remainder(card, split, degree),
        )  # fmt: skip

    def _fix(self, component: Component, split: Split, legal: list[int], amount: int) -> tuple[Edit | None, str]:
        """Return an edit and a help text with the nearest legal degree.

        With this degree the replicas still divide the component's accelerators. A divisor of the
        written degree is preferred: other settings may divide by the written one. No edit if
        another degree must be lowered too.
        """
        degree = split.of(component.parallel)
        # Experts lie inside replicas.
        rest = component.parallel.replica // degree if split.size is None and split.degree != "ep" else 1
        whole = [size for size in legal if not amount or amount % (size * rest) == 0]
        best = min(whole or legal, key=lambda size: (size == 1 or degree % size != 0, abs(size - degree), size))
        name = f"`{split.key}`" if split.key else f"`{split.degree}` of `{component.name}`"
        text = f"set {name} to {best}"
        coupled_degree, floor = split.at_least
        if best < floor:
            return None, f"{text}, and `{coupled_degree}` to {best}" + (" or less" if best > 1 else "")
        return Edit(split.span, str(best)) if split.span else None, text

    def explain(self, problem: Problem, use: Use) -> ConflictClause:
        component, card, splits = use
        amounts = " and ".join(
            f"{getattr(card, split.card_field)} {WORDS[split.card_field]}" for split in splits if getattr(card, split.card_field)
        )
        text = f"{splits[0].degree} of {component.name} divides what `{card.name}` has: {amounts or 'nothing that is known'}"
        return ConflictClause(text, (Demand(component.name, "parallel", component.span("parallel")),))


def _stage_finding(problem: Problem, component: Component, card: ModelCard, split: Split) -> Finding:
    """Return a finding on layers uneven among stages with some given."""
    amount, size = getattr(card, split.card_field), split.of(component.parallel)
    words, rest = WORDS[split.card_field], amount - split.less
    equation = f"less {split.less} = {rest} {words}" if split.less > 0 else f"and {-split.less} more = {rest}"
    message = f"the {amount} {words} of `{card.name}` {equation} do not divide among {split.among} of {component.name}"
    if split.exact or rest < 0:
        message = f"`{card.name}` has {amount} {words}, but {split.among} of {component.name} hold{'s' * split.among.startswith('`')} {split.less}"
    fitting = [] if split.exact else [count for count in range(1, amount + 1) if split.given and (rest + split.given - count) % size == 0]
    fitting = [count for count in fitting if rest + split.given - count >= 0]
    best = min(fitting, key=lambda count: abs(count - split.given)) if fitting else 0
    place = f"`{split.key}`" if split.key else f"the stages of {component.name}"
    help_ = f"set `{split.key}` to {best}" if best else f"make {place} fit {amount} {words}"
    edit = Edit(split.span, str(best)) if best and split.span else None
    return _finding(
        problem,
        (component, card, ()),
        split,
        message,
        label=f"{rest} % {size}" * (size > 1),
        help=help_,
        edit=edit,
        witnesses=(amount, size),
    )


def _finding(problem: Problem, use: Use, split: Split, message: str, notes: tuple[str, ...] = (), **fields: Any) -> Finding:
    """Return a finding at the split; a warning if the failure is not proved."""
    component, card, _ = use
    notes += (f"the model is taken for `{card.name}`, by the last part of its path",) if card.assumed else ()
    notes += (split.when,) if split.when else ()
    span = split.span or component.spans.get("parallel") or problem.job.models[component.name].span or component.span("parallel")
    return (error if split.proved and not card.assumed else warning)(
        ModelDivides.code, component.name, message, span, notes=notes, **fields
    )


def is_open(problem: Problem, component: Component, split: Split) -> bool:
    """Return True if the degree of the split is a choice.

    Other degrees may be a choice even if this degree is not.
    """
    return len({split.of(parallel) for parallel in problem.job.choices.get(component.name, ())}) > 1


def hinted_findings(problem: Problem, use: Use, parallel: Parallel) -> Iterator[Finding]:
    """Yield findings for degrees open by hints, located at the hints."""
    component, card, splits = use
    variant = replace(component, parallel=parallel)
    # No edits: the written degrees stay.
    bare = tuple(replace(split, key="", span=None) for split in splits)
    for finding in ModelDivides().check(problem, (variant, card, bare), problem.build_given()):
        yield replace(finding, span=component.span("parallel"))


def no_legal_choice(problem: Problem, use: Use) -> Iterator[Finding]:
    """Yield a finding if no degree open by hints divides the model.

    The finding is about the first of these degrees.
    """
    component, _, splits = use
    first: Finding | None = None
    for parallel in problem.job.choices.get(component.name, ()) if splits else ():
        failure = next((finding for finding in hinted_findings(problem, use, parallel) if finding.severity is Severity.ERROR), None)
        if failure is None:
            return
        first = first or failure
    if first is not None:
        yield replace(first, notes=(*first.notes, "no other degree that the hints leave open is legal"))


def _compute_remainder(card: ModelCard, split: Split, degree: int) -> int:
    """Return the remainder of a number, or of ranks that have nothing to divide."""
    amount = getattr(card, split.card_field)
    return int((amount - split.less) // split.within % degree) if amount else degree - 1


def _list_sizes(sizes: list[int]) -> str:
    more = ", ..." if len(sizes) > MOST_SHOWN else ""
    return ", ".join(map(str, sizes[:MOST_SHOWN])) + more
