"""Arguments become options of a command line."""

from __future__ import annotations

import pytest
from placewright.runtime.engines.external import options


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"max_model_len": 128, "dtype": "auto"}, ["--max-model-len=128", "--dtype=auto"]),
        ({"enforce_eager": True, "revision": None}, ["--enforce-eager"]),
        ({"hf_overrides": {"a": [1, "b"]}}, ['--hf-overrides={"a": [1, "b"]}']),
        ({"cuda_graph_sizes": [1, 2]}, ["--cuda-graph-sizes", "1", "2"]),
        ({"revision": "-x"}, ["--revision=-x"]),
    ],
)
def test_each_kind_of_value_has_its_way(arguments: dict[str, object], expected: list[str]) -> None:
    assert options(arguments) == expected


def test_what_is_false_is_said_only_where_the_program_can_be_told() -> None:
    assert options({"enable_prefix_caching": False}) == []
    assert options({"enable_prefix_caching": False}, "no-") == ["--no-enable-prefix-caching"]
