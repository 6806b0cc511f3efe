"""Why nodes are out: how many for each reason, so that the numbers add up to all nodes.

The form is that of the Kubernetes scheduler: "0/5 nodes are available: 3 Insufficient memory, 2 node(s) didn't match".
"""

from __future__ import annotations

from ...models.findings.wording import plural
from ...models.machines.node_group import ACCELERATOR
from ...models.quantity import write_memory
from ..layout.bundle import Bundle
from ..memory import peak
from ..wording import listed
from .clauses import few
from .rows.census import Kind
from .rows.question import Question
from .rows.row import Row

MAX_TEXTS = 2
"""So many different answers are told."""


def histograms(question: Question, row: Row | None) -> tuple[str, ...]:
    """For the bundles of a row: how many nodes they may use, and what keeps them off the others; none where all may be used."""
    named = {component.name for component in row.components} if row else set()
    alike: dict[str, list[str]] = {}
    for bundle in question.open:
        if any(component.name in named for component in bundle.components) and (text := histogram(question, bundle)):
            alike.setdefault(text, []).append(bundle.components[0].name)
    return tuple(text.replace("{}", f"{'each of ' if len(names) > 1 else ''}{few(names)}") for text, names in alike.items())[:MAX_TEXTS]


def histogram(question: Question, bundle: Bundle) -> str:
    """How many nodes a bundle, named `{}`, may use, and what keeps it off the others; "" where it may use all."""
    counts: dict[str, int] = {}
    for kind in question.census.kinds:
        reason = _reason(question, bundle, kind)
        counts[reason] = counts.get(reason, 0) + kind.count
    total, may = question.census.all_nodes(), counts.pop("", 0)
    if not counts:
        return ""
    out = sorted(counts.items(), key=lambda its: (-its[1], its[0]))
    return f"{may}/{total} {plural('node', total)} can hold {{}}: " + ", ".join(f"{count} {reason}" for reason, count in out)


def _reason(question: Question, bundle: Bundle, kind: Kind) -> str:
    """The first thing that keeps a bundle off nodes of a kind; "" if nothing does."""
    members = question.company(bundle)
    groups = [labels for labels in dict.fromkeys(c.node_groups for c in members) if not kind.groups.intersection(labels)]
    models = sorted({c.accelerator_model for c in members if c.accelerator_model} - {kind.model})
    need, free = peak(members, kind.memory), kind.free.get(bundle.kind, 0)
    if bundle.kind == ACCELERATOR and not kind.accelerators:
        return "without accelerators"
    if groups:
        return f"outside node group `{', '.join(groups[0])}`"
    if kind.out & {component.name for component in members if component.excluded}:
        return "excluded"
    if bundle.kind == ACCELERATOR and models:
        return f"without {listed(models)}"
    if bundle.kind == ACCELERATOR and kind.memory is not None and kind.memory < need:
        return f"with too little memory ({write_memory(kind.memory)}, {write_memory(need)} are needed)"
    if not free:
        return "taken"
    if free < bundle.unit:
        return f"with less than {bundle.unit} free"
    return ""
