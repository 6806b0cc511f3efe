"""Batches over the ranks of a mesh: equal chunks per data-parallel rank, answers of some ranks.

Every worker has registered its chunk and whether its answer counts
(`Worker._register_dispatch_collect_info`); the group queries that once. Source: verl,
verl/single_controller/base/decorator.py, `make_nd_compute_dataproto_dispatch_fn`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Sequence

from .batches import chunked, joined


def make_nd_compute_dataproto_dispatch_fn(mesh_name: str) -> dict[str, Callable[..., Any]]:
    """Return the dispatch mode of a mesh, for `register`."""
    return {"dispatch_fn": partial(_dispatch, mesh_name), "collect_fn": partial(_collect, mesh_name)}


def dispatch_nd_compute_dataproto(dp_ranks: Sequence[int], group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    """Cut batches into a chunk per data-parallel rank; worker i gets chunk `dp_ranks[i]`."""
    size = max(dp_ranks) + 1

    def dealt(batch: Any) -> list[Any]:
        chunks = [group.port.share(chunk) for chunk in chunked(batch, size)]
        return [chunks[rank] for rank in dp_ranks]

    return tuple(map(dealt, arguments)), {name: dealt(batch) for name, batch in named.items()}


def collect_nd_compute_dataproto(collects: Sequence[bool], group: Any, output: Sequence[Any]) -> Any:
    """Concatenate the answers that count, in rank order."""
    ranks = [rank for rank, counts in enumerate(collects) if counts]
    return joined(group, [output[rank] for rank in ranks], ranks)


def _dispatch(mesh_name: str, group: Any, *arguments: Any, **named: Any) -> tuple[Any, dict[str, Any]]:
    return dispatch_nd_compute_dataproto(group.dispatch_info(mesh_name), group, *arguments, **named)


def _collect(mesh_name: str, group: Any, output: Sequence[Any]) -> Any:
    return collect_nd_compute_dataproto(group.collect_info(mesh_name), group, output)
