"""CP-SAT search of a choice of degrees: tier by tier, or by patterns."""

from __future__ import annotations

import time
from typing import Mapping, Sequence

from ortools.sat.python import cp_model

from ...models.record import dataclass
from ..bounds.stage import BoundStage, root_seconds
from ..compile import aim, compile
from ..layout.layout import Layout, Values
from ..layout.ranges import has_free_order, is_restricted, refutable
from ..model.engine import Method, Outcome, Status, narrow, run
from ..model.variables import Variables
from ..objectives.tiers import aggregates_of
from ..objectives.traffic import BytesAcross, DomainsTouched
from ..patterns.master import Master, uses_of
from ..structure import level_of
from .merging import Presence, find_domains, merge_receivers
from .progress import silent
from .state import ChoiceState, Search, WrongAnswer

FAR = 0.04
"""Relative gap above which the answer is far from the bound.

There better answers are found faster by neighbourhoods than by a tighter relaxation.
"""
POOR = 0.5
"""Relative gap above which the answer is of little use."""
BY_ITSELF = 4.0
"""Seconds of the first search of a far answer; doubled the next time."""
A_GROWTH = 12
"""Relaxations that must raise the bound for more to follow."""
A_TURN, A_LONG_TURN = 0.15, 0.5
"""Shares of the remaining time for the relaxation per round: while far, and otherwise."""
A_ROOT = 0.25
"""Largest share of the remaining time for the root relaxation; else it is left out."""
A_PART = 0.25
"""Largest share of the remaining time for a search with the indicators of a part."""
SMALL = 300
"""Counts of a problem that is searched as quickly without suggestions: 180 and 300 at 512 and 1,024 accelerators (measured)."""
A_MERGE = 0.25
"""Share of the time for the merged problem, where it applies."""
PARTS = 3
"""Number of open parts whose integral indicators are tried per round."""
FIRST = 0.7
"""Seconds of the whole model before the first relaxation: most problems are easy.

Without a fair answer a large model gets more (`ROWS`): the bound alone would not find one.
"""
ROWS = 1500
"""Number of model rows for the times of the rounds; larger models get more."""
CONFIRMING = 10
"""Factor on the time of a search that confirms infeasibility.

Without presolve the second search is slower than the first.
"""
A_USE = 1e-4
"""Seconds per row to build a pattern model, measured."""
A_COUNT = 2e-4
"""Seconds per decision to build the model, measured: 1.6e-4 to 2.6e-4."""
MOST = 1 << 60
RESERVED_SHARE = 0.2
"""Share of the time reserved for later tiers."""
TIE_SHARE = 0.3
"""Largest share of the time for extra domains below bytes: a tie-break that matters little."""
SHARE = 0.4
"""Share of the time for pattern models; undecided rest goes to the ordinary model."""


@dataclass(frozen=True)
class Round:
    """Round of a tier's search: relaxations, then restricted searches, then the whole model.

    Times are seconds of metered work.
    """

    relaxations: int
    narrowed: float
    whole: float
    method: Method = Method.AUTOMATIC


ROUNDS = (
    Round(12, 0.5, whole=0.4),
    Round(12, 0.5, whole=1.0, method=Method.RELAXATION),
    Round(30, 0.5, whole=2.0),
    Round(60, 0.5, whole=4.0, method=Method.RELAXATION),
    Round(120, 0.6, whole=8.0),
    Round(240, 1.0, whole=16.0),
    Round(480, 3.2, whole=16.0),
    Round(960, 6.4, whole=16.0),
)


class TierSearch:
    """Search of a tier; earlier tiers are fixed in the model, which minimises this tier."""

    def __init__(self, state: ChoiceState, variables: Variables, number: int, limit: float) -> None:
        self.state, self.variables, self.number, self.left = state, variables, number, limit
        self.some = is_restricted(variables.layout) or has_free_order(variables.layout)
        self.scale = max(1.0, len(variables.model.proto.constraints) / ROWS)
        self._refused, self._in_vain, self._longer = False, False, BY_ITSELF

    def search(self, suggestion: Mapping[int, int]) -> float:
        """Improve answer and bound of this tier until both meet; return the time left.

        The first search has the suggested values.
        """
        if suggestion:
            self._narrow(suggestion, A_PART * self.left)
        if not self.variables.layout.counted:
            # For ranges alone the relaxation is weak, and propagation is fast.
            self._run(0.6 * self.left, Method.AUTOMATIC)
        else:
            self._run(min(FIRST * (self.scale if self._is_far(POOR) else 1.0), 0.6 * self.left), Method.RELAXATION)
        if not self._is_open():
            return self.left
        tiers = self.state.tiers
        aggregates = aggregates_of(self.variables, tiers[self.number]) if self.number < len(tiers) and not self.some else []
        time_left = min(A_ROOT * self.left, self.state.search.until - time.process_time())
        if aggregates and root_seconds(self.variables.model) <= time_left:
            wider = [aggregate for tier in tiers[: self.number] for aggregate in aggregates_of(self.variables, tier)]
            stage = BoundStage(self.variables.model, aggregates, wider)
            self.left -= stage.spent
            for stage_round in ROUNDS if stage.is_solved else ():
                self._round(stage, stage_round)
        if self._is_open() and self._is_far():
            self._improve(0.6 * self.left)
        if self._is_open():
            self._run(0.6 * self.left, Method.RELAXATION)
        if self._is_open():
            self._run(self.left, Method.AUTOMATIC)
        return self.left

    def _round(self, stage: BoundStage, limits: Round) -> None:
        """Run the relaxation, then search with its suggestions and on the whole model."""
        if self._is_open():
            self._advance(stage, limits.relaxations)
        for indicators in stage.likely(PARTS):
            if not self._is_open() or self._narrow(indicators, min(limits.narrowed * self.scale, A_PART * self.left)) is Status.UNKNOWN:
                break
        if self._is_open() and self._is_far():
            self._improve(min(self._longer, 0.6 * self.left))
            self._longer *= 2
        elif self._is_open():
            self._run(min(limits.whole, 0.6 * self.left), limits.method)

    def _improve(self, limit: float) -> None:
        """Search around the best answer, or anywhere if that was in vain the last time."""
        before = self.state.costs
        in_neighbourhoods = self.state.assignment is not None and not self._in_vain
        self._run(limit, Method.NEIGHBOURHOODS if in_neighbourhoods else Method.AUTOMATIC)
        self._in_vain = in_neighbourhoods and self.state.costs == before

    def _advance(self, stage: BoundStage, nodes: int) -> None:
        state, before = self.state, stage.spent
        limit = (A_TURN if self._is_far() else A_LONG_TURN) * self.left
        upper = state.costs[self.number] if state.assignment else None
        until, last, count = stage.spent + limit, None, 0
        while stage.is_open and stage.spent < until and (count < nodes or stage.bound != last) and not state.search.is_late:
            last = stage.bound
            stage.advance(upper, until - stage.spent, A_GROWTH)
            count += A_GROWTH
        self.left -= stage.spent - before
        bound = stage.bound if stage.bound is not None else upper
        if bound is not None:
            state.prove(self.number, bound if upper is None else min(bound, upper))

    def _narrow(self, indicators: Mapping[int, int], limit: float) -> Status:
        """Search for a better answer with some indicators fixed."""
        state, number = self.state, self.number
        high = state.costs[number] - 1 if state.assignment else MOST
        model = narrow(self._add_hints(), indicators, state.proved[number], high)
        outcome = run(
            self.variables, min(limit, self.left), state.search.seed, method=Method.AUTOMATIC, model=model, until=state.search.until
        )
        self.left -= outcome.spent
        if outcome.values is not None:
            self._offer(outcome)
        return outcome.status

    def _is_far(self, gap: float = FAR) -> bool:
        """Return True if the answer is unknown, or above the bound by a relative gap."""
        state, number = self.state, self.number
        return state.assignment is None or state.costs[number] - state.proved[number] > max(1, gap * state.costs[number])

    def _is_open(self) -> bool:
        has_tier = self.number < len(self.state.tiers)
        is_best = self.state.is_best(self.number) if has_tier else self.state.assignment is not None
        return self.left > 0 and not self.state.search.is_late and not self._refused and not is_best

    def _run(self, limit: float, method: Method) -> None:
        """Run the solver on the whole model."""
        outcome = run(
            self.variables, limit, self.state.search.seed, method=method, model=self._add_hints(), on_solution=self._listen,
            until=self.state.search.until,
        )  # fmt: skip
        self.left -= outcome.spent
        self.take(outcome)

    def _add_hints(self) -> cp_model.CpModel:
        if self.state.values:
            self.variables.model.clear_hints()  # type: ignore[no-untyped-call]
            self.variables.hint(self.state.values)
        return self.variables.model

    def _offer(self, outcome: Outcome[Values]) -> None:
        """Keep an answer of the solver. Raises WrongAnswer on contradictions."""
        self.left -= self.state.an_offer
        costs = self.state.offer(outcome.values or {}, "search")
        if costs is None:
            raise WrongAnswer("the solver's answer is refused by the rules")
        if self.number < len(costs) and costs[self.number] > outcome.objective:
            raise WrongAnswer(f"the solver's objective is {outcome.objective}, that of its answer {costs[self.number]}")

    def take(self, outcome: Outcome[Values]) -> None:
        """Keep the outcome of a run on the whole model. Raises WrongAnswer on contradictions."""
        state, has_tier = self.state, self.number < len(self.state.tiers)
        if outcome.status is Status.INFEASIBLE and state.assignment is None:
            self._refused = True
            # A single "infeasible" is not proof (or-tools 5274, 5295): confirmed without presolve.
            limit = max(self.left, CONFIRMING * outcome.spent + 1.0)
            bare = compile(state.problem, state.layout)
            confirmation = run(bare, limit, state.search.seed, presolve=False, until=state.search.until)
            state.refuted = refutable(self.variables.layout) and confirmation.status is Status.INFEASIBLE
            if confirmation.values is not None:
                state.offer(confirmation.values, "search")
        if outcome.values is not None:
            self._offer(outcome)
        if has_tier and outcome.bound is not None and not self.some and state.assignment is not None:
            if outcome.bound > state.costs[self.number]:
                raise WrongAnswer(f"the solver's bound is {outcome.bound}, an answer costs {state.costs[self.number]}")
            state.prove(self.number, outcome.bound)

    def _listen(self, values: Values, bound: int) -> None:
        if self.state.search.is_due():
            self.state.offer(values, "search")


def search_tiers(state: ChoiceState, limit: float) -> None:
    """Improve answer and bound of a choice until both meet or the time is over."""
    build = A_COUNT * len(state.layout.counts)
    if build > min(limit, state.search.until - time.process_time()):
        return
    suggestion, seconds = _suggest(state, A_MERGE * (limit - build))
    variables, remaining = compile(state.problem, state.layout), limit - build - seconds
    if not state.tiers:
        remaining = TierSearch(state, variables, 0, limit).search({})
    for number, tier in enumerate(state.tiers):
        if state.is_proved or state.refuted:
            break
        amount = aim(variables, tier)
        if not state.is_best(number):
            share = share_of(state, number, remaining, limit)
            remaining += TierSearch(state, variables, number, share).search(_indicators(variables, suggestion)) - share
        if state.assignment is None or remaining <= 0 or state.search.is_late:
            break
        variables.at_most(amount, state.costs[number])  # no worse while later tiers are searched
    state.spent = limit - remaining


def _suggest(state: ChoiceState, limit: float) -> tuple[Presence, float]:
    """Return the domains of an answer of the merged problem, and the time spent."""
    problem = merge_receivers(state.layout) if len(state.layout.counts) > SMALL else None
    if problem is None:
        return {}, 0.0
    search = Search(problem, state.search.seed, silent, state.search.session)
    search.until = state.search.until
    coarse = ChoiceState(Layout(problem), search)
    search_tiers(coarse, limit)
    return find_domains(coarse.layout, coarse.values) if coarse.values else {}, coarse.spent


def _indicators(variables: Variables, suggestion: Presence) -> dict[int, int]:
    """Return the indicators of suggested domains, with their values."""
    layout = variables.layout
    level = level_of(layout.problem)
    amounts = ((variables.touches(layout.bundle_of[name], level, domain), value) for (name, domain), value in suggestion.items())
    return {amount.index: int(value) for amount, value in amounts if not isinstance(amount, int)}  # type: ignore[attr-defined]


def share_of(state: ChoiceState, number: int, remaining: float, limit: float) -> float:
    """Return the seconds of a tier, of those left: later tiers keep a part, tie-breaks get little."""
    tiers = state.tiers
    has_traffic = any(isinstance(term, BytesAcross) for tier in tiers[:number] for term, _ in tier.members)
    if has_traffic and all(isinstance(term, DomainsTouched) for term, _ in tiers[number].members):
        return min(remaining, TIE_SHARE * limit)
    later = range(number + 1, len(tiers))
    return remaining if all(map(state.is_best, later)) else (1 - RESERVED_SHARE) * remaining


def search_by_patterns(state: ChoiceState, limit: float) -> float:
    """Search by patterns if the problem is a sum over domains; return the metered time.

    Improves the answer and the bound.
    """
    uses = uses_of(state.layout, state.tiers)
    if uses is None:
        return 0.0
    remaining, master = SHARE * limit, Master(uses)
    outcomes: list[Outcome[Values]] = []
    for number, tier in enumerate(state.tiers):
        amount = master.aim(tier)
        remaining -= 0 if number else A_USE * len(master.model.proto.constraints)
        outcomes.append(run(master, remaining, state.search.seed, until=state.search.until))
        remaining -= outcomes[-1].spent
        if outcomes[-1].status is not Status.OPTIMAL or remaining <= 0 or state.search.is_late:
            break
        master.at_most(amount, outcomes[-1].objective)
    if outcomes and outcomes[0].status is Status.INFEASIBLE and state.assignment is None:
        # As everywhere, a single "infeasible" is not proof: confirmed without presolve.
        confirmation = run(Master(uses), remaining, state.search.seed, presolve=False, until=state.search.until)
        remaining -= confirmation.spent
        state.refuted = confirmation.status is Status.INFEASIBLE
    _take_use(state, outcomes)
    return SHARE * limit - remaining + state.an_offer


def _take_use(state: ChoiceState, outcomes: Sequence[Outcome[Values]]) -> None:
    """Keep the last expandable answer and the bounds of all tiers. Raises WrongAnswer."""
    costs: tuple[int, ...] | None = None
    for outcome in reversed(outcomes):
        if costs is None and outcome.values is not None:
            costs = state.offer(outcome.values, "patterns")
    for number, outcome in enumerate(outcomes):
        if outcome.bound is None:
            return
        if costs is not None and outcome.bound > costs[number]:
            raise WrongAnswer(f"the solver's bound is {outcome.bound}, an answer costs {costs[number]}")
        state.prove(number, outcome.bound)
        if costs is None or costs[number] != outcome.objective:
            return
