"""What goes between a server and its workers: plain data arrives as it left, anything else is refused, nothing is run."""

from __future__ import annotations

import contextlib
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.runtime.replicas.wire import Malformed, decode, encode

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
DTYPES = ("bool", "i1", "u2", "<i4", ">i8", "f2", "f4", "f8")


@given(PLAIN)
def test_plain_data_arrives_as_it_left(value: Any) -> None:
    assert decode(encode(value)) == value


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=3), st.booleans())
def test_arrays_arrive_bit_for_bit(dtype: str, shape: list[int], transposed: bool) -> None:
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    array = array.T if transposed else array
    (got,) = decode(encode([array]))
    assert (got.dtype, got.shape) == (array.dtype, array.shape)
    assert got.tobytes() == array.tobytes()


def test_numbers_of_numpy_are_arrays_without_dimensions() -> None:
    assert decode(encode(np.float64(0.5))).shape == ()


@pytest.mark.parametrize("value", [object(), {1: 2}, {"a": {1}}, np.array([object()]), float("nan"), [float("inf")], ValueError("x")])
def test_what_is_no_plain_data_does_not_leave(value: Any) -> None:
    with pytest.raises(Malformed):
        encode(value)


BAD = (
    [],
    [b""],
    [b"{"],
    [b'{"x": 1}'],
    [b'{"d": 1}'],
    [b'{"d": [[1, 2]]}'],
    [b'{"d": [], "b": 0}'],
    [b'{"b": 0}'],
    [b'{"b": -1}', b"x"],
    [b'{"b": true}', b"x"],
    [b'{"a": [0, "f8", [1]]}', b"x"],
    [b'{"a": [0, "O", [1]]}', b"12345678"],
    [b'{"a": [0, "nonsense", [1]]}', b"12345678"],
    [b'{"a": [0, "f8", [-1]]}', b"12345678"],
    [b'{"a": [0, "f8", ["1"]]}', b"12345678"],
    [b'{"a": 0}', b"12345678"],
    [b"\xff\xfe"],
    [b"[" * 100_000],
    [pickle.dumps(OSError)],
)


@pytest.mark.parametrize("frames", BAD)
def test_bytes_that_are_no_plain_data_are_refused(frames: list[bytes]) -> None:
    with pytest.raises(Malformed):
        decode(frames)


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=3))
def test_whatever_comes_is_data_or_refused(frames: list[bytes]) -> None:
    with contextlib.suppress(Malformed):
        decode(frames)
