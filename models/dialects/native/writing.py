"""Edits of a native file for an answer: a `placement:` per component, and chosen degrees.

No other byte changes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Sequence

from ...component import Component
from ...findings.finding import UnusableInput
from ...findings.span import Edit
from ...hints.amount import KEY, degrees_of
from ...placements.assignment import Assignment, seats
from ...placements.run import Run
from ...placements.runs_text import placement_list, placement_text
from ...problem import Problem
from ...ranks import merge, write_ranks
from ...reading import Reading
from ...text.edit import plain_or_quoted
from ...text.tree import MapNode, leaves
from ..dialect import UNCHANGED, Degrees
from ..written import Values, check_places, edits_of, read_again, refuse_writing
from .reader import read
from .sharing import sharing


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits that place the open components and permit their sharing.

    Components in `degrees` keep no other degrees than these.

    A placement without a text form is written node by node. Raises UnusableInput (PW603) if the
    edited file would not give this Assignment when read back, or if another value of the file would
    change.
    """
    problem, section = reading.problem, reading.source.root.get("components")
    if problem is None or not isinstance(section, MapNode):
        raise refuse_writing("", "the file has no `components:` map that could be edited")
    edits, changed_keys, additions = list[Edit](), set[str](), sharing(problem, assignment)
    for component in problem.components:
        name, hints, new_degrees = component.name, section.get(component.name), degrees.get(component.name)
        if component.runs is not None and new_degrees is None:
            continue
        if not isinstance(hints, MapNode):
            raise refuse_writing(name, "its hints are written elsewhere, through an interpolation")
        if new_degrees is not None:
            edits += degrees_of(reading.source, hints, new_degrees)
            changed_keys.add(f"components.{name}.{KEY}")
            component = replace(component, parallel=new_degrees)
        if component.runs is None:
            keys = _keys(problem, component, assignment.of(name), hints, additions.get(name, {}))
            edits += edits_of(reading.source, hints, keys)
            changed_keys |= {f"components.{name}.{key}" for key in keys}
    new_problem = read_again(reading, edits, changed_keys, partial(read, machines=problem.cluster, level=reading.level))
    check_places(assignment, {component.name: component for component in new_problem.components} if new_problem else {})
    for name, parallel in degrees.items():
        if new_problem is None or new_problem[name].parallel != parallel or name in new_problem.job.choices:
            raise refuse_writing(name, f"`{name}`, written down and read again, would not have {parallel}")
    return edits


def _keys(problem: Problem, component: Component, runs: Sequence[Run], hints: MapNode, additions: dict[str, list[str]]) -> Values:
    """Return the keys of a placed component; `additions` are names beside those in the file."""
    placement: object
    try:
        placement = plain_or_quoted(text_of(problem, component, runs, component.node_groups))
    except UnusableInput:
        placement = placement_list(runs, names_group=len(component.node_groups) > 1)
    current = {key: hints.get(key) for key in additions}
    before = {key: [leaf.text for leaf in leaves(value)] if value is not None else [] for key, value in current.items()}
    return {"placement": placement} | {key: [*before[key], *names] for key, names in additions.items()}


def text_of(problem: Problem, component: Component, runs: Sequence[Run], labels: tuple[str, ...]) -> str:
    """Return the placement of a component as text, numbered by these groups.

    Raises UnusableInput (PW603) if a text cannot express the placement.
    """
    if component.unit == component.group_size:
        return placement_text(component.name, runs, problem.cluster, labels)
    # The stride of the component deals out the range, so the ranks alone suffice.
    first = problem.cluster.numbering(labels).first
    ranks = [first[node] + index for _, process_seats in seats(runs) for (node, index), _, _ in process_seats]
    text = write_ranks(merge([range(rank, rank + 1) for rank in ranks]))
    if component.per_process > 1:
        text += f":0-{len(ranks) // component.per_process - 1}"
    return text
