"""An answer written into the user's own file: the fewest edits of `component_placement`, every other byte unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Mapping, Sequence

from ...component import Component
from ...findings.finding import UnusableInput, error
from ...findings.span import Edit
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...notation.runs_text import best_text, labels_used
from ...placements.assignment import Assignment, Run, seats
from ...problem import Problem
from ...reading import Reading
from ...text.tree import plain
from ..dialect import UNCHANGED, Degrees
from .hint_edits import counts_to_say, degrees_of, groups_of, measured_on, restored, without_counts, without_groups
from .lines import Line, insert_lines, rewrite_lines
from .modes.parts import extent_of
from .reader import read_with


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """The edits that give every component of the assignment its place, where the file gives it none, or it was planned anew.

    Those of `degrees` have these afterwards, in the hints and in RLinf's own keys.

    Only the file itself is edited: where its `cluster` stands in `defaults`, a `cluster` of its own is merged onto that.
    Raises UnusableInput (PW603) where RLinf cannot say the place of one, and where the text, read back, would not give
    the same Assignment.
    """
    problem = reading.problem
    if problem is None:
        raise _refused("", "the file states no problem")
    known = {component.name: component for component in problem.components}
    given = {component.name for component in problem.components if component.runs is not None}
    added = [name for name in assignment.runs if name not in given]
    idle = _not_started(problem, assignment)
    lines = {name: _line(name, known.get(name), problem, assignment.of(name)) for name in added if name not in idle}
    stays: list[str] = []
    if problem.job.own:
        stays = [name for name in lines if _is_where_it_was(problem, assignment, name)]
        edits = rewrite_lines(reading.source, {**lines, **dict.fromkeys(idle)}, stays)
    else:
        edits = insert_lines(reading.source, list(lines.values())) if lines else []
    chosen = {name: parallel for name, parallel in degrees.items() if name not in problem.job.tied}
    for name, parallel in chosen.items():
        edits += degrees_of(reading.source, name, parallel)
    edits += groups_of(reading.source, _dropped(problem, {name: its for name, its in lines.items() if name not in stays}))
    counts = _measured_on(reading, problem, edits, degrees) if problem.job.own and edits else {}
    edits += measured_on(reading.source, counts)
    _check(reading, problem, assignment, degrees, edits, added, idle, counts)
    return edits


def _measured_on(reading: Reading, problem: Problem, edits: list[Edit], degrees: Degrees) -> dict[str, int]:
    """On how many accelerators costs were measured, of those that the edited text would have read otherwise."""
    try:
        source = reading.source.edited(edits)
        after = read_with(reading.document.compose(source), problem.cluster, "placement", hints=True, anew=True).problem
    except UnusableInput as broken:
        raise _refused("", f"with it, {broken}") from None
    return counts_to_say(reading.source, problem, after, degrees) if after else {}


def _not_started(problem: Problem, assignment: Assignment) -> frozenset[str]:
    """The components that RLinf does not start in the arrangement that the assignment has."""
    held = {name: assignment.masks(name) for name in assignment.runs}
    for way in problem.job.ways:
        if way.together and all(held.get(one) == held.get(other) for one, other in way.together):
            return way.without
    return frozenset()


def _dropped(problem: Problem, lines: Mapping[str, Line]) -> dict[str, str]:
    """Of what is planned, the components whose lines leave out the node group that they were planned on."""
    found = {}
    for name in lines if problem.job.own and problem.job.capabilities.packs else ():
        named = problem[name].node_groups
        if len(named) == 1 and named != (CLUSTER_LABEL,) and not lines[name].groups and problem.kind(problem[name]) == ACCELERATOR:
            found[name] = named[0]
    return found


def _is_where_it_was(problem: Problem, assignment: Assignment, name: str) -> bool:
    """Do the ranks that the file gives to a component say just this, in whatever words?"""
    own, runs = problem.job.own.get(name, ()), assignment.of(name)
    if problem.job.capabilities.packs:  # RLinf drops the node groups
        own, runs = _relabelled(own, (CLUSTER_LABEL,)), _relabelled(runs, (CLUSTER_LABEL,))
    return bool(own) and list(seats(own)) == list(seats(runs))


def _line(name: str, component: Component | None, problem: Problem, runs: Sequence[Run]) -> Line:
    if not name or "," in name or name != name.strip():
        raise _refused(name, f"`{name}` cannot be a key of `component_placement`")
    named = component.node_groups if component else ()
    if component and component.contiguous and problem.job.capabilities.packs:
        labels = _labels(component, problem, runs)
        extent = extent_of(_relabelled(runs, labels), problem.cluster, labels)
        everything = extent.size == problem.cluster.numbering(labels).size > 1
        text = "all" if everything else str(extent)
    else:
        labels, text = best_text(name, runs, problem.cluster, named)
    return Line(name, text, "" if labels == (CLUSTER_LABEL,) else ",".join(labels))


def _labels(component: Component, problem: Problem, runs: Sequence[Run]) -> tuple[str, ...]:
    """The node groups to write for a component of which RLinf drops them, and takes its ranks as those of the whole cluster.

    A group that the file's own entries name stays where its ranks are those of the whole cluster: it says what a plan may use.
    """
    if problem.kind(component) != ACCELERATOR:
        return labels_used(runs, component.node_groups)
    named, whole = component.node_groups, (CLUSTER_LABEL,)
    if not problem.job.own or len(named) != 1 or named == whole:
        return whole
    in_group, in_all = (extent_of(_relabelled(runs, labels), problem.cluster, labels) for labels in (named, whole))
    return named if in_group == in_all else whole


def _relabelled(runs: Sequence[Run], labels: tuple[str, ...]) -> Sequence[Run]:
    """The same runs, in the one group if it is one."""
    return [replace(run, node_group=labels[0]) for run in runs] if len(labels) == 1 else runs


def _check(
    reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees, edits: list[Edit], added: Sequence[str],
    idle: Collection[str], counts: Mapping[str, int],
) -> None:  # fmt: skip
    """The edited text must say exactly this Assignment with these degrees, and everything else as before."""
    source = reading.source.edited(edits)
    try:
        after = plain(source.root)
        again = read_with(reading.document.compose(source), problem.cluster, "placement", hints=False).problem
    except UnusableInput as broken:
        raise _refused("", f"with it, {broken}") from None
    before, plainly = set(problem.job.own), plain(reading.source.root)
    for name in degrees.keys() - problem.job.tied.keys():
        restored(after, plainly, name)
    without_groups(after, plainly, added)
    without_counts(after, plainly, counts)
    if _without(after, before | set(added)) != _without(plainly, before):
        raise _refused("", "another value of it would change")
    found = {component.name: component for component in again.components} if again else {}
    for name, runs in assignment.runs.items():
        if name in idle:
            continue
        its = found[name].runs if name in found else None
        drops_groups = problem.job.capabilities.packs and name in added
        if its is not None and drops_groups:
            its, runs = _relabelled(its, (CLUSTER_LABEL,)), _relabelled(runs, (CLUSTER_LABEL,))
        if its is None or list(seats(its)) != list(seats(runs)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")
    hinted = read_with(reading.document.compose(source), problem.cluster, "placement", hints=True).problem if degrees else None
    for component in hinted.components if hinted else ():
        name = component.name
        if name in degrees and component.parallel != problem.divided(name, degrees[name]):
            raise _refused(component.name, f"`{component.name}`, written down and read again, would have {component.parallel}")


def _without(root: object, added: Collection[str]) -> object:
    """The values of a file without the components that were added to `component_placement`, and without maps left empty by that."""
    cluster = root.get("cluster") if isinstance(root, dict) else None
    if isinstance(root, dict) and isinstance(cluster, dict):
        placement = cluster.get("component_placement")
        if isinstance(placement, dict):
            for names in list(placement):
                others = [each for each in names.split(",") if each.strip() not in added] if isinstance(names, str) else [names]
                value = placement.pop(names)
                placement.update(dict.fromkeys(others, value))
        if not placement:
            cluster.pop("component_placement", None)
        if not cluster:
            root.pop("cluster")
    return root


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
