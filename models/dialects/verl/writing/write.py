"""An answer into a verl file: how many nodes a pool has, and how many accelerators on each.

verl names no node, so an answer can be written where the pools, laid out again, lie where the answer says.
"""

from __future__ import annotations

from math import gcd

from ....configuration.notes import Notes
from ....findings.finding import Severity, UnusableInput
from ....findings.span import Edit, Span
from ....machines.node_group import ACCELERATOR
from ....placements.assignment import Assignment, seats
from ....pools.pool import Pool
from ....reading import Reading
from ....text.interpolation import Interpolator
from ....text.tree import Scalar
from ...dialect import TRAINING, Degrees
from ..configuration import Configuration
from ..hinted import is_open, says_degrees
from ..planning.degrees import amounts_of, changed, numbers
from ..reader import FRAMEWORK, declared_in, read
from .entries import added, instead, refused
from .tried import Choice, fewest_doubts

MOST_TRIED = 64
"""Combinations of sizes that are tried until one is laid out as the answer says."""
SERVERS = "PW214"
"""What is said of replicas whose servers would take accelerators of others."""


def write(reading: Reading, assignment: Assignment, degrees: Degrees) -> list[Edit]:
    """The edits of the keys that say how large the open pools are, and of those of the degrees that were chosen.

    Raises UnusableInput (PW603) where verl cannot say the answer: in parts of one size it would take other nodes.
    """
    notes = Notes(reading.document, FRAMEWORK)
    planned = reading.problem is not None and reading.problem.job.laying is not None
    entry, settings, declared = declared_in(notes, Interpolator.of(reading.document), None, planned)
    chosen, through = dict[str, int](), dict[str, int]()
    for name, parallel in degrees.items():
        # What nobody opened follows from other numbers, and stays as it is written.
        if (reading.problem is None or name not in reading.problem.job.tied) and says_degrees(settings, name):
            amounts = amounts_of(settings, entry, declared, name)
            chosen |= {amounts[degree].name: value for degree, value in changed(amounts, parallel).items()}
            followed = {degree: its for degree, its in amounts.items() if its.scalar is not None and its.scalar.origin is not None}
            through |= numbers(followed, parallel)
    kept = {key: value for key, value in chosen.items() if key not in through}
    open_ = [pool for pool in declared.pools if is_open(settings, pool)]
    # What refers to a degree says it as before where that is right; a number stands there only where it is not.
    instead_of: tuple[dict[str, int], ...] = ({}, through) if through else ({},)
    sizes, refusals = [_sizes(pool, assignment) for pool in open_], list[UnusableInput]()

    def with_sizes(choice: Choice) -> list[Edit]:
        said = dict(pair for its, number in zip(sizes, choice[1:]) for pair in its[number])
        return _edits(reading, settings, said | kept, instead_of[choice[0]], planned)

    def doubts(choice: Choice) -> int | None:
        try:
            return _doubts(_check(reading, assignment, degrees, with_sizes(choice)))
        except UnusableInput as refusal:
            refusals.append(refusal)
            return None

    right = fewest_doubts([len(instead_of), *map(len, sizes)], doubts, MOST_TRIED)
    if right is not None:
        return with_sizes(right)
    for pool in open_:
        if len(set(counts := _counts(pool, assignment))) > 1:
            told = ", ".join(map(str, counts[:8]))
            raise refused(pool.components[0], f"the parts of `{pool.name}` would differ ({told} accelerators on its nodes)")
    if refusals:
        raise refusals[0]
    return []


def _edits(reading: Reading, settings: Configuration, said: dict[str, int], alone: dict[str, int], planned: bool) -> list[Edit]:
    """Those that give the keys these numbers, those of `alone` instead of an interpolation; of a plan what another text says stays there."""
    edits, missing = list[Edit](), dict[str, int]()
    for key, value in (said | alone).items():
        here = settings.at(key)
        if isinstance(here, Scalar) and here.span.file == reading.source.name:
            edits += [Edit(here.span, str(value))] if key in alone else instead(key, here, value)
        elif not planned or not isinstance(here, Scalar) or here.value != value:
            missing[key] = value
    if reading.document.program is not None:
        return edits + _at_command_end(reading, [f"{key}={value}" for key, value in missing.items()])
    return edits + added(reading.source, missing)


def _sizes(pool: Pool, assignment: Assignment) -> list[list[tuple[str, int]]]:
    """The keys of the size of a pool with what the answer says, the largest parts first: verl may put several of one pool on a node."""
    counts = _counts(pool, assignment)
    if not counts:
        raise refused(pool.components[0], f"the answer has no place for `{pool.name}`")
    whole = gcd(*counts)
    sizes = [size for size in range(whole, 0, -1) if whole % size == 0]
    return [[(pool.nodes_key, sum(counts) // size), (pool.accelerators_key, size)] for size in sizes]


def _counts(pool: Pool, assignment: Assignment) -> list[int]:
    """How many accelerators it has on each of its nodes."""
    return [mask.bit_count() for (_, kind), mask in assignment.masks(pool.components[0]).items() if kind == ACCELERATOR]


def _at_command_end(reading: Reading, settings: list[str]) -> list[Edit]:
    """The edit that gives a command of a script further settings, a line each where it has several."""
    program = reading.document.program
    if not settings or program is None:
        return []
    if not program.name or program.command is None:
        raise refused("", f"the file is no script that starts a program; add `{' '.join(settings)}` to the settings")
    text, end = reading.source.text, program.command.end
    lines = text[program.command.start : end].split("\n")
    between = " \\\n" + lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())] if len(lines) > 1 else " "
    place = Span(reading.source.name, end, end, text.count("\n", 0, end) + 1, end - text.rfind("\n", 0, end))
    return [Edit(place, "".join(f"{between}{setting}" for setting in settings))]


def _doubts(written: Reading) -> int:
    """How much verl finds wrong as it reads the sizes or trains on them; each server that takes other accelerators than it has counts too.

    In other parts the same accelerators may be right: a server takes as many as the parts of a pool say that a node has, and numbers that
    refer to these keys are others.
    """
    components = written.problem.components if written.problem else ()
    return sum(SERVERS in each.fixes for each in components) + sum(each.severity is Severity.ERROR for each in written.findings)


def _check(reading: Reading, assignment: Assignment, degrees: Degrees, edits: list[Edit]) -> Reading:
    """The edited text must say exactly this Assignment, of the same cluster, with these degrees, and all others as they are; as it is read."""
    problem, source = reading.problem, reading.source.edited(edits)
    written = read(reading.document.compose(source), problem.cluster if problem else None, TRAINING)
    again = written.problem
    found = {component.name: component.runs or () for component in again.components} if again else {}
    for name, runs in assignment.runs.items():
        if list(seats(found.get(name, ()))) != list(seats(runs)):
            raise refused(name, f"verl names no nodes, and would place `{name}` elsewhere")
    before = {component.name: component.parallel for component in problem.components} if problem else {}
    for component in again.components if again else ():
        if component.parallel != {**before, **degrees}.get(component.name, component.parallel):
            raise refused(component.name, f"with it, `{component.name}` would have {component.parallel}")
    return written
