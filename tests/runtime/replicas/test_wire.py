"""What goes between a server and its workers: plain data arrives as it left, anything else is refused, nothing is run."""

from __future__ import annotations

import contextlib
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.runtime.replicas.wire import MalformedMessage, decode, encode

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_data_arrives_as_it_left(value: Any) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize("value", [object(), {1: 2}, [{"a": {None: 2}}], {"a": {1}}, b"x", float("nan"), [float("inf")], ValueError("x")])
def test_what_is_no_plain_data_does_not_leave(value: Any) -> None:
    with pytest.raises(MalformedMessage):
        encode(value)


BAD = (b"", b"{", b"\xff\xfe", b"[" * 100_000, pickle.dumps(OSError))


@pytest.mark.parametrize("data", BAD)
def test_bytes_that_are_no_plain_data_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(data)


@given(st.binary(max_size=30))
def test_whatever_comes_is_data_or_refused(data: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        decode(data)
