"""Rule PW401: amounts dealt out to processes come out even."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator

from ....models.findings.finding import Finding, error, warning
from ....models.findings.span import Edit
from ....models.findings.wording import are, plural
from ....models.job import Share
from ....models.placements.assignment import Assignment
from ....models.problem import ConflictClause, Demand, Problem

if TYPE_CHECKING:
    from ...model.variables import Variables


class EvenShares:
    """Every process of a component gets an equal share of a dealt amount.
    Each share is a multiple of the required number.

    Source: RLinf, rlinf/config.py (validate_embodied_cfg), rlinf/scheduler/worker/routing.py,
    rlinf/workers/env/env_worker.py.
    """

    code: ClassVar[str] = "PW401"

    def subjects(self, problem: Problem) -> Iterable[Share]:
        return problem.shares

    def encode(self, problem: Problem, share: Share, variables: Variables) -> None:
        component = problem[share.component]
        if component.runs is not None and not share.proved:
            return
        processes = variables.processes(component)
        most = processes if isinstance(processes, int) else min(share.amount // share.multiple, problem.room_for(component))
        variables.among(processes, [count for count in range(1, most + 1) if share.divides(count)])

    def check(self, problem: Problem, share: Share, assignment: Assignment) -> Iterator[Finding]:
        component, processes = problem[share.component], assignment.world_size(share.component)
        share_size, remainder = divmod(share.amount, processes) if processes else (0, share.amount)
        if share_size and not remainder and share_size % share.multiple == 0:
            return
        of_whom = f"the {processes} {plural('process', processes)} of {component.name}"
        divisor = [f"each share must be a multiple of {share.multiple_text}"] if share.multiple > 1 and share_size else []
        if share_size and not remainder:
            message = f"{share.amount_text} over {of_whom} {are(share.amount)} {share_size} each, no multiple of {share.multiple}"
        elif share_size:
            message = f"{share.amount_text} over {of_whom} leave {remainder} over"
        elif processes:
            message = f"{share.amount_text} {are(share.amount)} fewer than {of_whom}"
        else:
            message = f"{share.amount_text} {'has' if share.amount == 1 else 'have'} no process of {component.name} to go to"
        advice, edit = self._advice(problem, share, assignment)
        report = error if share.proved or component.runs is None else warning
        yield report(
            self.code, component.name, message, share.span, label=f"no multiple of {max(processes, 1) * share.multiple}", help=advice,
            edit=edit, witnesses=(processes, share.amount), amount=share.amount % (max(processes, 1) * share.multiple),
            notes=(*divisor, *([share.reason] if share.reason else [])),
        )  # fmt: skip

    def _advice(self, problem: Problem, share: Share, assignment: Assignment) -> tuple[str, Edit | None]:
        """Return a help text and an edit with the nearest valid amounts.

        The amounts suit all shares of the same amount. The text also has the nearest process
        counts.
        """
        peers = [peer for peer in problem.shares if peer.amount_name == share.amount_name and peer.written == share.written]
        step = lcm(*(peer.step_over(assignment.world_size(peer.component)) for peer in peers))
        lower = share.written // step * step
        amounts = [amount for amount in (lower, lower + step) if amount]
        siblings = [peer for peer in problem.shares if peer.component == share.component]
        processes = assignment.world_size(share.component)
        below = next((count for count in range(processes - 1, 0, -1) if all(peer.divides(count) for peer in siblings)), None)
        most = max(problem.cluster.total(problem.kind(problem[share.component])), processes)
        above = next((count for count in range(processes + 1, most + 1) if all(peer.divides(count) for peer in siblings)), None)
        counts = [count for count in (below, above) if count]
        text = f"set `{share.amount_name}` to {' or '.join(map(str, amounts))}"
        if counts:
            text += f", or give {share.component} {' or '.join(map(str, counts))} {plural('process', counts[-1])}"
        nearest = min(amounts, key=lambda amount: abs(amount - share.written))
        return text, Edit(share.span, str(nearest)) if share.span else None

    def explain(self, problem: Problem, share: Share) -> ConflictClause:
        multiple = f" in multiples of {share.multiple}" if share.multiple > 1 else ""
        text = f"{share.amount_text} ({share.amount_name}) {are(share.amount)} dealt out evenly to the processes of {share.component}{multiple}"
        return ConflictClause(text, (Demand(share.component, share.field, share.span),))
