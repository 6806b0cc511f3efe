"""Plain data as frames of bytes: JSON plus arrays and bytes. No frame can name or run code.

A JSON object has a single key for its type: ``d`` a dict, ``a`` an array, ``b`` bytes.
"""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Sequence

KINDS = "biuf"
"""Numeric kinds of arrays that can be sent: bool, int, unsigned int, float. Objects cannot."""
Frame = Any
"""Bytes, or a buffer readable without a copy."""


class Malformed(ValueError):
    """Message that is not plain data."""


def encode(value: Any) -> list[Frame]:
    """Encode None, bool, numbers, text, bytes, lists, dicts with text keys, and arrays.

    A tuple arrives as a list. Raises Malformed for anything else.
    """
    frames: list[Frame] = [b""]
    tree = _pack(value, frames)
    try:
        frames[0] = json.dumps(tree, allow_nan=False).encode()
    except ValueError as problem:
        raise Malformed(f"cannot be sent: {problem}") from None
    return frames


def decode(frames: Sequence[Frame]) -> Any:
    """Decode frames to a value; arrays are read-only. Raises Malformed."""
    if not frames:
        raise Malformed("a message without frames")
    rest = [memoryview(frame) for frame in frames[1:]]

    def unpack(tagged: dict[str, Any]) -> Any:
        if len(tagged) == 1:
            (tag, value), = tagged.items()  # fmt: skip
            if tag in _UNPACK:
                return _UNPACK[tag](value, rest)
        raise Malformed("an object that says not what it is")

    try:
        return json.loads(bytes(frames[0]), object_hook=unpack)
    except (ValueError, RecursionError) as problem:
        raise problem if isinstance(problem, Malformed) else Malformed(f"no JSON: {problem}") from None


def _pack(value: Any, frames: list[Frame]) -> Any:
    if value is None or (isinstance(value, (bool, int, float, str)) and not hasattr(value, "dtype")):
        return value
    if isinstance(value, (list, tuple)):
        return [_pack(element, frames) for element in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Malformed("cannot be sent: a dict whose keys are not text")
        return {"d": [[key, _pack(element, frames)] for key, element in value.items()]}
    if isinstance(value, (bytes, bytearray, memoryview)):
        frames.append(bytes(value))
        return {"b": len(frames) - 2}
    if hasattr(value, "dtype") and value.dtype.kind in KINDS:
        return _pack_array(value, frames)
    raise Malformed(f"cannot be sent: {type(value).__name__}")


def _pack_array(value: Any, frames: list[Frame]) -> Any:
    import numpy as np

    array = np.ascontiguousarray(value)
    frames.append(array.tobytes())
    return {"a": [len(frames) - 2, array.dtype.str, list(np.shape(value))]}


def _dict(value: Any, rest: list[memoryview]) -> Any:
    if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value):
        raise Malformed("a dict that is not made of pairs")
    return dict(value)


def _bytes(value: Any, rest: list[memoryview]) -> bytes:
    if not isinstance(value, int) or not 0 <= value < len(rest):
        raise Malformed("bytes that are not there")
    return bytes(rest[value])


def _array(value: Any, rest: list[memoryview]) -> Any:
    import numpy as np

    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[1], str) or not isinstance(value[2], list):
        raise Malformed("an array that is not described")
    data = _bytes(value[0], rest)
    try:
        dtype = np.dtype(value[1])
    except TypeError:
        raise Malformed("an array of unknown numbers") from None
    shape = value[2]
    if dtype.kind not in KINDS or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise Malformed("an array of what are no numbers")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise Malformed("an array whose size is not that of its bytes")
    return np.frombuffer(data, dtype).reshape(shape)


_UNPACK: dict[str, Callable[[Any, list[memoryview]], Any]] = {"d": _dict, "b": _bytes, "a": _array}
