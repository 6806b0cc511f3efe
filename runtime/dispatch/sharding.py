"""Distribution of a call's arguments to the workers."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments of a worker: positional and named."""


def shares(arguments: Sequence[Any], named: Mapping[str, Any], workers: int) -> list[Call]:
    """Return the arguments of every worker: split lists, or all arguments unchanged.

    Arguments are split if all of them are lists with an element per worker. Only lists count: a
    tuple, or any argument that is no list or has another length, means that every worker gets
    everything. Source: verl, verl/single_controller/ray/base.py, `execute_all_async`.
    """
    values = [*arguments, *named.values()]
    if all(isinstance(value, list) and len(value) == workers for value in values):
        return [
            (tuple(value[rank] for value in arguments), {name: value[rank] for name, value in named.items()}) for rank in range(workers)
        ]
    return [(tuple(arguments), dict(named)) for _ in range(workers)]
