"""Arguments of placement strategies under the names of three generations of RLinf, and the cluster.

RLinf counted GPUs first (``start_gpu_id``), then accelerators (``start_accelerator_id``), then any
hardware (``start_hardware_rank``). Fields have the names of the second generation, as in RLinf's
documentation; the others are aliases. Source of the names: RLinf, rlinf/scheduler/placement, the
history of packed.py, flexible.py and node.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import MISSING, fields
from functools import wraps
from operator import attrgetter, index
from typing import Any, Callable, Protocol, Sequence, SupportsIndex, TypeVar, Union

from ...findings.finding import Finding, UnusableInput, error
from ...findings.wording import are, with_noun
from ...machines.cluster import Cluster
from ...machines.shorthand import AsDeclared, read_shorthand
from ...record import dataclass
from ...text.nearest import nearest

Strategy = TypeVar("Strategy", bound=type)


@dataclass(frozen=True, slots=True)
class Argument:
    """Name, aliases and reader of an argument: `read(strategy, name as written, value)`."""

    name: str
    aliases: tuple[str, ...]
    read: Callable[[str, str, object], object]


def takes(*arguments: Argument) -> Callable[[Strategy], Strategy]:
    """Return a class decorator for aliases of arguments. Constructors raise UnusableInput."""

    def decorate(strategy: Strategy) -> Strategy:
        cls: Any = strategy
        build = cls.__init__
        needed = {field.name for field in fields(strategy) if field.default is MISSING}

        @wraps(build)
        def initialise(self: object, *positional: object, **keywords: object) -> None:
            build(self, **_read(strategy.__name__, arguments, needed, positional, keywords))

        cls.__init__ = initialise
        for argument in arguments:
            for alias in argument.aliases:
                setattr(strategy, alias, property(attrgetter(argument.name), doc=f"Another generation's name of `{argument.name}`."))
        return strategy

    return decorate


def _read(
    strategy: str, arguments: Sequence[Argument], needed: set[str], positional: tuple[object, ...], keywords: Mapping[str, object]
) -> dict[str, Any]:
    findings, written_names, values = list[Finding](), dict[str, str](), dict[str, Any]()
    by_name = {name: argument for argument in arguments for name in (argument.name, *argument.aliases)}
    if (count := len(positional)) > (most := len(arguments)):
        message = f"{with_noun(count, 'value')} {are(count)} given, but there {are(most)} {with_noun(most, 'argument')}"
        findings.append(_build_error(strategy, message))
    # Documentation of the first two generations lists the isolation in the position of the node group.
    by_position = (
        ("isolate_accelerator" if argument.name == "node_group" and isinstance(value, bool) else argument.name, value)
        for argument, value in zip(arguments, positional)
    )
    for name, value in (*by_position, *keywords.items()):
        argument = by_name.get(name)
        if argument is None:
            close, known = nearest(name, by_name), ", ".join(f"`{argument.name}`" for argument in arguments)
            findings.append(
                _build_error(strategy, f"there is no argument `{name}`", f"write `{close}`" if close else f"pass one of {known}")
            )
        elif (earlier := written_names.setdefault(argument.name, name)) != name or argument.name in values:
            both = f"`{earlier}` and `{name}` are" if earlier != name else f"`{name}` is given twice:"
            findings.append(_build_error(strategy, f"{both} one argument", f"give it once, as `{argument.name}`"))
        else:
            values[argument.name] = None
            try:
                values[argument.name] = argument.read(strategy, name, value)
            except UnusableInput as refused:
                findings += refused.findings
    for argument in arguments:
        if argument.name in needed and argument.name not in values:
            findings.append(_build_error(strategy, f"`{argument.name}` is missing", f"pass `{argument.name}=...`"))
    refuse(findings)
    return values


def refuse(findings: Sequence[Finding]) -> None:
    """Raise UnusableInput if there is any finding."""
    if findings:
        raise UnusableInput(findings)


def whole_number(least: int) -> Callable[[str, str, object], int]:
    """Return a reader of whole numbers of at least `least`, numpy integers included."""

    def read(strategy: str, name: str, value: object) -> int:
        number = _index(value)
        if number is None or number < least:
            message = f"`{name}` is {_format(value)}, but it must be a whole number of at least {least}"
            raise UnusableInput([_build_error(strategy, message, f"pass `{name}={least}` or more")])
        return number

    return read


def read_ranks(strategy: str, name: str, value: object) -> tuple[int, ...]:
    """Read a list of ranks; it may be empty."""
    if isinstance(value, (list, tuple)) and all(type(rank) is int and rank >= 0 for rank in value):
        return tuple(value)  # as long lists are
    items = _items(strategy, name, value)
    numbers = [_index(item) for item in items]
    valid = tuple(number for number in numbers if number is not None and number >= 0)
    if len(valid) < len(numbers):
        wrong = next(item for item, number in zip(items, numbers) if number is None or number < 0)
        message = f"`{name}` holds {_format(wrong)}, but a rank is a whole number of at least 0"
        raise UnusableInput([_build_error(strategy, message, f"give `{name}` whole numbers")])
    return valid


def lists_of_ranks(strategy: str, name: str, value: object) -> tuple[tuple[int, ...], ...]:
    """Read a list of lists of ranks; raise UnusableInput with the faults of all lists."""
    lists, findings = [], list[Finding]()
    for position, item in enumerate(_items(strategy, name, value)):
        try:
            lists.append(read_ranks(strategy, f"{name}[{position}]", item))
        except UnusableInput as refused:
            findings += refused.findings
    refuse(findings)
    return tuple(lists)


def truth(strategy: str, name: str, value: object) -> bool:
    """Read True or False."""
    if isinstance(value, bool):
        return value
    raise UnusableInput([_build_error(strategy, f"`{name}` is {_format(value)}, but it must be True or False", f"pass `{name}=True`")])


def labels(strategy: str, name: str, value: object) -> str | tuple[str, ...] | None:
    """Read the label of a node group, a list of labels, or None."""
    if value is None or isinstance(value, str):
        return value
    return tuple(str(label) for label in _items(strategy, name, value))


def _items(strategy: str, name: str, value: object) -> list[object]:
    if isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping, Set)):
        try:
            return list(value)
        except TypeError:  # a numpy array without dimensions counts as a Collection
            pass
    raise UnusableInput([_build_error(strategy, f"`{name}` is {_format(value)}, but it must be a list", f"pass `{name}` as a list")])


def _index(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _format(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _build_error(strategy: str, message: str, help: str = "") -> Finding:
    return error("PW119", strategy, message, help=help)


class OnMachines(Protocol):
    """Object with an attribute `machines`, such as the cluster object of RLinf's programs."""

    machines: Cluster


Machines = Union[Cluster, OnMachines, AsDeclared, str, SupportsIndex]
"""Cluster, object with a cluster, shorthand (``2x8xH100``, ``x8``), or accelerators per node."""

_HELP = "pass a Cluster, a shorthand such as `2x8xH100`, or `num_gpus_per_node=8`"


def cluster_of(strategy: str, machines: Machines | None, nodes: SupportsIndex | None, accelerators: int, least: int | None) -> Cluster:
    """Return the cluster; a number of accelerators per node is extended to enough nodes.

    `nodes` fixes the number of nodes; else there are as many as `accelerators` need in all, or
    `least` nodes if set. Raises UnusableInput (PW119).
    """
    machines = getattr(machines, "machines", machines)
    if isinstance(machines, str):
        try:
            machines = read_shorthand(machines)
        except ValueError as problem:
            raise UnusableInput([error("PW119", strategy, str(problem), help=_HELP)]) from None
    if isinstance(machines, Cluster):
        if nodes is not None:
            message = f"`num_nodes_in_cluster` is {nodes}, but the cluster itself has {len(machines.nodes)}"
            raise UnusableInput([error("PW119", strategy, message, help="leave `num_nodes_in_cluster` out")])
        return machines
    if machines is None:
        raise UnusableInput([error("PW119", strategy, "no cluster is given", help=_HELP)])
    per_node, model = (machines.count, f"x{machines.model}") if isinstance(machines, AsDeclared) else (machines, "")
    if not isinstance(per_node, SupportsIndex):
        raise UnusableInput([error("PW119", strategy, f"the cluster is {per_node!r:.60}, which is none", help=_HELP)])
    accelerators_per_node = whole_number(1 if least is None else 0)(strategy, "num_gpus_per_node", per_node)
    count = -(-accelerators // accelerators_per_node) if least is None else least
    if nodes is not None:
        count = whole_number(1)(strategy, "num_nodes_in_cluster", nodes)
    return cluster_of(strategy, f"{count}x{accelerators_per_node}{model}", None, accelerators, least)
