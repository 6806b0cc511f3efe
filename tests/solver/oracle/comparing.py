"""The product's answer to a native file beside that of the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import placewright as pw
from placewright.models.findings.finding import UnusableInput

from .price import Tier
from .tried import TooMany, best_of, judged, weighed
from .words import Job, read

HINTS = {"PW101", "PW104", "PW105", "PW112", "PW121", "PW127"}

DEALT = "processes on the fullest nodes"
"""Not printed of components that are dealt to nodes evenly, without a search."""


@dataclass(frozen=True)
class Compared:
    """What came of one file: `said` is the verdict of both, or why it was not compared; `wrong` is what they disagree about."""

    said: str
    wrong: str = ""
    terms: tuple[Tier, ...] = ()


def compare(text: str, folder: Path) -> Compared:
    """Solves a file and compares."""
    path = folder / "job.yaml"
    path.write_text(text)
    job = read(text)
    try:
        answer = pw.solve(path, sandbox=False)
    except UnusableInput as refusal:
        codes = {finding.code for finding in refusal.findings if finding.severity.name == "ERROR"}
        if codes & HINTS:
            return Compared("hints contradict: " + " ".join(sorted(codes & HINTS)))
        verdict, said = "impossible", "refused at once: " + " ".join(sorted(codes))
    else:
        verdict = said = answer.verdict
        if answer.verdict not in ("optimal", "impossible", "verified"):
            return Compared(" ".join([answer.verdict, *sorted({finding.code for finding in answer.findings})]))
        if any(finding.code == "PW604" for finding in answer.findings):
            return Compared("not searched")
    try:
        best = best_of(job)
    except TooMany:
        return Compared("too many")
    if verdict == "impossible":
        return Compared(said, f"feasible: {best.found}" if best.found is not None else "")
    assert answer.plan is not None
    return _of_plan(job, answer, best.found)


def _of_plan(job: Job, answer: pw.Answer, best: tuple[Tier, ...] | None) -> Compared:
    plan = answer.plan
    assert plan is not None
    for chosen in job.with_degrees():
        degrees = {name: {"tp": d.tp, "pp": d.pp, "cp": d.cp, "ep": d.ep, "dp": d.dp} for name, d in plan.degrees.items()}
        if all(wish.degree(key) == size for wish in chosen.wishes if wish.name in degrees for key, size in degrees[wish.name].items()):
            break
    bits = {(seat.kind, seat.node, seat.index): bit for bit, seat in enumerate(job.cluster.seats)}
    places = {}
    for wish in chosen.wishes:
        its = plan.placements(wish.name)
        places[wish.name] = [(p.node_rank, tuple(bits[wish.kind, p.node_rank, index] for index in p.local_hardware_ranks)) for p in its]
    wrong, terms = judged(chosen, places)
    if wrong:
        return Compared(answer.verdict, f"the plan is refused by {sorted(wrong)}: {places}", terms)
    if best is None:
        return Compared(answer.verdict, f"impossible, but {places} was not found", terms)
    theirs = [(term.name, term.value) for term in plan.terms if term.value and term.name != DEALT]
    ours = [(name, value) for tier in terms for name, value, _ in tier if value and name != DEALT]
    if answer.verdict == "optimal" and theirs != ours:
        return Compared(answer.verdict, f"terms of {places}:\n  product {theirs}\n  oracle  {ours}", terms)
    if answer.verdict == "optimal" and weighed(terms) != weighed(best):
        return Compared(answer.verdict, f"best is {best}, not {terms}", terms)
    return Compared(answer.verdict, "", terms)
