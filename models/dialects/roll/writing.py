"""Writer of answers: a `device_mapping` per role left to hints; all else stays."""

from __future__ import annotations

from dataclasses import replace

from ...component import Component, Parallel
from ...findings.finding import UnusableInput, error
from ...findings.span import Edit
from ...machines.node_group import ACCELERATOR
from ...placements.assignment import Assignment, seats
from ...problem import Problem
from ...reading import Reading
from ...text.edit import in_flow_map, line_end, point, with_entry
from ...text.tree import MapNode, Scalar, find, plain
from ..dialect import Degrees
from .ids import Ids, text_of
from .names import DEGREE_KEYS, DEVICES, PER_WORKER, STRATEGY, VLLM, WORLD_SIZE
from .planning import degree_numbers
from .reader import tried

Lines = dict[str, str]
"""Key -> value, as text that needs no quotes outside braces."""


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])


def write(reading: Reading, assignment: Assignment, degrees: Degrees) -> list[Edit]:
    """Return the edits that give open roles their devices or workers; raises UnusableInput (PW603)."""
    if reading.problem is None:
        raise _refused("", "the file states no problem")
    writer = _AnswerWriter(reading, reading.problem, assignment, degrees)
    edits = writer.edits()
    writer.check(edits)
    return edits


class _AnswerWriter:
    def __init__(self, reading: Reading, problem: Problem, assignment: Assignment, degrees: Degrees) -> None:
        self.reading, self.problem, self.assignment, self.degrees = reading, problem, assignment, degrees
        self.source = reading.source

    def edits(self) -> list[Edit]:
        edits, new = list[Edit](), dict[str, Lines]()
        for component in self.problem.hinted:
            name, lines = component.name, self._lines(component)
            owner = find(self.source.root, name)
            if isinstance(owner, MapNode) and owner.entries:
                edits += self._instead(owner, lines)
                edits += [self._into(name, owner, lines)] if lines else []
            elif lines and owner is None:
                new[name] = lines
            elif lines:
                raise _refused(name, f"`{name}` is written elsewhere, through an interpolation")
        if new:
            edits.append(self._new_blocks(new))
        for name, parallel in self.degrees.items():
            edits += self._degrees(name, parallel) if name not in self.problem.job.planning.tied else []
        return edits

    def _lines(self, component: Component) -> Lines:
        """Return the keys and values to write for a role."""
        name, runs, problem = component.name, self.assignment.of(component.name), self.problem
        if problem.kind(component) != ACCELERATOR:
            return {WORLD_SIZE: str(max((run.ranks.stop for run in runs), default=0))}
        first = problem.cluster.numbering(component.node_groups).first
        ids, own = (
            [first[node] + index for _, process_seats in seats(role_runs) for (node, index), _, _ in process_seats]
            for role_runs in (runs, problem.job.planning.own.get(name, ()))
        )
        is_kept = ids == own and find(self.source.root, f"{name}.{DEVICES}") is not None
        lines = {} if is_kept else {DEVICES: text_of(Ids.of(range(id_, id_ + 1) for id_ in ids))}
        # With shapes, the degrees imply the size of a worker.
        if component.per_process > 1 and name not in problem.job.planning.shapes:
            root = self.reading.document.root
            strategy = find(root, f"{name}.{STRATEGY}.strategy_name")
            if find(root, f"{name}.{PER_WORKER}") is None and (strategy is None or plain(strategy) != VLLM):
                lines[PER_WORKER] = str(component.per_process)
        return lines

    def _instead(self, owner: MapNode, lines: Lines) -> list[Edit]:
        """Return the edits of existing keys, and remove the keys from the lines."""
        edits = []
        for key in [key for key in lines if owner.entry(key) is not None]:
            here, value = owner.get(key), lines.pop(key)
            if not isinstance(here, Scalar) or here.origin is not None:
                raise _refused(key, f"`{key}` is no text that could be replaced")
            if self.source.text[here.span.start : here.span.end] != value:
                edits.append(Edit(here.span, in_flow_map(value) if owner.flow else value))
        return edits

    def _into(self, name: str, owner: MapNode, lines: Lines) -> Edit:
        """Return the edit to add the lines at the end of an existing block."""
        quoted = {key: f'"{value}"' if owner.flow and key == DEVICES else value for key, value in lines.items()}
        insertions = [with_entry(self.source.text, owner, key, value) for key, value in quoted.items()]
        edits = [edit for edit in insertions if edit is not None]
        if len(edits) < len(quoted):
            raise _refused(name, f"`{name}` has no place for {', '.join(f'`{key}`' for key in quoted)}")
        return Edit(edits[0].span, "".join(edit.text for edit in edits))

    def _new_blocks(self, blocks: dict[str, Lines]) -> Edit:
        """Return the edit to add missing blocks at the end of the file."""
        source, end, first = self.source, line_end(self.source), next(iter(blocks))
        if source.root.flow or any("." in name for name in blocks):
            raise _refused(first, f"it has no block `{first}`")
        text = "" if source.text.endswith(("\n", "\r")) else end
        for name, lines in blocks.items():
            text += f"{name}:{end}" + "".join(f"  {key}: {value}{end}" for key, value in lines.items())
        return Edit(point(source, len(source.text)), text)

    def _degrees(self, role: str, parallel: Parallel) -> list[Edit]:
        """Return the edits that write chosen degrees into the strategy of a role."""
        root, values = self.source.root, degree_numbers(self.source.root, role, parallel)
        if values is None:
            raise _refused(role, f"the strategy of `{role}` has no keys for {parallel}")
        edits, added = [], dict[str, Lines]()
        for key, value in values.items():
            here = find(root, f"{role}.{key}")
            if here is None:
                owner, _, last = f"{role}.{key}".rpartition(".")
                added.setdefault(owner, {})[last] = str(value)
            elif not isinstance(here, Scalar):
                raise _refused(role, f"`{role}.{key}` is no number")
            elif here.value != value:
                edits.append(Edit(here.span, str(value)))
        return edits + [self._into_map(role, path, lines) for path, lines in added.items()]

    def _into_map(self, role: str, path: str, lines: Lines) -> Edit:
        """Return the edit to add numbers to a map, or to add the map."""
        owner, flow = find(self.source.root, path), "{" + ", ".join(f"{key}: {value}" for key, value in lines.items()) + "}"
        if owner is None:
            path, _, last = path.rpartition(".")
            owner, lines = find(self.source.root, path), {last: flow}
        elif isinstance(owner, MapNode) and not owner.entries and self.source.text[owner.span.start : owner.span.end] == "{}":
            return Edit(owner.span, flow)
        if not isinstance(owner, MapNode):
            raise _refused(role, f"`{path}` has no place for its degrees")
        return self._into(role, owner, lines)

    def check(self, edits: list[Edit]) -> None:
        """Refuse edits that change anything but the open roles, or misstate the Assignment or degrees."""
        problem, degrees, before, source = self.problem, self.degrees, self.reading.document, self.source.edited(edits)
        try:
            after = plain(source.root)
            document = replace(before.compose(source), release=before.release)
            again = tried(document, problem.cluster, "placement", hints=False).problem
        except UnusableInput as broken:
            raise _refused("", f"with it, {broken}") from None
        open_ = {component.name for component in problem.hinted}
        if _without(after, open_, degrees) != _without(plain(self.source.root), open_, degrees):
            raise _refused("", "another value of it would change")
        components = {component.name: component for component in again.components} if again else {}
        for name, runs in self.assignment.runs.items():
            component = components.get(name)
            shape = problem.job.planning.shapes.get(name, {}).get(degrees[name]) if name in degrees else None
            stated = shape.parallel if shape is not None else degrees.get(name) if name in problem.job.planning.tied else None
            # No key states data parallel ranks; they follow from the devices.
            if stated is not None and component and replace(component.parallel, dp=1) != replace(stated, dp=1):
                raise _refused(name, f"with it, `{name}` would have {component.parallel}")
            if name not in open_ and problem.kind(problem[name]) != ACCELERATOR:
                continue  # its nodes follow from the other roles
            if component is None or component.runs is None or list(seats(component.runs)) != list(seats(runs)):
                raise _refused(name, f"the place of `{name}`, written down and read again, is another one")


def _without(root: object, open_: set[str], degrees: Degrees) -> object:
    """Remove the written keys of open roles from the values, and the blocks left empty."""
    for name in degrees:
        for path in sorted({PER_WORKER, *(key for keys in DEGREE_KEYS.values() for key in keys.values())}):
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
