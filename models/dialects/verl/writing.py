"""Writer of answers into verl files: sizes of pools, with missing keys added.

verl names no node, so an answer can be written if the pools, laid out again, lie where the answer
says. There may be many ways to write it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from math import gcd
from typing import Mapping

from ...findings.finding import Severity, UnusableInput
from ...findings.span import Edit, Span
from ...level import TRAINING
from ...machines.node_group import ACCELERATOR
from ...placements.assignment import Assignment, seats
from ...pools import Pool
from ...reading import Reading
from ...text.tree import Scalar
from ..dialect import UNCHANGED, Degrees
from ..written import edits_of, put, refuse_writing
from .configuration import Configuration
from .job import is_open, says_degrees
from .reader import VerlReader, read
from .sizes import find_changes

Numbers = Mapping[str, int]
MOST_TRIED = 256
"""Limit on combinations of sizes for a new layout."""
SERVERS = "PW214"
"""Code of replicas whose servers would take accelerators of others."""


def write(reading: Reading, assignment: Assignment, degrees: Degrees = UNCHANGED) -> list[Edit]:
    """Return the edits of the sizes of open pools and of the chosen degrees.

    Raises UnusableInput (PW603) if verl cannot express the answer: in parts of one size it would
    take other nodes.
    """
    job = reading.problem.job if reading.problem is not None else None
    is_planned = job is not None and job.planning.workload is not None and job.planning.laying is not None
    reader = VerlReader(reading.document, None, TRAINING, open_=is_planned)
    settings = reader.settings
    changes, through = dict[str, int](), dict[str, int]()
    for name, parallel in degrees.items():
        # Degrees that are not open follow from other numbers, and stay as written.
        if (job is None or name not in job.planning.tied) and says_degrees(settings, name):
            amounts = reader.own(name)
            changes |= {amounts[degree].name: value for degree, value in find_changes(amounts, parallel).items()}
            references = {degree: amount for degree, amount in amounts.items() if amount.scalar and amount.scalar.origin is not None}
            through |= {amount.name: int(getattr(parallel, degree)) for degree, amount in references.items()}
    direct = {key: value for key, value in changes.items() if key not in through}
    open_ = [pool for pool in reader.declared.pools if is_open(settings, pool)]
    # An interpolation of a degree stays if its value is right; else a number replaces it.
    instead_of: tuple[dict[str, int], ...] = ({}, through) if through else ({},)
    best, refusals = list[tuple[int, list[Edit]]](), list[UnusableInput]()
    for instead, *sizes in islice(product(instead_of, *(_sizes(pool, assignment) for pool in open_)), MOST_TRIED):
        numbers = {key: value for size in sizes for key, value in size.items()}
        try:
            edits = _edits(reading, settings, numbers | direct, instead, is_planned)
            best.append((_doubts(reading, assignment, degrees, edits), edits))
        except UnusableInput as refusal:
            refusals.append(refusal)
        if best and not best[-1][0]:
            break
    if best:
        return min(best, key=lambda written: written[0])[1]
    for pool in open_:
        if len(set(counts := _counts(pool, assignment))) > 1:
            counts_text = ", ".join(map(str, counts[:8]))
            raise refuse_writing(pool.components[0], f"the parts of `{pool.name}` would differ: {counts_text}")
    raise refusals[0]


def _edits(reading: Reading, settings: Configuration, numbers: Numbers, literals: Numbers, is_planned: bool) -> list[Edit]:
    """Return the edits of numbers; `literals` replace interpolations."""
    edits, missing = list[Edit](), dict[str, int]()
    for key, value in {**numbers, **literals}.items():
        node = settings.at(key)
        if not isinstance(node, Scalar) or node.span.file != reading.source.name:
            if not (is_planned and isinstance(node, Scalar) and node.value == value):
                missing[key] = value
        elif key in literals or node.value != value:
            if key not in literals and node.origin is not None:
                raise refuse_writing(key, f"`{key}` is written through an interpolation")
            edits.append(Edit(node.span, str(value)))
    if reading.document.program is not None:
        return edits + _append_settings(reading, [f"{key}={value}" for key, value in missing.items()])
    return edits + edits_of(reading.source, reading.source.root, put({}, missing))


def _sizes(pool: Pool, assignment: Assignment) -> list[dict[str, int]]:
    """Return the size keys of a pool with their possible values, largest parts first."""
    counts = _counts(pool, assignment)
    if not counts:
        raise refuse_writing(pool.components[0], f"the answer has no place for `{pool.name}`")
    whole = gcd(*counts)
    sizes = [size for size in range(whole, 0, -1) if whole % size == 0]
    return [{pool.nodes_key: sum(counts) // size, pool.accelerators_key: size} for size in sizes]


def _counts(pool: Pool, assignment: Assignment) -> list[int]:
    return [mask.bit_count() for (_, kind), mask in assignment.masks(pool.components[0]).items() if kind == ACCELERATOR]


def _append_settings(reading: Reading, settings: list[str]) -> list[Edit]:
    program = reading.document.program
    if not settings or program is None:
        return []
    if not program.name or program.command is None:
        raise refuse_writing("", "it is no script that starts a program", f"add `{' '.join(settings)}` to the settings of the program")
    text, end = reading.source.text, program.command.end
    lines = text[program.command.start : end].split("\n")
    between = " \\\n" + lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())] if len(lines) > 1 else " "
    place = Span(reading.source.name, end, end, text.count("\n", 0, end) + 1, end - text.rfind("\n", 0, end))
    return [Edit(place, "".join(f"{between}{setting}" for setting in settings))]


def _doubts(reading: Reading, assignment: Assignment, degrees: Degrees, edits: list[Edit]) -> int:
    """Read the edited text; count its errors, and the servers that take accelerators of others.

    Raises UnusableInput for any other Assignment or degrees.
    """
    problem = reading.problem
    document = replace(reading.document.compose(reading.source.edit(edits)), release=reading.document.release)
    new_reading = read(document, problem.cluster if problem else None, TRAINING)
    components = new_reading.problem.components if new_reading.problem else ()
    runs_by_name = {component.name: component.runs or () for component in components}
    for name, runs in assignment.runs.items():
        if list(seats(runs_by_name.get(name, ()))) != list(seats(runs)):
            raise refuse_writing(name, f"verl names no nodes, and would place `{name}` elsewhere")
    before = {component.name: component.parallel for component in problem.components} if problem else {}
    for component in components:
        if component.parallel != {**before, **degrees}.get(component.name, component.parallel):
            raise refuse_writing(component.name, f"with it, `{component.name}` would have {component.parallel}")
    errors = sum(finding.severity is Severity.ERROR for finding in new_reading.findings)
    return errors + sum(SERVERS in component.fixes for component in components)
