"""The best designs of a question: structures by what they take at least, and for each the counts and degrees."""

from __future__ import annotations

from itertools import islice
from typing import Callable, Iterator, Mapping, Sequence

from ....models.planning.design import Design
from ....models.planning.question import Question
from ...sandbox.interrupts import Interrupts, held
from ...sandbox.stopped import Stopped, interrupted, stoppable
from ..costs.cost_model import CostModel
from ..counting import OnCounting, silent
from .candidates.candidate import Candidate
from .candidates.dividing import HURRIED, Dividing
from .candidates.few import Few
from .candidates.looking import MANY, Looking
from .candidates.progress import Progress
from .candidates.pruning import Pruning
from .candidates.sight import Sight, Skip
from .candidates.standing import Standing
from .cuts.every import EveryCut
from .cuts.remembered import Recalled
from .price import Price
from .searched import Found, Searched
from .sizes.settling import Settle, Settled, Undecided, Unsettled
from .structures.every import arrangements
from .structures.structure import Structure

__all__ = ["Found", "Price", "Searched", "Skip", "search"]

MOST = 1_000
"""Arrangements that are looked at one after the other; of more, most are passed over before they are known."""
NESTED = 3_000
"""The same of a nested question of whose cuts something is known, where one is asked for: flips ask for it again and again, which is quicker so."""
OTHERS = 5
"""Tasks of a nested question up to which the others that are asked for beside the best are proved too: there are some thousand arrangements."""


def search(
    question: Question, model: CostModel, limit: float = 10.0, seed: int = 1, count: int = 1, excluded: Sequence[Design] = (),
    settle: Settle | None = None, answer_interrupted: bool = False, skip: Skip | None = None,
    counting: OnCounting = silent, any_will_do: bool = False, recalled: Recalled | None = None, among: Sequence[Structure] | None = None,
) -> Searched:  # fmt: skip
    """The best designs of the `count` best structures, without those of `excluded`.

    A structure is not searched where what it takes at least is no better than what was found.

    Parameters
    ----------
    limit : in deterministic seconds: the same answer on any machine.
    settle : how structures are settled that dividing does not decide; None: by CP-SAT in a process of its own (solver/sandbox).
    skip : structures that are known to have no design that may be an answer.
    counting : told every now and then how the search stands.
    any_will_do : the first design that is found ends the search: it is asked only whether there is one.
    recalled : what earlier searches found of nearly the same question.
    among : the only structures that may have a design that is an answer, in the order in which they are searched; None: that is not known.
    answer_interrupted : whether Ctrl-C ends the search alone, with what was found until then; else KeyboardInterrupt is raised.
    """
    stopped: Stopped | None = None
    with held() as interrupts:
        run = _Run(question, model, limit, seed, count, excluded, skip, interrupts.look, counting, any_will_do, recalled, among)
        try:
            run.look()
        except KeyboardInterrupt:
            interrupts.look(2)
            stopped = interrupted()
            if answer_interrupted and not run.standing.best:
                run.hurry(interrupts)
    if stopped is None:
        try:
            with stoppable():
                run.settle(settle or _in_its_own_process)
        except Stopped as why:
            stopped = why
    if stopped is not None and stopped.interrupted and not answer_interrupted:
        raise KeyboardInterrupt from None
    return run.standing.result(run.progress.spent, stopped)


def _in_its_own_process(asked: Unsettled) -> Iterator[Settled]:
    from .own_process.settle import Settling

    return Settling()(asked)


class _Run:
    """One search: what it found, and what is proved."""

    def __init__(
        self, question: Question, model: CostModel, limit: float, seed: int, count: int, excluded: Sequence[Design],
        skip: Skip | None, interrupt: Callable[[], None], counting: OnCounting, any_will_do: bool,
        recalled: Recalled | None, among: Sequence[Structure] | None,
    ) -> None:  # fmt: skip
        self.question, self.model, self.seed, self.among = question, model, seed, among
        self.recalled = recalled or Recalled(question)
        self.progress = Progress(question, limit, interrupt, counting)
        self.sight = Sight(question, model, excluded, skip, self.progress.spend, self.recalled)
        self.standing = Standing(count, self.sight.at_least(), any_will_do)
        self.progress.tells_of(self.standing)
        self.dividing = Dividing(question, self.standing, self.progress)

    def look(self) -> None:
        """Looks at every structure as a whole, then searches the counts and degrees of those that can be among the best."""
        if self.among is not None:
            Few(self.sight, self.standing, self.dividing, self.progress).look(self.among)
            return
        every, standing = self.sight.arrangements(), self.standing
        known = self.question.nested and EveryCut.bound(self.question, self.model)
        most = max(MOST, NESTED) if known and standing.count == 1 else MOST
        waiting = list(islice(every, most + 1))
        few = len(waiting) <= most or not self.model.full
        if few and len(waiting) > MANY:
            allowed, least = self.question.budget.nanoseconds, self.sight.cut()
            standing.least = max(standing.least, (least, 0))
            if allowed is not None and least > allowed:
                standing.unseen = None
                return
        if few:
            waiting += every
        else:
            pruning = Pruning(self.question, self.model, self.sight, standing, self.dividing, self.progress, self.recalled)
            pruning.look()
            if known and len(self.question.tasks) <= OTHERS:
                pruning.look_for_others()
        some = standing.unseen is not None and not standing.best  # of what there is, in any case
        if few or (some and not (standing.any_will_do and self.progress.left <= 0)):
            Looking(self.model, self.sight, standing, self.dividing, self.progress).look(waiting, few and self.progress.left > 0)
        self.dividing.all()

    def hurry(self, interrupts: Interrupts) -> None:
        """After a Ctrl-C before anything was found: the cheapest structures of those that are open, else the first ones, are looked at once."""
        waiting = sorted(self.standing.open, key=lambda each: (each.floor, each.number))
        for one in islice(waiting or self._first_ones(), HURRIED):
            interrupts.look(2)
            one.look(None, 0)
            if one.best is not None:
                return

    def _first_ones(self) -> Iterator[Candidate]:
        for each in islice(arrangements(self.question, self.model), HURRIED):
            for structure in islice(each.structures(), 1):
                if (one := self.sight.candidate(structure)) is not None:
                    self.standing.open.append(one)
                    yield one

    def settle(self, settle: Settle) -> None:
        """Has a solver decide what is left."""
        left = {one.number: one for one in self.standing.open if not one.proved and self.standing.can_be_better(one)}
        if not left or self.progress.left <= 0 or self.standing.ended:
            return
        asked = Unsettled(
            self.question,
            self.model.name,
            tuple(
                Undecided(one.number, one.sizing.structure, one.floor, one.found.price if one.found else None, one.excluded)
                for one in left.values()
            ),
            tuple(one.found.price for one in self.standing.open if one.found is not None and one.number not in left),
            self.standing.count,
            self.progress.left,
            self.seed,
        )
        outcomes: list[Settled] = []
        try:
            for outcome in settle(asked):
                outcomes.append(outcome)
        finally:
            with held():
                self._take(left, outcomes)

    def _take(self, left: Mapping[int, Candidate], outcomes: Sequence[Settled]) -> None:
        for outcome in outcomes:
            one = left[outcome.number]
            self.progress.spent += outcome.spent
            if outcome.places is not None:
                self.standing.found(one, tuple(its[place] for its, place in zip(one.sizing.choices, outcome.places)))
            one.proved = outcome.proved
            one.floor = max(one.floor, (outcome.bound, 0))
