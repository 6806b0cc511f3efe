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

from ....models.findings.finding import Finding, UnusableInput, error
from ....models.findings.wording import are, with_noun
from ....models.machines.cluster import Cluster
from ....models.machines.shorthand import DeclaredNodes, read_shorthand
from ....models.record import dataclass
from ....models.text.nearest import nearest

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
        required_names = {field.name for field in fields(strategy) if field.default is MISSING}

        @wraps(build)
        def initialise(self: object, *positional: object, **keywords: object) -> None:
            build(self, **_read(strategy.__name__, arguments, required_names, positional, keywords))

        cls.__init__ = initialise
        for argument in arguments:
            for alias in argument.aliases:
                setattr(strategy, alias, property(attrgetter(argument.name), doc=f"Another generation's name of `{argument.name}`."))
        return strategy

    return decorate


def _read(
    strategy: str, arguments: Sequence[Argument], required_names: set[str], positional: tuple[object, ...], keywords: Mapping[str, object]
) -> dict[str, Any]:
    findings, written_names, values = list[Finding](), dict[str, str](), dict[str, Any]()
    by_name = {name: argument for argument in arguments for name in (argument.name, *argument.aliases)}

    def refuse_argument(message: str, help: str = "") -> None:
        findings.append(error("PW119", strategy, message, help=help))

    if (count := len(positional)) > (most := len(arguments)):
        refuse_argument(f"{with_noun(count, 'value')} {are(count)} given, but there {are(most)} {with_noun(most, 'argument')}")
    # Documentation of the first two generations lists the isolation in the position of the node group.
    by_position = (
        ("isolate_accelerator" if argument.name == "node_group" and isinstance(value, bool) else argument.name, value)
        for argument, value in zip(arguments, positional)
    )
    for name, value in (*by_position, *keywords.items()):
        argument = by_name.get(name)
        if argument is None:
            close, choices = nearest(name, by_name), ", ".join(f"`{argument.name}`" for argument in arguments)
            refuse_argument(f"there is no argument `{name}`", f"write `{close}`" if close else f"pass one of {choices}")
        elif (earlier := written_names.setdefault(argument.name, name)) != name or argument.name in values:
            both = f"`{earlier}` and `{name}` are" if earlier != name else f"`{name}` is given twice:"
            refuse_argument(f"{both} one argument", f"give it once, as `{argument.name}`")
        else:
            values[argument.name] = None
            try:
                values[argument.name] = argument.read(strategy, name, value)
            except UnusableInput as problem:
                findings += problem.findings
    for name in [argument.name for argument in arguments if argument.name in required_names and argument.name not in values]:
        refuse_argument(f"`{name}` is missing", f"pass `{name}=...`")
    refuse(findings)
    return values


def refusal(strategy: str, message: str, help: str, code: str = "PW119", **amounts: Any) -> UnusableInput:
    """Return the exception for one reason."""
    return UnusableInput([error(code, strategy, message, help=help, **amounts)])


def refuse(findings: Sequence[Finding]) -> None:
    """Raise UnusableInput if there is any finding."""
    if findings:
        raise UnusableInput(findings)


def whole_number(minimum: int) -> Callable[[str, str, object], int]:
    """Return a reader of whole numbers of at least `minimum`, numpy integers included."""

    def read(strategy: str, name: str, value: object) -> int:
        number = _index(value)
        if number is None or number < minimum:
            message = f"`{name}` is {_format(value)}, but it must be a whole number of at least {minimum}"
            raise refusal(strategy, message, f"pass `{name}={minimum}` or more")
        return number

    return read


def read_ranks(strategy: str, name: str, value: object) -> tuple[int, ...]:
    """Read a list of ranks; it may be empty."""
    if isinstance(value, (list, tuple)) and all(type(rank) is int and rank >= 0 for rank in value):
        return tuple(value)  # as long lists are
    ranks = []
    for item in _items(strategy, name, value):
        if (rank := _index(item)) is None or rank < 0:
            message = f"`{name}` holds {_format(item)}, but a rank is a whole number of at least 0"
            raise refusal(strategy, message, f"give `{name}` whole numbers")
        ranks.append(rank)
    return tuple(ranks)


def rank_lists(strategy: str, name: str, value: object) -> tuple[tuple[int, ...], ...]:
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
    raise refusal(strategy, f"`{name}` is {_format(value)}, but it must be True or False", f"pass `{name}=True`")


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
    raise refusal(strategy, f"`{name}` is {_format(value)}, but it must be a list", f"pass `{name}` as a list")


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


class OnMachines(Protocol):
    """Object with an attribute `machines`, such as the cluster object of RLinf's programs."""

    machines: Cluster


Machines = Union[Cluster, OnMachines, DeclaredNodes, str, SupportsIndex]
"""Cluster, object with a cluster, shorthand (``2x8xH100``, ``x8``), or accelerators per node."""

_HELP = "pass a Cluster, a shorthand such as `2x8xH100`, or `num_gpus_per_node=8`"


def cluster_of(strategy: str, machines: Machines | None, nodes: SupportsIndex | None, most: int, counts_nodes: bool) -> Cluster:
    """Return the cluster; a number of accelerators per node is extended to enough nodes.

    `nodes` fixes the number of nodes; else there are enough for `most` accelerators, or `most` nodes
    with `counts_nodes`. Raises UnusableInput (PW119).
    """
    machines = getattr(machines, "machines", machines)
    try:
        machines = read_shorthand(machines) if isinstance(machines, str) else machines
    except ValueError as problem:
        raise refusal(strategy, str(problem), _HELP) from None
    if isinstance(machines, Cluster):
        if nodes is not None:
            message = f"`num_nodes_in_cluster` is {nodes}, but the cluster itself has {len(machines.nodes)}"
            raise refusal(strategy, message, "leave `num_nodes_in_cluster` out")
        return machines
    per_node, model = (machines.count, f"x{machines.model}") if isinstance(machines, DeclaredNodes) else (machines, "")
    if not isinstance(per_node, SupportsIndex):
        message = "no cluster is given" if machines is None else f"the cluster is {per_node!r:.60}, which is none"
        raise refusal(strategy, message, _HELP)
    has = whole_number(0 if counts_nodes else 1)(strategy, "num_gpus_per_node", per_node)
    count = whole_number(1)(strategy, "num_nodes_in_cluster", nodes) if nodes is not None else most if counts_nodes else -(-most // has)
    return cluster_of(strategy, f"{count}x{has}{model}", None, most, counts_nodes)
