"""Amounts and holders in words: what every refusal for want of something says."""

from __future__ import annotations

import pytest
from placewright.runtime.port.port import Holding, RayBundle
from placewright.runtime.reserving.reservation import amount_of, format_holders, list_held
from placewright.runtime.world.vendors import RESOURCES


@pytest.mark.parametrize("resource", RESOURCES)
def test_accelerators_of_every_maker_are_called_so(resource: str) -> None:
    assert (amount_of(resource, 8.0), amount_of(resource, 1.0)) == ("8 accelerators", "1 accelerator")


def test_processors_are_counted_and_other_resources_keep_their_names() -> None:
    assert [amount_of("CPU", amount) for amount in (0.5, 1, 3)] == ["0.5 CPUs", "1 CPU", "3 CPUs"]
    assert [amount_of("license", amount) for amount in (1, 2)] == ["1 `license`", "2 `license`"]


def test_what_a_reservation_holds_of_a_node_in_several_bundles_is_one_sum() -> None:
    job = Holding("job", (RayBundle("a", {"GPU": 2.0}), RayBundle("a", {"GPU": 1.0, "CPU": 4.0}), RayBundle("b", {"CPU": 1.0})))
    held = list_held([job, Holding("other", (RayBundle("a", {"GPU": 1.0}),))], "GPU")
    assert held == {"a": {"job": 3.0, "other": 1.0}}
    assert format_holders(held["a"]) == "3 by `job`, 1 by `other`"
