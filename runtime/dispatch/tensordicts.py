"""TensorDict batches: cut and joined even if rows differ in length.

torch cuts jagged tensors of three and more dimensions only in newer versions
(pytorch/pytorch#153238), and joins none of them; here that is done row by row. Nothing is imported:
whoever has a TensorDict has loaded torch and tensordict.
"""

from __future__ import annotations

import sys
from typing import Any, Sequence


def is_tensordict(batch: object) -> bool:
    """Return True for a TensorDict."""
    return "tensordict" in sys.modules and isinstance(batch, sys.modules["tensordict"].TensorDictBase)


def chunked_rows(batch: Any, chunks: int) -> list[Any]:
    """Cut a TensorDict into chunks of equal length; the number must divide its length."""
    jagged = _jagged(batch, beyond=2)
    parts = list((batch.exclude(*jagged) if jagged else batch).chunk(chunks))
    size = len(batch) // chunks
    for key in jagged:
        rows = batch[key].unbind()
        for number, part in enumerate(parts):
            part[key] = _of_rows(rows[number * size : (number + 1) * size])
    return parts


def joined_rows(parts: Sequence[Any]) -> Any:
    """Join TensorDicts with equal keys; return the first if they have no rows at all."""
    if not parts[0].batch_size:
        return parts[0]
    jagged = _jagged(parts[0], beyond=0)
    joined = sys.modules["torch"].cat([part.exclude(*jagged) if jagged else part for part in parts], dim=0)
    for key in jagged:
        joined[key] = _of_rows([row for part in parts for row in part[key].unbind()])
    return joined


def _jagged(batch: Any, beyond: int) -> list[str]:
    """Return the keys of jagged tensors with more than `beyond` dimensions."""
    torch = sys.modules["torch"]
    return [key for key, value in batch.items() if isinstance(value, torch.Tensor) and value.is_nested and value.dim() > beyond]


def _of_rows(rows: Sequence[Any]) -> Any:
    torch = sys.modules["torch"]
    return torch.nested.as_nested_tensor(list(rows), layout=torch.jagged)
