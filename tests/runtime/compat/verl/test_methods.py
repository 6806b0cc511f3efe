"""Methods marked by `register`, called through a group: what each worker gets and what comes back."""

from __future__ import annotations

import pytest
from placewright.runtime import DataProtoFuture, RayClassWithInitArgs, RayResourcePool, RayWorkerGroup

from ...fake import FakePort
from ...user_code.verl_workers import Actor, Rows


@pytest.fixture
def group() -> RayWorkerGroup:
    return RayWorkerGroup(RayResourcePool([4], max_colocate_count=3, on=FakePort(8)), RayClassWithInitArgs(cls=Actor, x=10))


@pytest.mark.parametrize("size", [1, 4, 8, 10, 19])
def test_a_batch_that_may_be_padded_comes_back_with_its_own_length(group: RayWorkerGroup, size: int) -> None:
    each = -(-size // 4)
    expected = [10 + position // each for position in range(size)]
    assert group.add(Rows([0.0] * size, pads=True)).numbers == expected
    assert group.add(data=Rows([0.0] * size, pads=True)).numbers == expected
    assert group.add_later(Rows([0.0] * size, pads=True)).get().numbers == expected


def test_a_batch_that_may_not_be_padded_must_be_divisible(group: RayWorkerGroup) -> None:
    assert len(group.add(Rows([0.0] * 8))) == 8
    with pytest.raises(ValueError, match=r"only support equal chunk\. Got size of Rows 10 and chunk 4\."):
        group.add(Rows([0.0] * 10))


def test_a_method_that_does_not_block_gives_a_batch_to_be(group: RayWorkerGroup) -> None:
    first = group.add_later(Rows([0.0] * 4))
    assert isinstance(first, DataProtoFuture)
    assert first.get().numbers == [10, 11, 12, 13]
    assert group.add(first).numbers == [20, 22, 24, 26]
    assert group.add(group.add_later(Rows([0.0] * 6, pads=True))).numbers == [20, 20, 22, 22, 24, 24]


def test_over_a_mesh_ranks_of_one_share_get_one_chunk_and_those_that_count_answer(group: RayWorkerGroup) -> None:
    assert group.over_mesh(Rows([1.0, 2.0, 3.0, 4.0])).numbers == [1, 2, 203, 204]
    calls = len([call for call in group.port.calls if call == "ask"])
    group.over_mesh(Rows([1.0, 2.0]))
    assert len([call for call in group.port.calls if call == "ask"]) - calls == 4


def test_what_is_known_of_a_mesh_can_be_read_and_said(group: RayWorkerGroup) -> None:
    group.over_mesh(Rows([1.0, 2.0]))
    assert group._dispatch_info == {"train": [0, 0, 1, 1]}
    assert group._collect_info == {"train": [True, False, True, False]}
    group._dispatch_info["train"] = group._query_dispatch_info("train")


def test_lists_and_measures_stay_lists(group: RayWorkerGroup) -> None:
    assert group.take([1, 2, 3, 4]) == [1, 3, 5, 7]
    assert group.execute_all_sync(method_name="foo", y=[1, 2, 3, 4]) == group.execute_all_sync("foo", [1, 2, 3, 4])
    assert group.length(Rows([0.0] * 10, pads=True)) == [3, 3, 3, 3]


def test_a_bound_method_is_of_a_class_of_its_name(group: RayWorkerGroup) -> None:
    assert type(group.add).__name__ == "add"
