"""Ray's versions: too old ones are refused, and those whose placement groups obey no label are pinned by address."""

from __future__ import annotations

import pytest
from placewright.runtime.failure import UNUSABLE, LaunchFailed
from placewright.runtime.port import ray_compat
from placewright.runtime.port.ray_compat import need_ray, pin, selects_by_label

ray = pytest.importorskip("ray")
BUNDLES = [("b", {"GPU": 8.0}), ("a", {"node:10.0.0.1": 0.001, "CPU": 2.0})]


def test_a_ray_that_was_never_tried_is_refused_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "__version__", "2.40.0")
    with pytest.raises(LaunchFailed, match=r"launching needs Ray 2.41 or newer; this is 2.40.0") as caught:
        need_ray()
    assert (caught.value.findings[0].code, caught.value.exit_code) == ("PW708", UNUSABLE)


@pytest.mark.parametrize(("version", "label"), [("2.41.0", False), ("2.48.0", False), ("2.49.0", True), ("2.60.0", True), ("3.0.0", True)])
def test_labels_are_obeyed_from_2_49_on(version: str, label: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "__version__", version)
    assert selects_by_label() == label


def nodes(monkeypatch: pytest.MonkeyPatch, **addresses: str) -> None:
    monkeypatch.setattr(ray, "__version__", "2.48.0")
    found = [{"NodeID": id, "NodeManagerAddress": address} for id, address in addresses.items()]
    monkeypatch.setattr(ray_compat, "alive_nodes", lambda: found)


def test_older_ones_pin_a_bundle_by_the_address_of_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes(monkeypatch, a="10.0.0.1", b="10.0.0.2")
    assert pin(BUNDLES) == ([{"node:10.0.0.2": 0.001, "GPU": 8.0}, {"node:10.0.0.1": 0.001, "CPU": 2.0}], {})


def test_nodes_at_one_address_are_refused_by_older_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes(monkeypatch, a="10.0.0.1", b="10.0.0.1")
    with pytest.raises(LaunchFailed, match=r"nodes share an address, so that Ray 2.48.0 cannot tell them apart"):
        pin(BUNDLES)


def test_newer_ones_pin_it_by_the_label_of_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "__version__", "2.49.0")
    resources, options = pin(BUNDLES)
    assert (resources, options) == (
        [dict(each) for _, each in BUNDLES],
        {"bundle_label_selector": [{"ray.io/node-id": "b"}, {"ray.io/node-id": "a"}]},
    )
