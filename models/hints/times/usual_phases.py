"""The phases of the cost model `stages` where a file does not name them: what a component does says when it works."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable

from ...component import Component
from ...planning.workload import PHASES, STAGES
from ...text.tree import ListNode, MapNode, Scalar, Value
from ...times.usual import usual_phase


def stages_of(plan: Value | None) -> tuple[str, ...]:
    """The phases that a plan goes through; none where it has another cost model."""
    model, phases = (plan.get(key) for key in ("cost_model", "phases")) if isinstance(plan, MapNode) else (None, None)
    if not isinstance(model, Scalar) or model.text != STAGES:
        return ()
    written = phases.items if isinstance(phases, ListNode) else (phases,)
    return tuple(each.text for each in written if isinstance(each, Scalar)) if phases is not None else PHASES


def with_usual_phases(components: Iterable[Component], plan: Value | None) -> tuple[tuple[Component, ...], tuple[str, ...]]:
    """The components, each time that names no phase in the usual one of its component; and a sentence that says so, if there are any.

    Those whose hints name other phases, whose role is not known, or whose phase the plan does not go through, stay as they are; so do
    all where the plan goes through the phase without a name.
    """
    stages, found, assumed = stages_of(plan), list[Component](), list[str]()
    for each in components:
        phase = usual_phase(each) if stages and "" not in stages and each.timed and "" in each.timed.phases else ""
        if each.timed and phase and phase in stages and (not each.phases or phase in each.phases):
            rows = tuple(row if row.phase else replace(row, phase=phase) for row in each.timed.measured)
            each = replace(each, timed=replace(each.timed, measured=rows))
            assumed.append(f"{each.name} in {phase}")
        found.append(each)
    said = f"phases by what components do, where their hints name none: {', '.join(assumed)}"
    return tuple(found), (said,) if assumed else ()
