"""TensorDicts as batches, where torch and tensordict are installed."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime.compat.verl.batches import chunk, concatenate

torch: Any = pytest.importorskip("torch")
tensordict: Any = pytest.importorskip("tensordict")


def jagged(*shapes: tuple[int, ...]) -> Any:
    return torch.nested.as_nested_tensor([torch.full(shape, float(row)) for row, shape in enumerate(shapes)], layout=torch.jagged)


def test_rows_of_different_lengths_are_cut_and_put_together_again_in_two_and_three_dimensions() -> None:
    batch = tensordict.TensorDict(
        {
            "flat": torch.arange(4),
            "ids": jagged((2,), (3,), (1,), (4,)),
            "positions": jagged((4, 2), (4, 3), (4, 1), (4, 4)),
            "words": tensordict.NonTensorStack("a", "b", "c", "d"),
        },
        batch_size=4,
    )
    first, second = chunk(batch, 2)
    assert (first["flat"].tolist(), [row.tolist() for row in second["ids"].unbind()]) == ([0, 1], [[2.0], [3.0] * 4])
    assert [tuple(row.shape) for row in second["positions"].unbind()] == [(4, 1), (4, 4)]
    whole = concatenate([first, second])
    assert whole["flat"].tolist() == [0, 1, 2, 3]
    assert [tuple(row.shape) for row in whole["positions"].unbind()] == [(4, 2), (4, 3), (4, 1), (4, 4)]
    assert [row.tolist() for row in whole["ids"].unbind()] == [row.tolist() for row in batch["ids"].unbind()]
    assert list(whole["words"]) == ["a", "b", "c", "d"]


def test_a_batch_without_rows_is_the_first_and_an_unequal_one_is_refused() -> None:
    empty = tensordict.TensorDict({"loss": torch.tensor(1.0)}, batch_size=[])
    assert concatenate([empty, empty.clone()]) is empty
    with pytest.raises(ValueError, match=r"only support equal chunk\. Got size of TensorDict 3 and chunk 2\."):
        chunk(tensordict.TensorDict({"x": torch.arange(3)}, batch_size=3), 2)
