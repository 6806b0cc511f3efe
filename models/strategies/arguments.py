"""The arguments of a strategy under the names of three generations of RLinf, each value read and refused by name.

RLinf counted GPUs first (``start_gpu_id``), then accelerators (``start_accelerator_id``), then any hardware
(``start_hardware_rank``). The second generation is what its documentation says and what is used here; the others are taken too.
Source of the names: RLinf, rlinf/scheduler/placement, the history of packed.py, flexible.py and node.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import MISSING, fields
from functools import wraps
from operator import attrgetter, index
from typing import Any, Callable, Sequence, TypeVar

from ..findings.finding import Finding, UnusableInput, error
from ..findings.wording import are, with_noun
from ..record import dataclass
from ..text.nearest import nearest

Strategy = TypeVar("Strategy", bound=type)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name, its names in other generations, and `read(strategy, name as said, value)`, which may refuse the value."""

    name: str
    aliases: tuple[str, ...]
    read: Callable[[str, str, object], object]


def takes(*arguments: Argument) -> Callable[[Strategy], Strategy]:
    """Decorates a dataclass of strategy arguments: it takes each under any of its names, and offers each under all of them.

    Raises UnusableInput (PW119), with every reason, for a name that is not known or said twice and for a value that is refused.
    """

    def decorate(strategy: Strategy) -> Strategy:
        its: Any = strategy
        build = its.__init__
        needed = {field.name for field in fields(strategy) if field.default is MISSING}

        @wraps(build)
        def initialise(self: object, *given: object, **named: object) -> None:
            build(self, **_read(strategy.__name__, arguments, needed, given, named))

        its.__init__ = initialise
        for argument in arguments:
            for alias in argument.aliases:
                setattr(strategy, alias, property(attrgetter(argument.name), doc=f"Another generation's name of `{argument.name}`."))
        return strategy

    return decorate


def _read(
    strategy: str, arguments: Sequence[Argument], needed: set[str], given: tuple[object, ...], named: Mapping[str, object]
) -> dict[str, Any]:
    findings: list[Finding] = []
    said: dict[str, str] = {}
    values: dict[str, Any] = {}
    if len(given) > len(arguments):
        findings.append(
            _wrong(
                strategy,
                f"{with_noun(len(given), 'value')} {are(len(given))} given, but there {are(len(arguments))} {with_noun(len(arguments), 'argument')}",
            )
        )
    for name, argument, value in _matched(strategy, arguments, given, named, findings):
        if argument.name in said:
            both = f"`{said[argument.name]}` and `{name}` are" if said[argument.name] != name else f"`{name}` is given twice:"
            findings.append(_wrong(strategy, f"{both} one argument", f"give it once, as `{argument.name}`"))
            continue
        said[argument.name] = name
        try:
            values[argument.name] = argument.read(strategy, name, value)
        except UnusableInput as refused:
            findings += refused.findings
    for argument in arguments:
        if argument.name in needed and argument.name not in said:
            findings.append(_wrong(strategy, f"`{argument.name}` is missing", f"pass `{argument.name}=...`"))
    refuse(findings)
    return values


def _matched(
    strategy: str, arguments: Sequence[Argument], given: tuple[object, ...], named: Mapping[str, object], findings: list[Finding]
) -> list[tuple[str, Argument, object]]:
    """(name as said, argument, value) of every value whose argument is known."""
    by_name = {name: argument for argument in arguments for name in (argument.name, *argument.aliases)}
    found = []
    for argument, value in zip(arguments, given):
        # Documentation of the first two generations lists the isolation where the third has the node group.
        if argument.name == "node_group" and isinstance(value, bool):
            argument = by_name["isolate_accelerator"]
        found.append((argument.name, argument, value))
    for name, value in named.items():
        if name in by_name:
            found.append((name, by_name[name], value))
        else:
            close = nearest(name, by_name)
            known = ", ".join(f"`{argument.name}`" for argument in arguments)
            findings.append(_wrong(strategy, f"there is no argument `{name}`", f"write `{close}`" if close else f"pass one of {known}"))
    return found


def refuse(findings: Sequence[Finding]) -> None:
    """Raise UnusableInput if there is any finding."""
    if findings:
        raise UnusableInput(findings)


def whole_number(least: int) -> Callable[[str, str, object], int]:
    """Reads a whole number of at least `least`, whatever type of number it is (also one of numpy)."""

    def read(strategy: str, name: str, value: object) -> int:
        number = _index(value)
        if number is None or number < least:
            message = f"`{name}` is {_shown(value)}, but it must be a whole number of at least {least}"
            raise UnusableInput([_wrong(strategy, message, f"pass `{name}={least}` or more")])
        return number

    return read


def ranks(strategy: str, name: str, value: object) -> tuple[int, ...]:
    """Reads a list of ranks; it may be empty."""
    if (plain := _plain(value)) is not None:
        return plain
    its = _items(strategy, name, value)
    numbers = [_index(each) for each in its]
    found = tuple(number for number in numbers if number is not None and number >= 0)
    if len(found) < len(numbers):
        wrong = next(each for each, number in zip(its, numbers) if number is None or number < 0)
        message = f"`{name}` holds {_shown(wrong)}, but a rank is a whole number of at least 0"
        raise UnusableInput([_wrong(strategy, message, f"give `{name}` whole numbers")])
    return found


def lists_of_ranks(strategy: str, name: str, value: object) -> tuple[tuple[int, ...], ...]:
    """Reads a list of lists of ranks, every list with every reason why it is none."""
    found, findings = [], list[Finding]()
    for position, each in enumerate(_items(strategy, name, value)):
        try:
            plain = _plain(each)
            found.append(ranks(strategy, f"{name}[{position}]", each) if plain is None else plain)
        except UnusableInput as refused:
            findings += refused.findings
    refuse(findings)
    return tuple(found)


def truth(strategy: str, name: str, value: object) -> bool:
    """Reads True or False."""
    if isinstance(value, bool):
        return value
    raise UnusableInput([_wrong(strategy, f"`{name}` is {_shown(value)}, but it must be True or False", f"pass `{name}=True`")])


def labels(strategy: str, name: str, value: object) -> str | tuple[str, ...] | None:
    """Reads the label of a node group, or a list of them, or None."""
    if value is None or isinstance(value, str):
        return value
    return tuple(str(each) for each in _items(strategy, name, value))


def _items(strategy: str, name: str, value: object) -> list[object]:
    if isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping, Set)):
        try:
            return list(value)
        except TypeError:  # an array of numpy without dimensions says that it can be iterated
            pass
    raise UnusableInput([_wrong(strategy, f"`{name}` is {_shown(value)}, but it must be a list", f"pass `{name}` as a list")])


def _plain(value: object) -> tuple[int, ...] | None:
    """The ranks, if the value is a list of nothing but ordinary ones: there may be a hundred thousand such lists."""
    if not isinstance(value, (list, tuple)) or any(type(each) is not int or each < 0 for each in value):
        return None
    return tuple(value)


def _index(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _wrong(strategy: str, message: str, help: str = "") -> Finding:
    return error("PW119", strategy, message, help=help)
