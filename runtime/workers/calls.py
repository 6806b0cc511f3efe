"""Calls to workers together: to all of a group or to some ranks, and their results."""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Callable, Collection, Iterable, Iterator, Mapping, Protocol, Sequence, TypeVar, Union

from ...models.findings.wording import with_noun
from ...models.placements.placement import Placement
from ...models.ranks import list_ranks
from ...models.text.nearest import nearest
from ..failure import LaunchFailed, build_failure, quote_names
from ..port.port import AnswerFailed, Died, Port, Raised, Ticket, Unborn
from .inside.host import UNIMPORTABLE, UNWRITABLE
from .member import Member

STARTING = "was starting"
RAYS_LOGS = "Ray's logs there (`--log-dir` keeps what workers print)"


def rank_failure(problem: AnswerFailed, component: str, rank: int, node: str, doing: str, log: str = "") -> LaunchFailed:
    """Build the failure of a rank.

    `doing`: activity of the rank, such as "was starting" or "ran `train`"; `log`: path of its output
    on its node.

    PW703: the constructor raised; PW707: the class cannot be loaded; PW709: a method raised; PW713:
    its node was lost; PW704: the process died or never started.
    """
    worker_text = f"rank {rank} of `{component}` on `{node}`"
    if isinstance(problem, Died) and problem.node_lost:
        help = "start the node again, or launch with restarts"
        return build_failure("PW713", component, f"{worker_text} was lost with its node while it {doing}", help, rank)
    if isinstance(problem, Died):
        help = f"look for an out-of-memory kill on that node, then into {log or RAYS_LOGS}"
        return build_failure("PW704", component, f"{worker_text} died while it {doing}: {problem.reason}", help, rank)
    if isinstance(problem, Unborn):
        message = f"the worker class of {worker_text} cannot be loaded there: {problem.reason}"
        help = "put its code where the processes of every node find it: PYTHONPATH of `ray start`, or installed"
        return build_failure("PW707", component, message, help, rank, traceback="\n".join(problem.lines))
    if isinstance(problem, Raised):
        code, event, part = "PW709", f"raised while it {doing}", "method"
        if doing == STARTING:
            code, event, part = "PW703", "could not be constructed", "constructor"
        refusals = problem.cause.findings if isinstance(problem.cause, LaunchFailed) else ()
        help = refusals[0].help if refusals else f"fix the {part} of the worker class"
        return build_failure(code, component, f"{worker_text} {event}: {problem.reason}", help, rank, traceback="\n".join(problem.lines))
    message = f"{worker_text} failed while it {doing}: {problem.reason}"
    return build_failure("PW704", component, message, f"look into {log or RAYS_LOGS}, on that node", rank)


def unready(report: Mapping[str, object], worker: object, component: str, rank: int, node: str) -> LaunchFailed | None:
    """Build the failure (PW703, PW707) that a worker reports as data; None without one."""
    where = f"rank {rank} of `{component}` on `{node}`"
    if UNIMPORTABLE in report:
        message = f"the worker class `{worker}` cannot be imported by {where}: {report[UNIMPORTABLE]}"
        return build_failure("PW707", component, message, "put its code at the same path of every node, or install it there", rank)
    if UNWRITABLE in report:
        message = f"{where} could not be constructed: {report[UNWRITABLE]}"
        return build_failure("PW703", component, message, "name a folder with `--log-dir` that you can write on every node", rank)
    return None


AT_ONCE = 0.05
"""Seconds in which the answers of a broadcast are fetched by a single call.

Most calls of the control plane are that short.
"""
ALARM_PERIOD = 0.5
"""Seconds between two alarm checks of a waiting call."""
START_HELP = "give more time with `--timeout`, or look into the constructor of the worker class"
_OF_ONE = {"were": "was", "have": "has"}
CALL_HELP = "give the call more time, or look into what these ranks do"


class CalledGroup(Protocol):
    """Group whose workers are called; `alarm` is called while waiting, and raises after a loss."""

    port: Port
    component: str
    members: Sequence[Member]
    worker: str | type
    alarm: Callable[[], None]

    def request(self, rank: int, method: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Ticket:
        """Call a method of a worker, without waiting."""

    def answer(self, ticket: Ticket, rank: int, doing: str) -> Any:
        """Return the answer of a finished ticket, or raise LaunchFailed."""


Group = TypeVar("Group", bound=CalledGroup)


def as_done(
    pending: dict[Ticket, tuple[Group, int]], timeout: float | None, missing: str, help: str = START_HELP
) -> Iterator[tuple[Group, int, Ticket]]:
    """Yield (group, rank, ticket) of every answer on arrival, and remove it from `pending`.

    Raises LaunchFailed (PW705) if answers are missing after `timeout` s; `missing` describes their
    absence.
    """
    if not pending:
        return
    first = next(iter(pending.values()))[0]
    port, alarm = first.port, first.alarm
    deadline = math.inf if timeout is None else port.now() + timeout
    while pending:
        ready = port.collect_done(list(pending), max(0.0, min(ALARM_PERIOD, deadline - port.now())))
        if not ready:
            alarm()
            if port.now() >= deadline:
                raise late_failure(pending.values(), missing, help)
        for ticket in ready:
            entry = pending.pop(ticket, None)
            if entry is not None:  # else another thread has taken it
                yield *entry, ticket


def ranks_by_component(workers: Iterable[tuple[str, int]]) -> dict[str, str]:
    """Return component -> text of its ranks, like ``0-3,7``."""
    ranks: dict[str, list[int]] = {}
    for component, rank in workers:
        ranks.setdefault(component, []).append(rank)
    return {component: list_ranks(ranks_of_component) for component, ranks_of_component in ranks.items()}


def late_failure(waiting: Collection[tuple[CalledGroup, int]], missing: str, help: str = START_HELP) -> LaunchFailed:
    """Build the failure (PW705) with the ranks of the missing answers."""
    names = ranks_by_component((group.component, rank) for group, rank in waiting)
    ranks_text = ", ".join(f"`{component}` {text}" for component, text in names.items())
    if len(waiting) == 1:
        verb, rest = missing.split(" ", 1)
        return build_failure("PW705", ", ".join(names), f"rank {ranks_text} {_OF_ONE.get(verb, verb)} {rest}", help, *names.values())
    return build_failure("PW705", ", ".join(names), f"ranks {ranks_text} {missing}", help, *names.values())


class Results:
    """Results of a call on some ranks of a group, in call order.

    The first failure of any rank is raised, by any access from then on: LaunchFailed (PW709: it
    raised, with the exception as cause; PW704: it died; PW705: too late) with rank and node. Only a
    late result can be waited for again. The other ranks go on. `failure`: the first known one; see `done`.
    """

    def __init__(self, group: CalledGroup, tickets: Mapping[Ticket, int], method: str, timeout: float | None = None) -> None:
        self.method = method
        self.ranks: Sequence[int] = tuple(tickets.values())
        self._call = f"`{method}`" if method else "a call"
        self._group = group
        self._pending = {ticket: (group, rank) for ticket, rank in tickets.items()}
        self._found: dict[int, Any] = {}
        self.failure: LaunchFailed | None = None
        self._timeout = timeout
        self._deadline = math.inf if timeout is None else group.port.now() + timeout

    def wait(self, timeout: float | None = None) -> list[Any]:
        """Wait for all results. Raises LaunchFailed, PW705 if late."""
        if len(self._pending) == len(self.ranks) and min(self._compute_left(), math.inf if timeout is None else timeout) >= AT_ONCE:
            soon = self._group.port.answers(list(self._pending), AT_ONCE)
            if soon is not None:
                self._found = dict(zip(self.ranks, soon))
                self._pending.clear()
        for _ in self._arriving(timeout):
            pass
        return [self._found[rank] for rank in self.ranks]

    def done(self) -> bool:
        """Return True if all results arrived or a rank failed, without waiting."""
        while self._pending and self.failure is None:
            ready = self._group.port.collect_done(list(self._pending), 0.0)
            if not ready:
                return False
            try:
                for ticket in ready:
                    entry = self._pending.get(ticket)
                    if entry is not None:  # else another, waiting thread has taken it
                        self._take(ticket, entry[1])
                        self._pending.pop(ticket, None)
            except LaunchFailed:
                break  # raised when the results are read
        return True

    def as_completed(self, timeout: float | None = None) -> Iterator[tuple[int, Any]]:
        """Yield (rank, result) in order of arrival, stored ones first. Raises as `wait`."""
        yield from list(self._found.items())
        for rank in self._arriving(timeout):
            yield rank, self._found[rank]

    async def async_wait(self, timeout: float | None = None) -> list[Any]:
        """Wait as `wait` does, while other coroutines go on."""
        return await asyncio.to_thread(self.wait, timeout)

    def _arriving(self, timeout: float | None) -> Iterator[int]:
        """Yield the ranks of missing answers as they arrive."""
        if self.failure is not None:
            raise self.failure
        seconds_left = self._compute_left()
        limit, limit_shown = (seconds_left, self._timeout) if timeout is None or seconds_left < timeout else (timeout, timeout)
        within = "" if limit_shown is None else f" within {limit_shown:g} s"
        arrivals = as_done(
            self._pending, None if math.isinf(limit) else max(0.0, limit), f"have not answered {self._call}{within}", CALL_HELP
        )
        for _, rank, ticket in arrivals:
            self._take(ticket, rank)
            yield rank

    def _compute_left(self) -> float:
        """Return the remaining seconds of the call."""
        return self._deadline - self._group.port.now()

    def _take(self, ticket: Ticket, rank: int) -> None:
        try:
            self._found[rank] = self._group.answer(ticket, rank, f"ran {self._call}")
        except LaunchFailed as failure:
            self.failure = failure
            raise


RankSelector = Union[int, slice, Sequence[int], Callable[[Placement], bool]]
"""Selection of ranks: a rank, several, a slice of all, or a predicate on the Placement."""

LIGHT_ITEMS, LIGHT_LENGTH = 16, 4096
_NUMBERS = (type(None), bool, int, float, complex)


class Calls(ABC):
    """Workers that are called together, in a fixed order.

    Every public method of the user's class is a method here: it is called on every worker and
    returns the list of results. `call` does the same by method name, also for names that this class
    itself uses. The first failure of any rank is raised at once; see Results for the exceptions.
    """

    ranks: Sequence[int]
    """Called ranks, in the order of the results."""

    @property
    @abstractmethod
    def whole(self) -> CalledGroup:
        """Whole group."""

    def on(self, *which: RankSelector) -> Selection:
        """Select some of these workers. Unknown rank or empty selection: IndexError."""
        return Selection(self.whole, self._choose(which))

    def call(self, method: str, /, *arguments: Any, timeout: float | None = None, **keywords: Any) -> list[Any]:
        """Call a method on every worker; return ordered results. Raises as Results.wait."""
        return self.call_async(method, *arguments, timeout=timeout, **keywords).wait()

    def call_async(self, method: str, /, *arguments: Any, timeout: float | None = None, **keywords: Any) -> Results:
        """Call without waiting; as `call`. `timeout` counts from now.

        Large arguments are put into the cluster once, for any number of workers. Raises
        AttributeError for a method that the user's class lacks, if the class is known here; for a
        class given as ``module:Class`` the first worker reports it.
        """
        return Results(self.whole, self.send_call(method, arguments, keywords), method, timeout)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.whole.component!r}, ranks {list_ranks(self.ranks) or 'none'}>"

    def __getattr__(self, name: str) -> Callable[..., list[Any]]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        self.must_have(name)
        return partial(self._call_named, name)

    def _call_named(self, method: str, /, *arguments: Any, **keywords: Any) -> list[Any]:
        """Call a method as `call`, but pass every keyword to the method."""
        return Results(self.whole, self.send_call(method, arguments, keywords), method).wait()

    def send_call(self, method: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[Ticket, int]:
        """Call a method and return ticket -> rank."""
        self.must_have(method)
        if len(self.ranks) > 1:
            arguments, keywords = share(self.whole.port, arguments, keywords)
        return {self.whole.request(rank, method, arguments, keywords): rank for rank in self.ranks}

    def __dir__(self) -> list[str]:
        """Return the own attributes plus the workers' methods, for completion."""
        return sorted({*super().__dir__(), *self._methods()})

    def _methods(self) -> list[str]:
        """Return the public methods of the user's class; empty if only its name is known."""
        worker = self.whole.worker
        public = [] if isinstance(worker, str) else [name for name in dir(worker) if not name.startswith("_")]
        return [name for name in public if callable(getattr(worker, name))]

    def must_have(self, method: str) -> None:
        """Raise AttributeError if the user's class is known to lack this method."""
        worker = self.whole.worker
        if isinstance(worker, str) or callable(getattr(worker, method, None)):
            return
        methods = self._methods()
        close = nearest(method, methods)
        hint = f"did you mean `{close}`?" if close else f"it has {quote_names(methods)}"
        raise AttributeError(f"the workers of `{self.whole.component}` have no method `{method}`: `{worker.__name__}`, {hint}")

    def _choose(self, which: Sequence[RankSelector]) -> list[int]:
        selection: list[int] = []
        for selector in which:
            if callable(selector):
                selection += [rank for rank in self.ranks if selector(self.whole.members[rank].placement)]
            elif isinstance(selector, slice):
                selection += self.ranks[selector]
            else:
                selection += [selector] if isinstance(selector, int) else selector
        missing = [rank for rank in selection if rank not in self.ranks]
        if missing or not selection:
            subject = f"rank {missing[0]} is not among" if missing else "no worker was chosen of"
            raise IndexError(f"{subject} the {with_noun(len(self.ranks), 'worker')} of `{self.whole.component}`")
        return list(dict.fromkeys(selection))


class Selection(Calls):
    """Some workers of a group."""

    def __init__(self, whole: CalledGroup, ranks: Sequence[int]) -> None:
        self._whole = whole
        self.ranks = tuple(ranks)

    @property
    def whole(self) -> CalledGroup:
        """Whole group."""
        return self._whole


def share(port: Port, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Put large arguments into the cluster once, to pass them to several workers."""

    def prepare(value: Any) -> Any:
        return value if is_light(value) else port.share(value)

    return tuple(map(prepare, arguments)), {name: prepare(value) for name, value in keywords.items()}


def is_light(value: Any) -> bool:
    """Return True for small plain data, cheaper to send than to share."""
    if isinstance(value, _NUMBERS):
        return True
    if isinstance(value, (str, bytes)):
        return len(value) <= LIGHT_LENGTH
    if isinstance(value, (list, tuple)):
        return len(value) <= LIGHT_ITEMS and all(map(_is_atom, value))
    if isinstance(value, dict):
        return len(value) <= LIGHT_ITEMS and all(map(_is_atom, value.values()))
    return False


def _is_atom(value: Any) -> bool:
    return isinstance(value, _NUMBERS) or (isinstance(value, (str, bytes)) and len(value) <= LIGHT_LENGTH // LIGHT_ITEMS)
