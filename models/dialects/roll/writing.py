"""An answer into the file: a `device_mapping` for every role that was left to hints, every other byte unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...component import Component, Parallel
from ...findings.finding import UnusableInput, error
from ...findings.span import Edit
from ...machines.node_group import ACCELERATOR
from ...placements.assignment import Assignment, seats
from ...placements.run import Run
from ...problem import Problem
from ...reading import Reading
from ...text.edit import in_flow_map, line_end, point, with_entry
from ...text.source import Source
from ...text.tree import MapNode, Scalar, find, plain
from ..dialect import Degrees
from .ids import Ids, text_of
from .names import DEVICES, PER_WORKER, STRATEGY, WORLD_SIZE
from .planning import KEYS, numbers
from .reader import tried
from .strategies import VLLM

Lines = dict[str, str]
"""Key -> its value, as text that needs no quotes outside of braces."""


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])


def write(reading: Reading, assignment: Assignment, degrees: Degrees) -> list[Edit]:
    """The edits that give every role that was left open its devices, or the number of its workers where it has none.

    Raises UnusableInput (PW603) where the text, read back, would not give the same Assignment.
    """
    problem = reading.problem
    if problem is None:
        raise _refused("", "the file states no problem")
    source, edits, new = reading.source, list[Edit](), dict[str, Lines]()
    for component in problem.hinted:
        name, lines = component.name, _lines(problem, component, assignment.of(component.name), reading)
        owner = find(source.root, name)
        if isinstance(owner, MapNode) and owner.entries:
            edits += _instead(source, owner, lines)
            edits += [_into(source, name, owner, lines)] if lines else []
        elif lines and owner is None:
            new[name] = lines
        elif lines:
            raise _refused(name, f"`{name}` is written elsewhere, through an interpolation")
    if new:
        edits.append(_new_blocks(source, new))
    for name, parallel in degrees.items():
        edits += _degrees(source, name, parallel) if name not in problem.job.planning.tied else []
    _check(reading, problem, assignment, degrees, edits)
    return edits


def _lines(problem: Problem, component: Component, runs: Sequence[Run], reading: Reading) -> Lines:
    """What is written for one role."""
    name = component.name
    if problem.kind(component) != ACCELERATOR:
        return {WORLD_SIZE: str(max((run.ranks.stop for run in runs), default=0))}
    first = problem.cluster.numbering(component.node_groups).first
    ids, own = (
        [first[node] + index for _, its in seats(each) for (node, index), _, _ in its]
        for each in (runs, problem.job.planning.own.get(name, ()))
    )
    is_kept = ids == own and find(reading.source.root, f"{name}.{DEVICES}") is not None
    lines = {} if is_kept else {DEVICES: text_of(Ids.of(range(each, each + 1) for each in ids))}
    if component.per_process > 1 and name not in problem.job.planning.shapes:  # else the size of a worker stands beside its degrees
        root = reading.document.root
        strategy = find(root, f"{name}.{STRATEGY}.strategy_name")
        if find(root, f"{name}.{PER_WORKER}") is None and (strategy is None or plain(strategy) != VLLM):
            lines[PER_WORKER] = str(component.per_process)
    return lines


def _instead(source: Source, owner: MapNode, lines: Lines) -> list[Edit]:
    """The edits of keys that are there already; they are taken from the lines."""
    edits = []
    for key in [key for key in lines if owner.entry(key) is not None]:
        here, value = owner.get(key), lines.pop(key)
        if not isinstance(here, Scalar) or here.origin is not None:
            raise _refused(key, f"`{key}` is no text that could be replaced")
        if source.text[here.span.start : here.span.end] != value:
            edits.append(Edit(here.span, in_flow_map(value) if owner.flow else value))
    return edits


def _into(source: Source, name: str, owner: MapNode, lines: Lines) -> Edit:
    """The lines at the end of a block that is there."""
    said = {key: f'"{value}"' if owner.flow and key == DEVICES else value for key, value in lines.items()}
    found = [with_entry(source.text, owner, key, value) for key, value in said.items()]
    edits = [edit for edit in found if edit is not None]
    if len(edits) < len(said):
        raise _refused(name, f"`{name}` has no place for {', '.join(f'`{key}`' for key in said)}")
    return Edit(edits[0].span, "".join(edit.text for edit in edits))


def _new_blocks(source: Source, blocks: dict[str, Lines]) -> Edit:
    """Blocks that the file does not have, at its end."""
    end, first = line_end(source), next(iter(blocks))
    if source.root.flow or any("." in name for name in blocks):
        raise _refused(first, f"it has no block `{first}`")
    text = "" if source.text.endswith(("\n", "\r")) else end
    for name, lines in blocks.items():
        text += f"{name}:{end}" + "".join(f"  {key}: {value}{end}" for key, value in lines.items())
    return Edit(point(source, len(source.text)), text)


# Degrees that were chosen, into the strategy of their role.


def _degrees(source: Source, role: str, parallel: Parallel) -> list[Edit]:
    """The edits that give a role these degrees. Raises UnusableInput (PW603) where its keys stand elsewhere."""
    values = numbers(source.root, role, parallel)
    if values is None:
        raise _refused(role, f"the strategy of `{role}` has no keys for {parallel}")
    edits, added = [], dict[str, Lines]()
    for key, value in values.items():
        here = find(source.root, f"{role}.{key}")
        if here is None:
            owner, _, last = f"{role}.{key}".rpartition(".")
            added.setdefault(owner, {})[last] = str(value)
        elif not isinstance(here, Scalar):
            raise _refused(role, f"`{role}.{key}` is no number")
        elif here.value != value:
            edits.append(Edit(here.span, str(value)))
    return edits + [_into_map(source, role, path, lines) for path, lines in added.items()]


def _into_map(source: Source, role: str, path: str, lines: Lines) -> Edit:
    """The numbers at the end of a map; a map of them where there is none."""
    owner, flow = find(source.root, path), "{" + ", ".join(f"{key}: {value}" for key, value in lines.items()) + "}"
    if owner is None:
        path, _, last = path.rpartition(".")
        owner, lines = find(source.root, path), {last: flow}
    elif isinstance(owner, MapNode) and not owner.entries and source.text[owner.span.start : owner.span.end] == "{}":
        return Edit(owner.span, flow)
    if not isinstance(owner, MapNode):
        raise _refused(role, f"`{path}` has no place for its degrees")
    return _into(source, role, owner, lines)


# What is written is read again.


def _check(reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees, edits: list[Edit]) -> None:
    """The edited text must say this Assignment of all that was open or has devices, with these degrees, and everything else as before."""
    source = reading.source.edited(edits)
    try:
        after = plain(source.root)
        document = replace(reading.document.compose(source), release=reading.document.release)
        again = tried(document, problem.cluster, "placement", hints=False).problem
    except UnusableInput as broken:
        raise _refused("", f"with it, {broken}") from None
    open_ = {component.name for component in problem.hinted}
    if _without(after, open_, degrees) != _without(plain(reading.source.root), open_, degrees):
        raise _refused("", "another value of it would change")
    found = {component.name: component for component in again.components} if again else {}
    for name, runs in assignment.runs.items():
        its = found[name].runs if name in found else None
        shape = problem.job.planning.shapes.get(name, {}).get(degrees[name]) if name in degrees else None
        said = shape.parallel if shape is not None else degrees.get(name) if name in problem.job.planning.tied else None
        # Data parallel ranks are as many as there are devices: no key says them.
        if said is not None and name in found and replace(found[name].parallel, dp=1) != replace(said, dp=1):
            raise _refused(name, f"with it, `{name}` would have {found[name].parallel}")
        if name not in open_ and problem.kind(problem[name]) != ACCELERATOR:
            continue  # on which of the reserved nodes it is follows from the others
        if its is None or list(seats(its)) != list(seats(runs)):
            raise _refused(name, f"the place of `{name}`, written down and read again, is another one")


def _without(root: object, open_: set[str], degrees: Degrees) -> object:
    """The values of a file without what was added to the open roles or changed of them, and without blocks left empty by that."""
    for name in degrees:
        for path in sorted({PER_WORKER, *(key for keys in KEYS.values() for key in keys.values())}):
            _drop(root, [*name.split("."), *path.split(".")])
    for name in open_:
        for key in (DEVICES, PER_WORKER, WORLD_SIZE):
            _drop(root, [*name.split(".", 1), key])
    return root


def _drop(owner: object, path: list[str]) -> None:
    if isinstance(owner, dict):
        if len(path) > 1:
            _drop(owner.get(path[0]), path[1:])
        if len(path) == 1 or owner.get(path[0]) == {}:
            owner.pop(path[0], None)
