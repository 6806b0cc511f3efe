"""Batches: whatever can be cut into equal chunks and put together again, as verl's DataProto can; and one that is not there yet.

A batch has a length, `chunk(chunks=n)` and, on its class, `concat(list)`. One that may be padded says so by
`is_padding_enabled()`, is padded by `padding(n)` and cut back by `select_idxs(list)`. Source: verl, verl/protocol.py.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Sequence

from ..refusal import refused
from .tensordicts import chunked_rows, is_tensordict, joined_rows

Fetch = Callable[[Sequence[Any]], list[Any]]


def chunked(batch: Any, chunks: int) -> list[Any]:
    """A batch in so many chunks. Raises a ValueError for what is no batch, and for one that has no such chunks."""
    if not hasattr(batch, "chunk"):
        kind = type(batch).__name__
        raise refused("PW718", "", f"a {kind} cannot be cut into chunks", "give a batch with `chunk` and `concat`, such as a DataProto")
    if isinstance(batch, DataProtoFuture) or is_padded(batch) or len(batch) % chunks == 0:
        parts = chunked_rows(batch, chunks) if is_tensordict(batch) else list(batch.chunk(chunks=chunks))
        if len(parts) == chunks:
            return parts
    message = f"only support equal chunk. Got size of {type(batch).__name__} {len(batch)} and chunk {chunks}."
    raise refused("PW718", "", message, "give a batch whose length the number of chunks divides, or let it be padded", len(batch), chunks)


def is_padded(batch: Any) -> bool:
    """May the batch be padded so that it can be cut?"""
    return hasattr(batch, "is_padding_enabled") and bool(batch.is_padding_enabled())


def padded(batch: Any, chunks: int) -> tuple[Any, int]:
    """A batch that can be cut into so many chunks, and by how much it was padded for that; the caller's own stays as it is."""
    missing = -len(batch) % chunks
    if missing:
        batch = copy.copy(batch)
        batch.padding(padding_size=missing)
    return batch, missing


def trimmed(batch: Any, padding: int) -> Any:
    """A batch without its last `padding` rows."""
    return batch.select_idxs(list(range(len(batch) - padding))) if padding and hasattr(batch, "select_idxs") else batch


def concatenated(parts: Sequence[Any]) -> Any:
    """One batch of several of one type. Raises a ValueError for what cannot be put together."""
    if not parts:
        raise refused("PW718", "", "no worker's answer is to be collected", "let at least one rank collect")
    kinds = {type(part) for part in parts}
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise refused("PW718", "", f"answers of several types cannot be put together: {names}", "let every rank answer with one type")
    kind = type(parts[0])
    if is_tensordict(parts[0]):
        return joined_rows(parts)
    if hasattr(kind, "concat"):
        return kind.concat(list(parts))
    raise refused("PW718", "", f"answers of type {kind.__name__} cannot be put together", "answer with a batch that has `concat`")


def joined(group: Any, output: Sequence[Any], ranks: Sequence[int]) -> Any:
    """One batch of what these ranks of a group answered; a DataProtoFuture where that is not there yet."""
    return DataProtoFuture(output, fetch=group.fetcher(ranks)) if output and group.is_awaited(output[0]) else concatenated(output)


def from_ray(references: Sequence[Any]) -> list[Any]:
    """What these references of Ray stand for, in whatever process this is."""
    import ray

    return list(ray.get(list(references)))


class DataProtoFuture:
    """The batch that a call will have answered: put together from what the workers answer, or a chunk of that.

    It may be given to another call before it is there: the workers of that one wait for it, not the caller. What was padded is
    cut with its padding, which is taken from the answer of that call.
    """

    def __init__(self, parts: Sequence[Any], padding: int = 0, chunks: tuple[tuple[int, int], ...] = (), fetch: Fetch = from_ray) -> None:
        self.parts = list(parts)
        self.padding = padding
        self.chunks = chunks
        """(which, of how many), in the order of cutting."""
        self.fetch = fetch

    @classmethod
    def concat(cls, parts: Sequence[Any]) -> DataProtoFuture:
        """The batch of these references, in this order."""
        return cls(parts)

    def chunk(self, chunks: int) -> list[DataProtoFuture]:
        """One future for each chunk."""
        return [type(self)(self.parts, self.padding, (*self.chunks, (which, chunks)), self.fetch) for which in range(chunks)]

    def get(self) -> Any:
        """The batch without its padding, or a chunk of it with its padding. Waits for it."""
        batch = concatenated(self.fetch(self.parts))
        for which, count in self.chunks:
            batch = chunked(batch, count)[which]
        return batch if self.chunks else trimmed(batch, self.padding)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parts, self.padding, self.chunks)
