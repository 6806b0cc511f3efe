"""Dispatch modes: the table, and marks on methods."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest
from placewright.runtime import DataProtoFuture, Dispatch, Execute, register
from placewright.runtime.compat.verl.dispatch import PADDING, find_registered, functions_of

from ...user_code.verl_workers import Rows


class Group:
    """All that a dispatch function may know of a group."""

    world_size = 2

    def is_awaited(self, answer: object) -> bool:
        return False


def test_modes_are_the_same_objects_in_every_process() -> None:
    assert copy.deepcopy(Dispatch.DP_COMPUTE) is Dispatch.DP_COMPUTE
    assert (len(Dispatch), len(Execute)) == (7, 2)


def test_a_mark_keeps_the_method_as_it_is_and_says_how_it_is_called() -> None:
    @register(Dispatch.ONE_TO_ALL, blocking=False)
    def plain(self: object, x: int) -> int:
        """Says x."""
        return x

    @register()
    async def later(self: object) -> None: ...

    how = find_registered(plain)
    assert how is not None
    assert (how.dispatch_mode, how.execute_mode, how.blocking) == (Dispatch.ONE_TO_ALL, Execute.ALL, False)
    assert (plain(None, 3), plain.__doc__, inspect.iscoroutinefunction(later)) == (3, "Says x.", True)
    assert find_registered(test_modes_are_the_same_objects_in_every_process) is None


def test_a_future_among_the_arguments_is_its_value() -> None:
    future = DataProtoFuture([Rows([1]), Rows([2])], fetch=list)

    @register()
    def value(data: Rows, *, other: Rows) -> list[float]:
        return data.numbers + other.numbers

    assert value(future, other=future) == [1, 2, 1, 2]


def dispatched(mode: Dispatch, *arguments: Any, **named: Any) -> Any:
    return functions_of(mode)[0](Group(), *arguments, **named)


def test_one_to_all_copies_and_all_to_all_leaves_as_it_is() -> None:
    assert dispatched(Dispatch.ONE_TO_ALL, 1, x=[2]) == (([1, 1],), {"x": [[2], [2]]})
    assert dispatched(Dispatch.ALL_TO_ALL, 1, x=[2]) == ((1,), {"x": [2]})


def test_dp_compute_wants_one_element_for_each_worker_and_leaves_the_rest_to_the_rule_of_sharding() -> None:
    assert dispatched(Dispatch.DP_COMPUTE, (1, 2), x=[3, 4]) == (((1, 2),), {"x": [3, 4]})
    for wrong in ([1], 1, "no"):
        with pytest.raises(ValueError, match=r"argument x must have one element for each of 2 workers, it (has 1|is a int|is a str)"):
            dispatched(Dispatch.DP_COMPUTE, x=wrong)


def test_batches_are_cut_into_equal_chunks_or_padded_first() -> None:
    (chunks,), named = dispatched(Dispatch.DP_COMPUTE_PROTO, Rows([1, 2, 3, 4]))
    assert ([chunk.numbers for chunk in chunks], named) == ([[1, 2], [3, 4]], {})
    with pytest.raises(ValueError, match=r"only support equal chunk\. Got size of Rows 3 and chunk 2\."):
        dispatched(Dispatch.DP_COMPUTE_PROTO, Rows([1, 2, 3]))
    rows = Rows([1, 2, 3], pads=True)
    (chunks,), named = dispatched(Dispatch.DP_COMPUTE_PROTO, rows)
    assert ([chunk.numbers for chunk in chunks], list(named.values())) == ([[1, 2], [3, 3]], [1])
    assert rows.numbers == [1, 2, 3]
    with pytest.raises(ValueError, match="batches that are padded must have one length, these have 3 and 1"):
        dispatched(Dispatch.DP_COMPUTE_PROTO, rows, other=Rows([1], pads=True))
    with pytest.raises(ValueError, match="a int cannot be cut into chunks"):
        dispatched(Dispatch.DP_COMPUTE_PROTO, 3)


def test_a_function_goes_to_all_and_its_batches_are_cut() -> None:
    def function(worker: object, data: Rows) -> Rows:
        return data

    functions, chunks = dispatched(Dispatch.DP_COMPUTE_PROTO_WITH_FUNC, function, Rows([1, 2]))[0]
    assert (functions, [chunk.numbers for chunk in chunks]) == ([function] * 2, [[1], [2]])
    with pytest.raises(ValueError, match="the first argument must be a function"):
        dispatched(Dispatch.DP_COMPUTE_PROTO_WITH_FUNC, Rows([1, 2]))


def test_answers_become_one_batch_or_stay_a_list() -> None:
    rows = [Rows([1]), Rows([2])]
    assert functions_of(Dispatch.DP_COMPUTE_PROTO)[1](Group(), rows).numbers == [1, 2]
    assert functions_of(Dispatch.DP_COMPUTE_METRIC)[1](Group(), rows) is rows
    with pytest.raises(ValueError, match="answers of several types cannot be put together: Rows, int"):
        functions_of(Dispatch.DP_COMPUTE_PROTO)[1](Group(), [Rows([1]), 2])
    with pytest.raises(ValueError, match="answers of type int cannot be put together"):
        functions_of(Dispatch.DP_COMPUTE_PROTO)[1](Group(), [1, 2])


def test_a_future_is_cut_before_it_is_there() -> None:
    future = DataProtoFuture([Rows([1, 2]), Rows([3, 4, 4])], padding=1, fetch=list)
    assert future.get().numbers == [1, 2, 3, 4]
    fifths = future.chunk(5)
    assert [fifth.get().numbers for fifth in fifths] == [[1], [2], [3], [4], [4]]
    assert dispatched(Dispatch.DP_COMPUTE_PROTO, future)[1] == {PADDING: 1}
    quarter = DataProtoFuture([Rows([1, 2]), Rows([3, 4])], fetch=list).chunk(2)[1].chunk(2)[0]
    assert quarter.get().numbers == [3]
    assert DataProtoFuture.concat([1, 2]).parts == [1, 2]
