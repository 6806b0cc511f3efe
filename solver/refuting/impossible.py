"""The Finding that says why nothing works, and which changes would make it work."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...models.answer import Solve
from ...models.findings.finding import Finding, error
from ...models.problem import AMOUNT, Problem
from ..wording import listed
from .clauses import with_line
from .conflict import COUNTING, Conflict
from .contradicted import contradicted
from .find import find_conflict
from .oracle import Oracle, Verdict
from .rows.census import Census

NO_CHANGE = "no small change was found that helps: loosen several demands, or add nodes"
"""The help where none was found."""


def impossible(alternatives: Sequence[Problem], solve: Solve, proof: str = "") -> Finding:
    """The Finding for a problem of which these alternatives are all, and of which a search found none possible.

    `proof` says how that was proved beside the search, such as by trying all ways. Without that, and without a sum, two searches of one
    model are no proof: the Finding is PW602 then.

    Its message is a sum that a person can check, where there is one; its notes are the fewest demands that cannot hold together,
    its help are changes, the smallest first, each of which was solved.
    """
    without = [replace(problem, caps=()) for problem in alternatives]
    if alternatives[0].caps and Oracle(Census(without[0]), solve).judge(without) is Verdict.POSSIBLE:
        return _limited(alternatives[0])
    return finding_of(find_conflict(alternatives, solve), alternatives, proof)


def anyhow(alternatives: Sequence[Problem], problem: Problem | None = None) -> str:
    """What was open in alternatives that are all impossible, as the end of a message; `problem`: the one that it tells of."""
    said = []
    if len({tuple(each.parallel for each in problem.components) for problem in alternatives}) > 1:
        replicas = [each for each in problem.hinted if each.parallel.replica > 1] if problem else []
        degrees = ", ".join(f"{each.name} {each.parallel}" for each in replicas)
        said = ["whatever the parallel degrees are"]
        if degrees:
            said = [f"with {degrees}; so too with every other choice of parallel degrees"]
    kinds: dict[tuple[str, ...], set[str]] = {}
    for each in (relation for problem in alternatives for relation in problem.job.relations if relation.demanded):
        kinds.setdefault(each.components, set()).add(each.kind)
    shared = [names for names, sides in kinds.items() if len(sides) > 1]
    said += [f"whether or not {listed(names)} share accelerators" for names in shared]
    return f" ({'; '.join(said)})" if said else ""


def _limited(problem: Problem) -> Finding:
    """What to say where nothing but limits on the objective stands in the way."""
    limits = listed([f"`{' + '.join(name for name, _ in cap.terms)}` at most {cap.most}" for cap in problem.caps])
    message = f"impossible: no placement has {limits}; without {'this limit' if len(problem.caps) == 1 else 'these limits'} there is one"
    return error("PW601", "", message, help="write a larger number in `--at-most`, or leave it out to see what can be had")


def finding_of(conflict: Conflict, alternatives: Sequence[Problem] = (), proof: str = "") -> Finding:
    """A conflict as a Finding, which holds for each of these alternatives; `proof` as in `impossible`."""
    row, problem = conflict.row, conflict.problem
    both = contradicted(problem) if row is None else None
    is_proved = bool(proof) or conflict.how == COUNTING or (both is not None and len(alternatives) < 2)
    if not is_proved:
        row = both = None
        message = "undecided: two searches found no placement that satisfies these demands together, which is no proof: they share a model"
    elif both is not None:
        message = both.message
    elif row is not None:
        message = f"impossible: {row}"
    else:
        message = f"impossible: no placement satisfies these demands together ({proof})"
    blamed = both.subject if both else row.components[0].name if row else next((each.component for each in conflict.demands), "")
    subject = problem[blamed.split("+")[0]] if blamed else problem.components[0]
    message += anyhow(alternatives, problem)
    span = both.span if both else row.span if row is not None and row.span else subject.span(AMOUNT)
    notes = (*(with_line(clause, span) for clause in conflict.clauses), *conflict.notes)
    advice = "; or ".join(change.text for change in conflict.fixes)
    return error(
        "PW601" if is_proved else "PW602", subject.name, message, span, notes=notes,
        help=advice or NO_CHANGE,
        witnesses=(row.need, row.have) if row else (), amount=row.need - row.have if row else 0,
        **({"label": both.label, "origin": both.origin, "origin_label": both.origin_label} if both else {}),
    )  # fmt: skip
