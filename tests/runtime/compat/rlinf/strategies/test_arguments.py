"""Arguments of a wrong type are refused as findings, not as a TypeError."""

from __future__ import annotations

from typing import Any, Callable

import placewright as pw
import pytest


@pytest.mark.parametrize(
    "make",
    [
        lambda: pw.FlexiblePlacementStrategy([0, 1]),
        lambda: pw.FlexiblePlacementStrategy([[[0]]]),
        lambda: pw.FlexiblePlacementStrategy(3),
        lambda: pw.FlexiblePlacementStrategy(["01"]),
        lambda: pw.NodePlacementStrategy(5),
        lambda: pw.PackedPlacementStrategy(0, 7, node_group=5).get_placement(pw.cluster("1x8")),
    ],
)
def test_a_wrong_type_is_a_finding(make: Callable[[], Any]) -> None:
    with pytest.raises(pw.UnusableInput) as caught:
        make()
    assert {finding.code for finding in caught.value.findings} == {"PW119"}
    assert all(finding.help for finding in caught.value.findings)
