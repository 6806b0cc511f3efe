"""Calling workers together: all of a group or some of its ranks, with the same arguments or each with its own."""

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
from .results import Results
from .waiting import Answering

Which = Union[int, slice, Sequence[int], Callable[[Placement], bool]]
"""Some ranks: one, several, a slice of all, or those whose Placement is one for which a function says yes."""

LIGHT_ITEMS, LIGHT_LENGTH = 16, 4096
_NUMBERS = (type(None), bool, int, float, complex)


class Whole(Answering, Protocol):
    """The group that a selection is of."""

    members: Sequence[Member]
    worker: str | type

    def request(self, rank: int, method: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> Ticket:
        """Calls a method of one worker, without waiting."""


class Calls(ABC):
    """Workers that are called together, in a fixed order.

    Every public method of the user's class is a method here, which is called on every worker and gives the list of results;
    `call` is the same with the method's name, which also reaches a method whose name is one of this class's own. The first
    failure of any rank is raised at once; see Results for what is raised. `timeout`: seconds for a call that is not given its own.
    """

    timeout: float | None

    @property
    @abstractmethod
    def whole(self) -> Whole:
        """The group."""

    @property
    @abstractmethod
    def ranks(self) -> Sequence[int]:
        """The ranks that are called, in the order of the results."""

    def on(self, *which: Which) -> Selection:
        """Some of these workers; ranks are those of the group. Raises IndexError for a rank that is not here, and if there is none."""
        return Selection(self.whole, self._chosen(which), self.timeout)

    def within(self, seconds: float | None) -> Selection:
        """The same workers, with this many seconds for each call; None: no limit."""
        return Selection(self.whole, self.ranks, seconds)

    def call(self, method: str, /, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Calls a method of the user's class on every worker; the results in order. Raises as Results.wait, and AttributeError."""
        return self.call_async(method, *arguments, timeout=timeout, **named).wait()

    def call_async(self, method: str, /, *arguments: Any, timeout: float | None = None, **named: Any) -> Results:
        """As `call`, without waiting. `timeout` counts from now.

        What is large is put into the cluster once, however many workers get it. Raises AttributeError for a method that
        the user's class has not, if the class is known here; if it was given as ``module:Class``, the first worker says so.
        """
        return self.ask(method, arguments, named, timeout)

    def call_each(self, method: str, each: Sequence[Any], /, *, timeout: float | None = None, **named: Any) -> list[Any]:
        """Calls a method with the first of `each` on the first worker, and so on; `named` are the same for all. Raises as `call`."""
        return self.call_each_async(method, each, timeout=timeout, **named).wait()

    def call_each_async(self, method: str, each: Sequence[Any], /, *, timeout: float | None = None, **named: Any) -> Results:
        """As `call_each`, without waiting. Raises ValueError if there are not as many values as workers."""
        self.must_have(method)
        if len(each) != len(self.ranks):
            raise ValueError(
                f"`{method}` is given {with_noun(len(each), 'value')} for {with_noun(len(self.ranks), 'worker')} of `{self.whole.component}`"
            )
        _, named = shared(self.whole.port, (), named)
        asked = {self.whole.request(rank, method, (value,), named): rank for rank, value in zip(self.ranks, each)}
        return self._results(asked, method, timeout)

    def __repr__(self) -> str:
        ranks = write_ranks(merge([range(rank, rank + 1) for rank in sorted(self.ranks)])) or "none"
        return f"<{type(self).__name__} {self.whole.component!r}, ranks {ranks}>"

    def __getattr__(self, name: str) -> Callable[..., list[Any]]:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        self.must_have(name)
        return partial(self._called, name)

    def _called(self, method: str, /, *arguments: Any, **named: Any) -> list[Any]:
        """As `call`, but every keyword is the method's own."""
        return self.ask(method, arguments, named).wait()

    def ask(self, method: str, arguments: tuple[Any, ...], named: Mapping[str, Any], timeout: float | None = None) -> Results:
        """As `call_async`, for whoever hands on the arguments of somebody else."""
        return self._results(self.asked(method, arguments, named), method, timeout)

    def asked(self, method: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[Ticket, int]:
        """As `ask`: what to wait for -> the rank."""
        self.must_have(method)
        if len(self.ranks) > 1:
            arguments, named = shared(self.whole.port, arguments, named)
        return {self.whole.request(rank, method, arguments, named): rank for rank in self.ranks}

    def _results(self, asked: dict[Ticket, int], method: str, timeout: float | None) -> Results:
        return Results(self.whole, asked, method, self.timeout if timeout is None else timeout)

    def __dir__(self) -> list[str]:
        """What it has itself, and the methods of its workers, for whoever completes names."""
        return sorted({*super().__dir__(), *self._methods()})

    def _methods(self) -> list[str]:
        """The public methods of the user's class; none if it is named only."""
        worker = self.whole.worker
        public = [] if isinstance(worker, str) else [name for name in dir(worker) if not name.startswith("_")]
        return [name for name in public if callable(getattr(worker, name))]

    def must_have(self, method: str) -> None:
        """Raises AttributeError, which names the method that was probably meant, if the user's class is known and has none of this name."""
        worker = self.whole.worker
        if isinstance(worker, str) or callable(getattr(worker, method, None)):
            return
        known = self._methods()
        close = nearest(method, known)
        hint = f"did you mean `{close}`?" if close else f"it has {', '.join(f'`{name}`' for name in known) or 'none'}"
        raise AttributeError(f"the workers of `{self.whole.component}` have no method `{method}`: `{worker.__name__}`, {hint}")

    def _chosen(self, which: Sequence[Which]) -> list[int]:
        chosen: list[int] = []
        for each in which:
            if callable(each):
                chosen += [rank for rank in self.ranks if each(self.whole.members[rank].placement)]
            elif isinstance(each, slice):
                chosen += self.ranks[each]
            else:
                chosen += [each] if isinstance(each, int) else each
        missing = [rank for rank in chosen if rank not in self.ranks]
        if missing or not chosen:
            what = f"rank {missing[0]} is not among" if missing else "no worker was chosen of"
            raise IndexError(f"{what} the {with_noun(len(self.ranks), 'worker')} of `{self.whole.component}`")
        return list(dict.fromkeys(chosen))


class Selection(Calls):
    """Some workers of a group."""

    def __init__(self, whole: Whole, ranks: Sequence[int], timeout: float | None) -> None:
        self._whole = whole
        self._ranks = tuple(ranks)
        self.timeout = timeout

    @property
    def whole(self) -> Whole:
        """The group."""
        return self._whole

    @property
    def ranks(self) -> Sequence[int]:
        """The ranks that are called, in the order of the results."""
        return self._ranks


def shared(port: Port, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments for several workers: what is large among them is put into the cluster once."""

    def each(value: Any) -> Any:
        return value if is_light(value) else port.share(value)

    return tuple(map(each, arguments)), {name: each(value) for name, value in named.items()}


def is_light(value: Any) -> bool:
    """Is it cheaper to send a value to every worker than to put it into the cluster once? True for small plain data."""
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
