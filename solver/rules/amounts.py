"""Rules PW209, PW402, PW208, PW221 and PW401: amounts are placed, divide, and are dealt out evenly."""

from __future__ import annotations

from dataclasses import replace
from math import lcm
from typing import TYPE_CHECKING, ClassVar, Iterable, Iterator, Sequence

from ...models.component import NOT_FEWER, UNBOUNDED, Component, Relation
from ...models.findings.finding import Finding, error, warning
from ...models.findings.span import Edit
from ...models.findings.wording import are, plural
from ...models.job import Share
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.memory.work import fitting, not_whole, whole_groups
from ...models.placements.assignment import Assignment
from ...models.placements.run import Repeat
from ...models.problem import AMOUNT, ConflictClause, Demand, Problem
from ...models.quantity import nearest, write_counts
from ..rule import ComponentRule, RelationRule

if TYPE_CHECKING:
    from ..model.variables import Variables


class AllPlaced(ComponentRule):
    """Every demanded process is placed once, and no further processes are."""

    code: ClassVar[str] = "PW209"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return problem.components

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        bundle = variables.bundle(component)
        amount = variables.accelerators(bundle) if bundle else variables.processes(component)
        variables.require(amount >= component.least)
        variables.require(amount <= component.most)
        if component.counts and component.least < component.most:
            most = amount if isinstance(amount, int) else problem.room_for(component)
            counts = (count for low, high in component.counts for count in range(low, min(high, most) + 1))
            variables.among(amount, counts)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        next_rank = 0
        for start, stop in sorted((ranks.start, ranks.stop) for ranks in _solid(assignment.repeats(component.name))):
            if start > next_rank:
                message = f"ranks {next_rank}-{start - 1} of {component.name} have no place"
                yield self.fault(component, message, AMOUNT, "place every rank", (next_rank,), start - next_rank)
            next_rank = max(next_rank, stop)
        nodes = problem.kind(component) == NODE
        amount = next_rank if nodes else next_rank * component.per_process
        if not component.may_have(amount):
            unit = _unit(problem.kind(component))
            target = nearest(component.counts or ((component.least, component.most),), amount)
            short = target - amount
            message = f"{component.name} asks for {format_demand(component, unit)}, {amount} are placed"
            advice = f"place {target}, or ask for {amount}"
            yield self.fault(component, message, AMOUNT, advice, (amount,), short)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        kind = problem.kind(component)
        have = "" if kind == NODE else f" (the cluster has {problem.cluster.total(kind)})"
        text = f"{component.name} asks for {format_demand(component, _unit(kind))}{have}"
        return self.clause(component, text, AMOUNT)


def _solid(repeats: Sequence[Repeat]) -> Iterator[range]:
    """Yield rank ranges without holes that together cover all ranks."""
    for repeat in repeats:
        yield from [repeat.ranks] if repeat.nodes > 1 else [run.ranks for run in repeat.runs]


def _unit(kind: str) -> str:
    """Return the unit of an amount.

    `accelerator`, `process` on nodes, or hardware such as `Franka`.
    """
    return {NODE: "process", ACCELERATOR: "accelerator"}.get(kind, kind)


def format_demand(component: Component, unit: str) -> str:
    """Return the demanded amount and its unit as text.

    `1 accelerator`, `1-8 accelerators`, `2 or 4 accelerators`, or `at least 1 accelerator`.
    """
    return f"{amount_of(component)} {plural(unit, component.least if component.most >= UNBOUNDED else component.most)}"


def amount_of(component: Component) -> str:
    """Return the demanded amount as text.

    `16`, `8-32`, `2, 4 or 8`, or `at least 8`.
    """
    if component.most >= UNBOUNDED:
        return f"at least {component.least}"
    if component.least == component.most:
        return str(component.least)
    return write_counts(component.counts or ((component.least, component.most),))


class NotFewer(RelationRule):
    """The first component has at least as many processes as the second.

    Source: RLinf, rlinf/workers/env/env_worker.py (decoupled mode).
    """

    code, kind = "PW402", NOT_FEWER

    def encode(self, problem: Problem, relation: Relation, variables: Variables) -> None:
        first, second = (variables.processes(problem[name]) for name in relation.components)
        variables.require(first >= second)

    def check(self, problem: Problem, relation: Relation, assignment: Assignment) -> Iterator[Finding]:
        first, second = relation.components
        few, many = assignment.world_size(first), assignment.world_size(second)
        if few < many:
            message = f"{first} has {few} {plural('process', few)}, fewer than the {many} of {second}"
            help_text = f"give {first} at least {many} {plural('process', many)}, or {second} at most {few}"
            yield self.fault(problem, relation, message, help_text, (few, many), many - few, label="too few")

    def explain(self, problem: Problem, relation: Relation) -> ConflictClause:
        first, second = relation.components
        amount = amount_of(problem[second])
        return self.clause(relation, f"{first} has at least as many processes as {second}, which asks for {amount}")


class Divisibility(ComponentRule):
    """The accelerators of a component divide into replicas, processes and blocks.
    Their number is a multiple of tp x pp x cp (in an engine x dp), of the accelerators per process,
    and of a block of the stride.

    Source: Megatron-LM, core/parallel_state.py, initialize_model_parallel (world size must be
    divisible by tp x pp x cp); RLinf, rlinf/scheduler/placement/placement.py (processes and
    resources are multiples), packed.py (blocks).
    """

    code: ClassVar[str] = "PW208"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.step > 1 and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        if bundle := variables.bundle(component):
            variables.multiple(bundle, component.step)

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        amount = assignment.amount(component.name)
        replica, per_process, block = component.parallel.replica, component.per_process, component.block
        suffix = " x dp" if component.parallel.dp > 1 else ""
        for divisor, label in (
            (replica, f"tp x pp x cp{suffix} = {replica}"),
            (per_process, f"{per_process} accelerators per process"),
            (block, f"blocks of {block}, in which {component.stride} groups interleave"),
        ):
            if amount % divisor:
                message = f"the {amount} {plural('accelerator', amount)} of {component.name} cannot be divided by {label}: {amount % divisor} would be left"
                lower, upper = amount - amount % divisor, amount - amount % divisor + divisor
                exists = upper <= problem.cluster.total(problem.kind(component))
                sizes = [str(size) for size, fits in ((lower, lower > 0), (upper, exists)) if fits]
                edit = component.fix(self.code, "").edit
                place = edit.span if edit else "placement" if component.runs is not None and component.span("placement") else "parallel"
                smaller = [] if exists else [f"parallel sizes that divide {amount}"]
                advice = f"give {component.name} " + " or ".join([f"{' or '.join(sizes)} accelerators"] * bool(sizes) + smaller)
                fault = self.fault(component, message, place, advice, (amount, divisor), amount % divisor)
                yield replace(fault, cause=component.span("parallel") if divisor == replica else None)
                return

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        reasons = {}
        if component.parallel.replica > 1:
            reasons["parallel"] = str(component.parallel)
        if component.per_process > 1:
            reasons["per_process"] = f"{component.per_process} a process"
        if component.block > component.group_size:
            reasons["stride"] = f"stride {component.stride}"
        text = f"the accelerators of {component.name} must be a multiple of {component.step} ({', '.join(reasons.values())})"
        return self.clause(component, text, *reasons)


class WholeShardGroups(ComponentRule):
    """The ranks that shard weights in groups are a multiple of `shards`.
    Up to `shards` ranks form a single group.

    The ranks are the accelerators of a component over tp x pp.

    Source: PyTorch, init_device_mesh (a mesh has as many ranks as its sides multiplied).
    """

    code: ClassVar[str] = "PW221"

    def subjects(self, problem: Problem) -> Iterable[Component]:
        return [c for c in problem.components if c.divided_among and problem.kind(c) != NODE]

    def encode(self, problem: Problem, component: Component, variables: Variables) -> None:
        processes, per_process = variables.processes(component), component.per_process
        most = processes if isinstance(processes, int) else problem.cluster.total(problem.kind(component)) // per_process
        shards = component.divided_among
        variables.among(processes, [count for count in range(most + 1) if whole_groups(shards, count * per_process, component.parallel)])

    def check(self, problem: Problem, component: Component, assignment: Assignment) -> Iterator[Finding]:
        shards, parallel = component.divided_among, component.parallel
        ranks = assignment.amount(component.name) // (parallel.tp * parallel.pp)
        remainder = ranks % shards if shards else 0
        if ranks <= shards or not remainder:
            return
        advice = fitting(ranks, shards)
        label = f"{remainder} would be left"
        yield self.fault(component, not_whole(component.name, ranks, shards), "shards", advice, (ranks, shards), remainder, label=label)

    def explain(self, problem: Problem, component: Component) -> ConflictClause:
        shards = component.divided_among
        text = f"the ranks of {component.name} are whole groups of {shards} shards, or no more than these"
        return self.clause(component, text, "amount")


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
        part = share.amount // processes if processes and share.amount % processes == 0 else 0
        demands = sum(share.multiple_name in peer.multiple_name.split(" x ") for peer in problem.shares)
        if demands == 1 and part % share.multiple:  # no other share depends on it
            lower_size = next(size for size in range(share.multiple, 0, -1) if part % size == 0)
            upper_size = next((size for size in range(share.multiple, part + 1) if part % size == 0), None)
            text += f", or set `{share.multiple_name}` to {lower_size}{f' or {upper_size}' if upper_size else ''}"
        nearest = min(amounts, key=lambda amount: abs(amount - share.written))
        return text, Edit(share.span, str(nearest)) if share.span else None

    def explain(self, problem: Problem, share: Share) -> ConflictClause:
        multiple = f" in multiples of {share.multiple}" if share.multiple > 1 else ""
        text = f"{share.amount_text} ({share.amount_name}) {are(share.amount)} dealt out evenly to the processes of {share.component}{multiple}"
        return ConflictClause(text, (Demand(share.component, share.field, share.span),))
