"""What `placewright.runtime` offers by name, and what it loads for that."""

from __future__ import annotations

import subprocess
import sys

import placewright.runtime as runtime
import pytest

ALSO_CALLED = {"get_rollout_replica_class": "get_replica_class"}


def test_every_name_is_there() -> None:
    for name in runtime.__all__:
        assert getattr(runtime, name).__name__ == ALSO_CALLED.get(name, name)
    assert set(runtime.__all__) <= set(dir(runtime))


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = runtime.Nothing  # type: ignore[attr-defined]


def test_names_load_neither_ray_nor_numpy() -> None:
    loaded = "import sys; from placewright.runtime import *; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    said = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert not {"ray", "numpy", "fastapi", "ortools"} & set(said)
