"""Batches that can be cut into equal chunks and joined again, as verl's DataProto.

torch cuts jagged tensors of three and more dimensions only in newer versions
(pytorch/pytorch#153238), and joins none of them; here that is done row by row. Nothing is imported:
whoever has a TensorDict has loaded torch and tensordict.

A batch has a length, `chunk(chunks=n)` and, on its class, `concat(list)`. A batch that may be
padded has `is_padding_enabled()`, `padding(n)` to pad and `select_idxs(list)` to cut back. Source:
verl, verl/protocol.py.
"""

from __future__ import annotations

import copy
import sys
from functools import partial
from typing import Any, Callable, Sequence

from ...failure import build_refusal


def is_tensordict(batch: object) -> bool:
    """Return True for a TensorDict."""
    return "tensordict" in sys.modules and isinstance(batch, sys.modules["tensordict"].TensorDictBase)


def chunked_rows(batch: Any, chunks: int) -> list[Any]:
    """Cut a TensorDict into chunks of equal length; the number must divide its length."""
    jagged_keys = _find_jagged(batch, beyond=2)
    parts = list((batch.exclude(*jagged_keys) if jagged_keys else batch).chunk(chunks))
    size = len(batch) // chunks
    for key in jagged_keys:
        rows = batch[key].unbind()
        for number, part in enumerate(parts):
            part[key] = _of_rows(rows[number * size : (number + 1) * size])
    return parts


def joined_rows(parts: Sequence[Any]) -> Any:
    """Join TensorDicts with equal keys; return the first if they have no rows at all."""
    if not parts[0].batch_size:
        return parts[0]
    jagged_keys = _find_jagged(parts[0], beyond=0)
    union = sys.modules["torch"].cat([part.exclude(*jagged_keys) if jagged_keys else part for part in parts], dim=0)
    for key in jagged_keys:
        union[key] = _of_rows([row for part in parts for row in part[key].unbind()])
    return union


def _find_jagged(batch: Any, beyond: int) -> list[str]:
    """Return the keys of jagged tensors with more than `beyond` dimensions."""
    torch = sys.modules["torch"]
    return [key for key, value in batch.items() if isinstance(value, torch.Tensor) and value.is_nested and value.dim() > beyond]


def _of_rows(rows: Sequence[Any]) -> Any:
    torch = sys.modules["torch"]
    return torch.nested.as_nested_tensor(list(rows), layout=torch.jagged)


Fetch = Callable[[Sequence[Any]], list[Any]]


def chunk(batch: Any, chunks: int) -> list[Any]:
    """Cut a batch into so many chunks, else ValueError: no batch, or no divisor of its length."""
    if not hasattr(batch, "chunk"):
        kind = type(batch).__name__
        raise build_refusal(
            "PW718", "", f"a {kind} cannot be cut into chunks", "give a batch with `chunk` and `concat`, such as a DataProto"
        )
    if isinstance(batch, DataProtoFuture) or is_padded(batch) or len(batch) % chunks == 0:
        parts = chunked_rows(batch, chunks) if is_tensordict(batch) else list(batch.chunk(chunks=chunks))
        if len(parts) == chunks:
            return parts
    message = f"only support equal chunk. Got size of {type(batch).__name__} {len(batch)} and chunk {chunks}."
    raise build_refusal(
        "PW718", "", message, "give a batch whose length the number of chunks divides, or let it be padded", len(batch), chunks
    )


def is_padded(batch: Any) -> bool:
    """Return True if the batch may be padded before cutting."""
    return hasattr(batch, "is_padding_enabled") and bool(batch.is_padding_enabled())


def pad(batch: Any, chunks: int) -> tuple[Any, int]:
    """Return (divisible copy of the batch, number of padded rows)."""
    missing = -len(batch) % chunks
    if missing:
        batch = copy.copy(batch)
        batch.padding(padding_size=missing)
    return batch, missing


def trim(batch: Any, padding: int) -> Any:
    """Return a batch without its last `padding` rows."""
    return batch.select_idxs(list(range(len(batch) - padding))) if padding and hasattr(batch, "select_idxs") else batch


def concatenate(parts: Sequence[Any]) -> Any:
    """Concatenate batches of a common type, else ValueError."""
    if not parts:
        raise build_refusal("PW718", "", "no worker's answer is to be collected", "let at least one rank collect")
    kinds = {type(part) for part in parts}
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise build_refusal("PW718", "", f"answers of several types cannot be put together: {names}", "let every rank answer with one type")
    kind = type(parts[0])
    if is_tensordict(parts[0]):
        return joined_rows(parts)
    if hasattr(kind, "concat"):
        return kind.concat(list(parts))
    raise build_refusal("PW718", "", f"answers of type {kind.__name__} cannot be put together", "answer with a batch that has `concat`")


def join(group: Any, output: Sequence[Any], ranks: Sequence[int]) -> Any:
    """Concatenate the answers of `ranks`; return a DataProtoFuture while pending."""
    return DataProtoFuture(output, fetch=partial(group.fetch, ranks)) if output and group.is_awaited(output[0]) else concatenate(output)


def from_ray(references: Sequence[Any]) -> list[Any]:
    """Return the values of Ray references, in any process."""
    import ray

    return list(ray.get(list(references)))


class DataProtoFuture:
    """Pending batch: concatenated answers of a call, or a chunk of them.

    It may be an argument of another call: the workers of that call wait for it, not the caller.
    Padded batches are cut with their padding, which is removed from the answer of that call.
    """

    def __init__(self, parts: Sequence[Any], padding: int = 0, chunks: tuple[tuple[int, int], ...] = (), fetch: Fetch = from_ray) -> None:
        self.parts = list(parts)
        self.padding = padding
        self.chunks = chunks
        """(number, count) of every chunk, in the order of cutting."""
        self.fetch = fetch

    @classmethod
    def concat(cls, parts: Sequence[Any]) -> DataProtoFuture:
        """Return the pending batch of these references, in order."""
        return cls(parts)

    def chunk(self, chunks: int) -> list[DataProtoFuture]:
        """Return a future per chunk."""
        return [type(self)(self.parts, self.padding, (*self.chunks, (number, chunks)), self.fetch) for number in range(chunks)]

    def get(self) -> Any:
        """Wait for the batch, and return it without padding, or a chunk with padding."""
        batch = concatenate(self.fetch(self.parts))
        for number, count in self.chunks:
            batch = chunk(batch, count)[number]
        return batch if self.chunks else trim(batch, self.padding)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parts, self.padding, self.chunks)
