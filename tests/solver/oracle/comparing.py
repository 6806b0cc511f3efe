"""The product's answers to a native file beside those of the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Sequence

import placewright as pw
from placewright.models.dialects import native
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.placements.plan import Plan

from .given import Places, changed, with_places
from .price import Tier
from .tried import TooMany, best_of, judged, weighed
from .words import Job, read

HINTS = {"PW101", "PW104", "PW105", "PW112", "PW121", "PW127"}
"""Codes of hints that cannot be meant: nothing is searched, and nothing is compared."""
DEALT = "processes on the fullest nodes"
"""Not printed of components that are dealt to nodes evenly, without a search."""


class Disagreement(AssertionError):
    """The product and the oracle differ: what about, and in which file."""


@dataclass(frozen=True)
class Solved:
    """A file that was solved by both: the verdict, or why it was not compared; the plan with its job and places."""

    said: str
    job: Job
    plan: Plan | None = None
    places: Places | None = None
    terms: tuple[Tier, ...] = ()
    refused: tuple[str, ...] = ()


def solved(text: str, folder: Path) -> Solved:
    """Solves a file and compares verdict, plan and terms. Raises Disagreement."""
    path = folder / "job.yaml"
    path.write_text(text)
    job = read(text)
    try:
        answer = pw.solve(path, sandbox=False)
        verdict = said = answer.verdict
    except UnusableInput as refusal:
        codes = {finding.code for finding in refusal.findings if finding.severity is Severity.ERROR}
        if codes & HINTS:
            return Solved("hints contradict", job)
        answer, verdict, said = None, "impossible", "refused at once"
    if answer is not None and verdict not in ("optimal", "impossible", "verified"):
        return Solved(" ".join([verdict, *sorted({finding.code for finding in answer.findings})]), job)
    try:
        best = best_of(job)
    except TooMany:
        return Solved("too many", job)
    if verdict == "impossible" or answer is None or answer.plan is None:
        if best.found is not None:
            raise Disagreement(f"{said}, but feasible with {best.found}\n{text}")
        return Solved(said, job, refused=tuple(best.refused))
    chosen, places = placed(job, answer.plan)
    wrong, terms = judged(chosen, places)
    if wrong:
        raise Disagreement(f"the plan is refused by {sorted(wrong)}: {places}\n{text}")
    if best.found is None:
        raise Disagreement(f"the plan was not found: {places}\n{text}")
    if verdict == "optimal":
        _same_terms(answer.plan, terms, best.found, text)
    return Solved(said, chosen, answer.plan, places, terms, tuple(best.refused))


def _same_terms(plan: Plan, terms: Sequence[Tier], best: Sequence[Tier], text: str) -> None:
    theirs = [(term.name, term.value) for term in plan.terms if term.value and term.name != DEALT]
    ours = [(name, value) for tier in terms for name, value, _ in tier if value and name != DEALT]
    if theirs != ours:
        raise Disagreement(f"terms of the plan: product {theirs}, oracle {ours}\n{text}")
    if weighed(terms) != weighed(best):
        raise Disagreement(f"better than {terms} is {best}\n{text}")


def placed(job: Job, plan: Plan) -> tuple[Job, Places]:
    """The job with the degrees of a plan, and where the plan puts everything."""
    bits = {(seat.kind, seat.node, seat.index): bit for bit, seat in enumerate(job.cluster.seats)}
    places = {}
    for wish in job.wishes:
        its = plan.placements(wish.name)
        places[wish.name] = [(p.node_rank, tuple(bits[wish.kind, p.node_rank, index] for index in p.local_hardware_ranks)) for p in its]
    return next(chosen for chosen in job.with_degrees() if _has_degrees(chosen, plan)), places


def _has_degrees(job: Job, plan: Plan) -> bool:
    stated = {name: {"tp": its.tp, "pp": its.pp, "cp": its.cp, "ep": its.ep, "dp": its.dp} for name, its in plan.degrees.items()}
    return all(job[name].degree(degree) == size for name, its in stated.items() for degree, size in its.items())


def written_back(text: str, solution: Solved, folder: Path) -> None:
    """Writes the plan into the file as `solve --write` does; `verify` must accept it. Raises Disagreement."""
    path = folder / "written.yaml"
    path.write_text(text)
    assert solution.plan is not None
    try:
        edits = native.write(pw.load(path), solution.plan.assignment, solution.plan.degrees)
    except UnusableInput as refusal:
        raise Disagreement(f"cannot be written: {refusal.findings}\n{text}") from refusal
    path.write_text(apply_edits(text, edits))
    errors = pw.verify(path).errors
    if errors:
        raise Disagreement(f"verify refuses what solve wrote: {[error.message for error in errors]}\n{path.read_text()}")


def given_somehow(text: str, solution: Solved, random: Random, folder: Path) -> tuple[str, set[str]]:
    """Gives all ranks, some of them wrong: `verify` must refuse what the oracle refuses. Raises Disagreement."""
    assert solution.places is not None
    places = changed(random, solution.job, solution.places)
    whole = with_places(text, solution.job, places, places)
    path = folder / "given.yaml"
    path.write_text(whole)
    errors = pw.verify(path).errors
    if {error.code for error in errors} & HINTS:
        return "hints contradict", set()
    job = read(whole)
    wrong, _ = judged(job, {wish.name: wish.given or () for wish in job.wishes})
    if bool(errors) != bool(wrong):
        raise Disagreement(f"verify says {[(e.code, e.message) for e in errors]}, the oracle {sorted(wrong)}\n{whole}")
    return "refused" if wrong else "accepted", wrong
