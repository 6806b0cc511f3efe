"""The nodes of a Ray cluster, in an order that does not change from one start to the next."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime.port import on_ray
from placewright.runtime.world.inventory import inventory


def entry(node_id: str, address: str, **labels: str) -> dict[str, Any]:
    """A node as `ray.nodes` tells it; dots in a label are written as two underscores."""
    named = {name.replace("__", ".").replace("_", "-") if "__" in name else name: value for name, value in labels.items()}
    return {
        "NodeID": node_id,
        "NodeManagerHostname": f"host-{node_id}",
        "NodeManagerAddress": address,
        "Labels": named,
        "Resources": {"GPU": 8.0},
    }


def order(monkeypatch: pytest.MonkeyPatch, *entries: dict[str, Any]) -> list[str]:
    pytest.importorskip("ray")
    monkeypatch.setattr(on_ray, "alive_nodes", lambda: list(entries))
    monkeypatch.setattr(on_ray, "free_resources", lambda: {"a": {"GPU": 3.0}})
    return [node.node_id for node in inventory(on_ray.RayPort())]


def test_addresses_are_numbers_and_not_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, entry("a", "10.0.0.10"), entry("b", "10.0.0.9"), entry("c", "9.0.0.200")) == ["c", "b", "a"]


def test_a_rank_label_comes_before_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = [entry("a", "10.0.0.1", placewright__node_rank="10"), entry("b", "10.0.0.2", placewright__node_rank="9"), entry("c", "10.0.0.3")]
    assert order(monkeypatch, *ours) == ["b", "a", "c"]
    assert order(monkeypatch, entry("a", "10.0.0.1", RLINF_NODE_RANK="1"), entry("b", "10.0.0.2", RLINF_NODE_RANK="0")) == ["b", "a"]


def test_a_label_that_is_no_number_is_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, entry("b", "10.0.0.2", placewright__node_rank="-1"), entry("a", "10.0.0.1")) == ["a", "b"]


def test_nodes_of_one_address_are_told_apart_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert order(monkeypatch, entry("b", "10.0.0.1"), entry("a", "10.0.0.1")) == ["a", "b"]


def test_what_is_free_is_known_beside_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    order(monkeypatch, entry("a", "10.0.0.1"), entry("gone", "10.0.0.2"))
    used, gone = inventory(on_ray.RayPort())
    assert (used.total["GPU"], used.free["GPU"]) == (8.0, 3.0)
    assert gone.free == {}
