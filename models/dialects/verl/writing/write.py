"""An answer into a verl file: how many nodes a pool has, and how many accelerators on each.

verl names no node, so an answer can be written where the pools, laid out again, lie where the answer says.
"""

from __future__ import annotations

from ....configuration.notes import Notes
from ....findings.finding import UnusableInput, error
from ....findings.span import Edit, apply_edits
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Assignment, seats
from ....pools.pool import Pool
from ....reading import Reading
from ....text.interpolation import Interpolator
from ....text.reshape import with_entry
from ....text.source import Source
from ....text.splice import at_line_end, line_end
from ....text.tree import Mapping, Scalar, find
from ..configuration import Configuration
from ..hinted import is_open
from ..read import FRAMEWORK, declared_in, read


def write(reading: Reading, assignment: Assignment) -> list[Edit]:
    """The edits of the keys that say how large the open pools are.

    Raises UnusableInput (PW603) where verl cannot say the answer: parts of different sizes, or other nodes than it would take.
    """
    if reading.document.program is not None:
        raise _refused("", "the file is a command line; add what the plan says to it")
    notes = Notes(reading.document, FRAMEWORK)
    _, settings, declared = declared_in(notes, Interpolator.of(reading.document))
    edits = [edit for pool in declared.pools if is_open(settings, pool) for edit in _edits(reading, settings, pool, assignment)]
    _check(reading, assignment, edits)
    return edits


def _edits(reading: Reading, settings: Configuration, pool: Pool, assignment: Assignment) -> list[Edit]:
    name = pool.components[0]
    counts = [mask.bit_count() for (_, kind), mask in assignment.masks(name).items() if kind == ACCELERATOR]
    if len(set(counts)) != 1:
        raise _refused(name, f"the parts of `{pool.name}` would differ ({', '.join(map(str, counts[:8]))} accelerators on its nodes)")
    found = []
    for key, value in ((pool.nodes_key, len(counts)), (pool.accelerators_key, counts[0])):
        edit = _edit(reading, settings, key, value)
        if edit is not None:
            found.append(edit)
    return found


def _edit(reading: Reading, settings: Configuration, key: str, value: int) -> Edit | None:
    source = reading.source
    here = settings.at(key)
    if isinstance(here, Scalar) and here.span.file == source.name:
        if here.value == value:
            return None
        if here.origin is None:
            return Edit(here.span, str(value))
        raise _refused(key, f"`{key}` is written through an interpolation")
    *path, last = key.split(".")
    owner = find(source.root, ".".join(path))
    if isinstance(owner, Mapping) and owner.entries:
        edit = with_entry(source.text, owner, last, str(value))
        if edit is not None:
            return edit
        raise _refused(key, f"`{key}` has no place in its section")
    if owner is not None or len(path) > 1 or source.root.flow:
        raise _refused(key, f"`{'.'.join(path)}` is no section that could be added to")
    return at_line_end(source, len(source.text), f"{line_end(source)}{path[0]}: {{{last}: {value}}}")


def _check(reading: Reading, assignment: Assignment, edits: list[Edit]) -> None:
    """The edited text must say exactly this Assignment, of the same cluster."""
    problem, source = reading.problem, Source(reading.source.name, apply_edits(reading.source.text, edits))
    again = read(reading.document.compose(source), problem.cluster if problem else None).problem
    found = {component.name: component.runs or () for component in again.components} if again else {}
    for name, runs in assignment.runs.items():
        if list(seats(found.get(name, ()))) != list(seats(runs)):
            raise _refused(name, f"verl names no nodes, and would place `{name}` elsewhere")


def _refused(name: str, why: str) -> UnusableInput:
    return UnusableInput([error("PW603", name, f"the answer cannot be written into this file: {why}", help="use the plan itself")])
