"""How an estimate of memory comes about: a number for each of its terms, with its formula and its source."""

from __future__ import annotations

from typing import Iterator

from ...models.component import Component
from ...models.derivation import Derivation, Figure
from ...models.problem import Problem
from ...models.quantity import write_estimate
from ...models.text.document import Document


def memory(problem: Problem, component: Component, document: Document) -> Iterator[Derivation]:
    """What is estimated of each accelerator of a component; nothing where it has no estimate, or where its count or its degrees are still open."""
    amount = problem.given().amount(component.name)
    if not amount and component.least == component.most and len(problem.job.choices.get(component.name, ())) < 2:
        amount = component.least
    if component.estimate is None or not amount:
        return
    from ...models.memory.estimated import estimated

    use, span = problem.job.models.get(component.name), component.spans.get("estimate")
    capacities = {node.accelerator_memory for node in problem.cluster.nodes}
    found = estimated(component, use.card if use else None, component.parallel, amount, capacities.pop() if len(capacities) == 1 else None)
    written = (Figure("estimate", document.excerpt(span), span),) if span else ()
    if found is None:
        return
    for term in found.terms:
        yield Derivation(component.name, f"{term.name} (an estimate)", write_estimate(term.mebibytes), f"{term.formula}; {term.source}")
    words = [
        f"{write_estimate(found.kept)} of it stay while another phase runs"
        if found.kept
        else "nothing of it stays while another phase runs"
    ]
    words += [f"not counted are {missing}" for missing in found.missing]
    yield Derivation(
        component.name,
        "memory on each accelerator (an estimate)",
        write_estimate(found.mebibytes),
        "; ".join([*words, *found.assumed]),
        written,
    )
