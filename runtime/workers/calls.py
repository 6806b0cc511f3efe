"""Calls to workers together: to all of a group or to some ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Callable, Mapping, Protocol, Sequence, Union

from ...models.findings.wording import with_noun
from ...models.placements.placement import Placement
from ...models.ranks import merge, write_ranks
from ...models.text.nearest import nearest
from ..port.port import Port, Ticket
from .member import Member
from .results import AwaitedGroup, Results

RankSelector = Union[int, slice, Sequence[int], Callable[[Placement], bool]]
"""Selection of ranks: a rank, several, a slice of all, or a predicate on the Placement."""

LIGHT_ITEMS, LIGHT_LENGTH = 16, 4096
_NUMBERS = (type(None), bool, int, float, complex)


class Whole(AwaitedGroup, Protocol):
    """Group of a selection."""

    members: Sequence[Member]
    worker: str | type

    def request(self, rank: int, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Ticket:
        """Call a method of a worker, without waiting."""


class Calls(ABC):
    """Workers that are called together, in a fixed order.

    Every public method of the user's class is a method here: it is called on every worker and
    returns the list of results. `call` does the same by method name, also for names that this class
    itself uses. The first failure of any rank is raised at once; see Results for the exceptions.
    `timeout`: default time limit of a call, in seconds.
    """

    timeout: float | None

    @property
    @abstractmethod
    def whole(self) -> Whole:
        """Whole group."""

    @property
    @abstractmethod
    def ranks(self) -> Sequence[int]:
        """Called ranks, in the order of the results."""

    def on(self, *which: RankSelector) -> Selection:
        """Select some of these workers, by ranks of the group.

        Raises IndexError for an unknown rank, and for an empty selection.
        """
        return Selection(self.whole, self._chosen(which), self.timeout)

    def within(self, seconds: float | None) -> Selection:
        """Return the same workers with a time limit per call, in seconds; None: unlimited."""
        return Selection(self.whole, self.ranks, seconds)

    def call(self, method: str, /, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Call a method of the user's class on every worker; return the ordered results.

        Raises as Results.wait, and AttributeError.
        """
        return self.call_async(method, *arguments, timeout=timeout, **named).wait()

    def call_async(self, method: str, /, *arguments: Any, timeout: float | None = None, **named: Any) -> Results:
        """Call without waiting; as `call`. `timeout` counts from now.

        Large arguments are put into the cluster once, for any number of workers. Raises
        AttributeError for a method that the user's class lacks, if the class is known here; for a
        class given as ``module:Class`` the first worker reports it.
        """
        return self.ask(method, arguments, named, timeout)

    def call_each(self, method: str, each: Sequence[Any], /, *, timeout: float | None = None, **named: Any) -> list[Any]:
        """Call a method on every worker, with the i-th value on the i-th worker.

        `named` are common to all. Raises as `call`.
        """
        return self.call_each_async(method, each, timeout=timeout, **named).wait()

    def call_each_async(self, method: str, each: Sequence[Any], /, *, timeout: float | None = None, **named: Any) -> Results:
        """Call without waiting; as `call_each`.

        Raises ValueError unless there are as many values as workers.
        """
        self.must_have(method)
        if len(each) != len(self.ranks):
            raise ValueError(
                f"`{method}` is given {with_noun(len(each), 'value')} for {with_noun(len(self.ranks), 'worker')} of `{self.whole.component}`"
            )
        _, named = shared(self.whole.port, (), named)
        tickets = {self.whole.request(rank, method, (value,), named): rank for rank, value in zip(self.ranks, each)}
        return self._results(tickets, method, timeout)

    def __repr__(self) -> str:
        ranks = write_ranks(merge([range(rank, rank + 1) for rank in sorted(self.ranks)])) or "none"
        return f"<{type(self).__name__} {self.whole.component!r}, ranks {ranks}>"

    def __getattr__(self, name: str) -> Callable[..., list[Any]]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        self.must_have(name)
        return partial(self._called, name)

    def _called(self, method: str, /, *arguments: Any, **named: Any) -> list[Any]:
        """Call a method as `call`, but pass every keyword to the method."""
        return self.ask(method, arguments, named).wait()

    def ask(self, method: str, arguments: tuple[Any, ...], named: Mapping[str, Any], timeout: float | None = None) -> Results:
        """Call as `call_async`, with arguments in containers."""
        return self._results(self.asked(method, arguments, named), method, timeout)

    def asked(self, method: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[Ticket, int]:
        """Call a method and return ticket -> rank."""
        self.must_have(method)
        if len(self.ranks) > 1:
            arguments, named = shared(self.whole.port, arguments, named)
        return {self.whole.request(rank, method, arguments, named): rank for rank in self.ranks}

    def _results(self, tickets: dict[Ticket, int], method: str, timeout: float | None) -> Results:
        return Results(self.whole, tickets, method, self.timeout if timeout is None else timeout)

    def __dir__(self) -> list[str]:
        """Return the own attributes plus the workers' methods, for completion."""
        return sorted({*super().__dir__(), *self._methods()})

    def _methods(self) -> list[str]:
        """Return the public methods of the user's class; empty if only its name is known."""
        worker = self.whole.worker
        public = [] if isinstance(worker, str) else [name for name in dir(worker) if not name.startswith("_")]
        return [name for name in public if callable(getattr(worker, name))]

    def must_have(self, method: str) -> None:
        """Check that the user's class has this method, if the class is known.

        Raises AttributeError with a similar name otherwise.
        """
        worker = self.whole.worker
        if isinstance(worker, str) or callable(getattr(worker, method, None)):
            return
        known = self._methods()
        close = nearest(method, known)
        hint = f"did you mean `{close}`?" if close else f"it has {', '.join(f'`{name}`' for name in known) or 'none'}"
        raise AttributeError(f"the workers of `{self.whole.component}` have no method `{method}`: `{worker.__name__}`, {hint}")

    def _chosen(self, which: Sequence[RankSelector]) -> list[int]:
        chosen: list[int] = []
        for selector in which:
            if callable(selector):
                chosen += [rank for rank in self.ranks if selector(self.whole.members[rank].placement)]
            elif isinstance(selector, slice):
                chosen += self.ranks[selector]
            else:
                chosen += [selector] if isinstance(selector, int) else selector
        missing = [rank for rank in chosen if rank not in self.ranks]
        if missing or not chosen:
            subject = f"rank {missing[0]} is not among" if missing else "no worker was chosen of"
            raise IndexError(f"{subject} the {with_noun(len(self.ranks), 'worker')} of `{self.whole.component}`")
        return list(dict.fromkeys(chosen))


class Selection(Calls):
    """Some workers of a group."""

    def __init__(self, whole: Whole, ranks: Sequence[int], timeout: float | None) -> None:
        self._whole = whole
        self._ranks = tuple(ranks)
        self.timeout = timeout

    @property
    def whole(self) -> Whole:
        """Whole group."""
        return self._whole

    @property
    def ranks(self) -> Sequence[int]:
        """Called ranks, in the order of the results."""
        return self._ranks


def shared(port: Port, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Put large arguments into the cluster once, to pass them to several workers."""

    def each(value: Any) -> Any:
        return value if is_light(value) else port.share(value)

    return tuple(map(each, arguments)), {name: each(value) for name, value in named.items()}


def is_light(value: Any) -> bool:
    """Return True if sending a value to every worker is cheaper than sharing it: small plain
    data.
    """
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
