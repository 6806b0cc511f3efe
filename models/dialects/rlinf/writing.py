"""Answer written into the user's own file: the fewest edits, every other byte unchanged.

Beside new ranks its hints are edited: node groups that RLinf's own entries cannot say, since it takes ranks as those of the whole
cluster; counts on which costs were measured; degrees that were chosen.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Collection, Iterable, Iterator, Sequence
from typing import Mapping as MappingType

from ...component import Component
from ...findings.finding import UnusableInput, error
from ...findings.span import Edit
from ...hints.block import COMPONENTS, NAME
from ...hints.degrees import KEY as PARALLEL
from ...hints.degrees import degrees_of as degrees_in_hints
from ...hints.said import timed_names
from ...machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ...notation.runs_text import best_text, labels_used
from ...parallel import Parallel
from ...placements.assignment import Assignment, Run, seats
from ...planning.workload import Timed
from ...problem import Problem
from ...reading import Reading
from ...text.reshape import with_entry
from ...text.scalar_text import in_flow_map
from ...text.source import Source
from ...text.tree import Mapping, Scalar, Value, find, plain
from ...times.times_with import times_with
from ..dialect import UNCHANGED, Degrees
from .known import COST, KEY
from .lines import Line, insert_lines, rewrite_lines
from .modes.parts import SECTIONS, extent_of
from .planning.hints import MEASURED_ON
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


def _dropped(problem: Problem, lines: MappingType[str, Line]) -> dict[str, str]:
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
    idle: Collection[str], counts: MappingType[str, int],
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


NODE_GROUP = "node_group"


def groups_of(source: Source, groups: MappingType[str, str]) -> list[Edit]:
    """The edits that name the group of each of these components in its hints, where these say none; none where the block has no place for it.

    So the file says once more which nodes a plan may use, and on how many accelerators its times were measured.
    """
    root = source.root
    block = root.get(NAME)
    inner = block.get(COMPONENTS) if isinstance(block, Mapping) else None
    wanted = {name: label for name, label in groups.items() if not _names_one(inner, name)}
    if not wanted or source.text.lstrip().startswith("{"):
        return []
    entries = {in_flow_map(name): f"{{{NODE_GROUP}: {in_flow_map(label)}}}" for name, label in wanted.items()}
    every = f"{{{', '.join(f'{name}: {text}' for name, text in entries.items())}}}"
    if block is None:
        return _known(with_entry(source.text, root, NAME, f"{{{COMPONENTS}: {every}}}"))
    if isinstance(block, Mapping) and inner is None:
        return _known(with_entry(source.text, block, COMPONENTS, every))
    if not isinstance(inner, Mapping):
        return []
    edits = []
    for name, label in wanted.items():
        mine = inner.get(name)
        if isinstance(mine, Mapping):
            edits += _known(with_entry(source.text, mine, NODE_GROUP, in_flow_map(label)))
        elif mine is None:
            edits += _known(with_entry(source.text, inner, in_flow_map(name), f"{{{NODE_GROUP}: {in_flow_map(label)}}}"))
    return edits


def without_groups(after: object, before: object, names: Iterable[str]) -> None:
    """Takes the groups of these components out of plain values where they were not there `before`, and maps that are left empty by that."""
    mine, was = _inner(after), _inner(before) or {}
    if not isinstance(after, dict) or mine is None:
        return
    for name in names:
        its, theirs = mine.get(name), was.get(name)
        if isinstance(its, dict) and not (isinstance(theirs, dict) and NODE_GROUP in theirs):
            its.pop(NODE_GROUP, None)
            if not its and name not in was:
                del mine[name]
    block, known = after[NAME], before.get(NAME) if isinstance(before, dict) else None
    if not mine and not (isinstance(known, dict) and COMPONENTS in known):
        del block[COMPONENTS]
    if not block and known is None:
        del after[NAME]


def _inner(root: object) -> dict[str, object] | None:
    block = root.get(NAME) if isinstance(root, dict) else None
    inner = block.get(COMPONENTS) if isinstance(block, dict) else None
    return inner if isinstance(inner, dict) else None


def _names_one(inner: object, name: str) -> bool:
    mine = inner.get(name) if isinstance(inner, Mapping) else None
    return isinstance(mine, Mapping) and mine.get(NODE_GROUP) is not None


def _known(edit: Edit | None) -> list[Edit]:
    return [edit] if edit is not None else []


def counts_to_say(source: Source, before: Problem, after: Problem, degrees: MappingType[str, Parallel]) -> dict[str, int]:
    """Component with a cost -> on how many accelerators that was measured, of those whose times are others in the second problem.

    `degrees` are those that were chosen.
    """
    costs, hinted = source.root.get(KEY), timed_names(source.root.get(NAME))
    now, found = times_with(after.job, degrees), dict[str, int]()
    for name, timed in times_with(before.job, degrees).items():
        has_cost = isinstance(costs, Mapping) and costs.get(f"{name}{COST}") is not None and name not in hinted
        if has_cost and now.get(name) not in (None, timed) and (count := _own_count(timed)):
            found[name] = count
    return found


def _own_count(timed: Timed) -> int:
    """The one count that no formula says the time of; 0 if there is none such."""
    counts = {row.accelerators for row in timed.measured if not row.assumed}
    return counts.pop() if len(counts) == 1 else 0


def measured_on(source: Source, counts: MappingType[str, int]) -> list[Edit]:
    """The edits that say these counts in the hints; none where the file has no place for them. What stands deeper comes first."""
    if not counts:
        return []
    root = source.root
    block = root.get(NAME)
    if block is None:
        return _added(source, root, root, {NAME: {COMPONENTS: _keys(counts)}})
    inner = block.get(COMPONENTS) if isinstance(block, Mapping) else None
    if isinstance(block, Mapping) and inner is None:
        return _added(source, block, root, {COMPONENTS: _keys(counts)})
    return list(_in(source, inner, counts)) if isinstance(inner, Mapping) else []


def _in(source: Source, inner: Mapping, counts: MappingType[str, int]) -> Iterator[Edit]:
    for name in counts:
        its: Value | None = inner.get(name)
        if isinstance(its, Mapping) and its.get(MEASURED_ON) is None:
            yield from _added(source, its, inner, {MEASURED_ON: counts[name]})
    yield from _added(source, inner, inner, {name: its for name, its in _keys(counts).items() if inner.get(name) is None})


def _added(source: Source, mapping: Mapping, around: Mapping, values: MappingType[str, object]) -> list[Edit]:
    """The edits that add these values to a map, written as in the map `around`; an empty one in braces is written anew."""
    if values and mapping.flow and not mapping.entries:
        return [Edit(mapping.span, _text(source.root, dict(values)))]
    edits = (with_entry(source.text, mapping, in_flow_map(key), _text(around, value)) for key, value in values.items())
    return [edit for edit in edits if edit]


def _keys(counts: MappingType[str, int]) -> dict[str, object]:
    return {name: {MEASURED_ON: count} for name, count in counts.items()}


def _text(around: Mapping, value: object) -> str:
    """As a flow map, quoted where the map around it is flow, which may be JSON."""
    if around.flow or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "{" + ", ".join(f"{in_flow_map(key)}: {_text(around, its)}" for key, its in value.items()) + "}"


def _at(root: object, *path: str) -> dict[str, object] | None:
    for name in path:
        root = root.get(name) if isinstance(root, dict) else None
    return root if isinstance(root, dict) else None


def without_counts(after: object, before: object, counts: MappingType[str, int]) -> None:
    """Takes these keys out of plain values, and the maps with them that were not there `before`."""
    inner, before_inner = _at(after, NAME, COMPONENTS), _at(before, NAME, COMPONENTS) or {}
    for name in counts:
        its = inner.get(name) if inner is not None else None
        if isinstance(its, dict) and inner is not None:
            its.pop(MEASURED_ON, None)
            if not its and name not in before_inner:
                del inner[name]
    for path, key in (((NAME,), COMPONENTS), ((), NAME)):
        owner = _at(after, *path)
        if owner is not None and owner.get(key) == {} and key not in (_at(before, *path) or {}):
            del owner[key]


def degrees_of(source: Source, name: str, parallel: Parallel) -> list[Edit]:
    """The edits that give a component these degrees. Raises UnusableInput (PW603) where its keys have no place in the file."""
    hints = find(source.root.get(NAME), COMPONENTS)
    mine = hints.get(name) if isinstance(hints, Mapping) else None
    edits = degrees_in_hints(source, mine, parallel) if isinstance(mine, Mapping) else []
    path, keys = SECTIONS.get(name, ("", {}))
    section = find(source.root, path) if path else None
    added = []
    for degree, key in keys.items() if isinstance(section, Mapping) else ():
        value, here = getattr(parallel, degree), section.get(key) if isinstance(section, Mapping) else None
        if here is not None and not isinstance(here, Scalar):
            raise _refused(name, f"`{path}.{key}` is no number")
        if here is not None and here.value != value:
            edits.append(Edit(here.span, str(value)))
        elif here is None and value > 1 and isinstance(section, Mapping):
            entry = with_entry(source.text, section, key, str(value))
            if entry is None:
                raise _refused(name, f"`{path}` has no place for `{key}`")
            added.append(entry)
    return edits + added


def restored(after: object, before: object, name: str) -> None:
    """Gives plain values the degrees of a component that they had `before`."""
    path, keys = SECTIONS.get(name, ("", {}))
    for owner, key in ((f"{NAME}.{COMPONENTS}.{name}", PARALLEL), *((path, key) for key in keys.values())):
        now, was = _map_at(after, owner), _map_at(before, owner)
        if now is not None and was is not None:
            now.pop(key, None)
            if key in was:
                now[key] = was[key]


def _map_at(root: object, path: str) -> dict[str, object] | None:
    for name in path.split("."):
        root = root.get(name) if isinstance(root, dict) else None
    return root if isinstance(root, dict) else None
