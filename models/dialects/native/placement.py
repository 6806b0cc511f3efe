"""A component of a native file whose ranks are given: `placement: 0-7`, in the numbering of its node groups."""

from __future__ import annotations

from dataclasses import replace

from ...cluster import Cluster
from ...component import Component
from ...finding import Finding
from ...tree import Scalar


def placed(component: Component, written: Scalar, cluster: Cluster, findings: list[Finding]) -> Component:
    """The component with its runs; without them, and with findings, where the placement cannot be."""
    from ...segments import place

    spans = {**component.spans, "placement": written.span}
    runs = place(component.name, written, cluster.numbering(component.node_groups), component.node_groups, findings)
    if runs is None:
        return replace(component, runs=(), spans=spans)
    return replace(component, runs=runs, spans=spans)
