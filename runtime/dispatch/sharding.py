"""Which arguments each worker gets of a call to all of them."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of one worker: positional and named."""


def shares(arguments: Sequence[Any], named: Mapping[str, Any], workers: int) -> list[Call]:
    """The arguments of each worker: its element of each, if every argument is a list of as many elements as there are workers.

    Else every worker gets all arguments as they are. Only lists count: a tuple, or an argument that is no list or of another
    length, means that everything is given to all. Source: verl, verl/single_controller/ray/base.py, `execute_all_async`.
    """
    every = [*arguments, *named.values()]
    if all(isinstance(each, list) and len(each) == workers for each in every):
        return [(tuple(each[rank] for each in arguments), {name: each[rank] for name, each in named.items()}) for rank in range(workers)]
    return [(tuple(arguments), dict(named)) for _ in range(workers)]
