"""Engines interleaved with the actor's groups: which pairs of tensor parallel sizes fit."""

from __future__ import annotations

import pytest
from placewright.models.dialects.rlinf.modes.packing import interleave


@pytest.mark.parametrize(
    ("actor", "rollout", "fsdp", "blocks"),
    [(1, 4, True, 1), (4, 4, True, 1), (8, 4, True, 2), (2, 4, False, 1), (2, 4, True, None), (6, 4, False, None)],
)
def test_sizes_fit_unless_an_actor_rank_finds_no_engine(actor: int, rollout: int, fsdp: bool, blocks: int | None) -> None:
    shape = interleave(actor, rollout, fsdp)
    assert (shape.per_process, shape.stride) == (rollout, blocks) if shape is not None else blocks is None
