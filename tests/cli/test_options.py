"""What `--cluster` accepts."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.cli.options.shared import DIALECTS, read_machines
from placewright.models.dialect_names import DIALECTS as KNOWN
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import DeclaredNodes


def test_a_shorthand() -> None:
    machines = read_machines("2x8xH100+1x0")
    assert isinstance(machines, Cluster)
    assert [len(node.accelerators) for node in machines.nodes] == [8, 8, 0]
    assert read_machines("x8") == DeclaredNodes(8)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("nodes: [{repeat: 3, accelerators: {count: 4, model: H100}}]")
    machines = read_machines(str(path))
    assert isinstance(machines, Cluster)
    assert machines.total() == 12


def test_what_is_neither_says_both_ways_out() -> None:
    with pytest.raises(UnusableInput) as caught:
        read_machines("tow-nodes")
    (finding,) = caught.value.findings
    assert finding.code == "PW001"
    assert "2x8xH100" in finding.help


def test_a_shorthand_that_cannot_be_is_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="NODESxACCELERATORS"):
        read_machines("2x8x")


def test_every_dialect_can_be_named() -> None:
    assert ("auto", *KNOWN) == DIALECTS
