"""Explanation of a configuration as JSON with ``"schema": 1``."""

from __future__ import annotations

from typing import Iterable

from ...models.derivation import Derivation, Figure
from ...models.findings.span import Span
from ...solver.explaining.explain import Explanation, SharedAccelerators
from ...solver.explaining.needs import ComponentNeed
from ..json import attributes, finding_to_data, head_to_data, with_schema


def render(explanations: Iterable[Explanation]) -> str:
    """Format the explanations as JSON."""
    return with_schema(files=[explanation_to_data(explanation) for explanation in explanations])


def explanation_to_data(explanation: Explanation) -> dict[str, object]:
    """Convert an explanation to JSON data; unknown values are null."""
    report, needs, sharing = explanation.report, explanation.needs, explanation.sharing
    return {
        "file": report.file,
        **head_to_data(report),
        "errors": [finding_to_data(finding, report.file) for finding in report.errors],
        "assumed_accelerators_per_node": explanation.assumed or None,
        "needs": {
            "accelerators": needs.accelerators,
            "accelerators_to_solve": needs.open,
            "choices_not_read": needs.unread_choices or None,
            "sizes_not_read": needs.sizes_not_read or None,
            "nodes": needs.nodes,
            "cpus": needs.cpus or None,
            "idle_accelerators": needs.idle if explanation.known else None,
            "cluster": {"accelerators": needs.there, "nodes": needs.nodes_there},
        }
        if needs
        else None,
        "components": {need.name: _need(need) for need in needs.components} if needs else {},
        "shared": _convert_shared(sharing) if sharing else [],
        "asked": [
            {"kind": relation.kind, "components": list(relation.components), **({"level": relation.level} if relation.level else {})}
            for relation in (sharing.asked if sharing else ())
        ],
        "demands": [
            {"components": list(demand.components), "demand": demand.text, **_place(demand.span)} for demand in explanation.demands
        ],
        "numbers": [_number(derivation) for derivation in explanation.derivations],
    }


def _need(need: ComponentNeed) -> dict[str, object]:
    counts = [{"least": low, "most": high} for low, high in need.counts]
    return {
        "kind": need.kind,
        "processes": need.processes,
        "accelerators": need.accelerators if need.processes is not None else None,
        "layout": [{"nodes": nodes, "each": per_node} for nodes, per_node in need.layout],
        "cpus": need.cpus or None,
        "written": need.written or None,
        "asks_for": {"least": need.asked[0], "most": need.asked[1], "counts": counts} if need.asked else None,
    }


def _convert_shared(sharing: SharedAccelerators) -> list[dict[str, object]]:
    """Convert the sets of colocated components, with overlapping sets."""
    return [
        {
            "components": list(members.components),
            "accelerators": members.accelerators,
            "meets": [
                {"kind": overlap.kind, "components": list(overlap.second.components), "accelerators": overlap.shared}
                for overlap in sharing.overlaps
                if overlap.first is members
            ],
        }
        for members in sharing.together
    ]


def _place(span: Span | None) -> dict[str, object]:
    return {"line": span.line if span else None, "column": span.column if span else None}


def _number(derivation: Derivation) -> dict[str, object]:
    figures = [_figure(figure) for figure in derivation.figures]
    return {**attributes(derivation, "component", "name", "value", "formula"), "figures": figures}


def _figure(figure: Figure) -> dict[str, object]:
    file = figure.span.file if figure.span else None
    return {"name": figure.name, "value": figure.value, "file": file, **_place(figure.span), "default": figure.default or None}
