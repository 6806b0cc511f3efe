"""A file that goes to a keeper is read there as it was here, also when it and its parts have changed on the disk."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.machines.shorthand import DeclaredNodes, read_shorthand
from placewright.models.reading import Reading
from placewright.planner.write_back import refusing
from placewright.runtime.detached.messages import StoredReading
from placewright.runtime.detached.record import from_line, to_line
from placewright.solver.sandbox.messages import NotOurs

from ...test_refused_by_every_way import HINTED


def again(reading: Reading) -> Reading:
    stored = StoredReading.of(reading)
    read: Reading = from_line(to_line(stored, StoredReading), StoredReading).read()
    return read


def test_what_is_refused_in_it_is_refused_there_too(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(HINTED)
    here = pw.load(tmp_path / "train.yaml", "1x3xH100").to_launch
    (tmp_path / "train.yaml").unlink()
    there = again(here)
    assert (there.problem, there.dialect, there.source) == (here.problem, here.dialect, here.source)
    assert there.problem is not None
    worse = pw.solve(there.problem, sandbox=False).plan  # by the problem alone
    assert worse is not None
    assert [each.code for each in refusing(there)(there.problem, worse)] == ["PW403"]


MAIN = "defaults: [_self_, sizes]\ncomponents:\n  actor: {accelerators: 4}\n  rollout: {accelerators: 4}\n"


@pytest.mark.parametrize("machines", [read_shorthand("2x8xH100"), DeclaredNodes(8), None], ids=["cluster", "each", "none"])
def test_with_the_parts_the_settings_and_the_machines_of_the_command(tmp_path: Path, machines: pw.Cluster | DeclaredNodes | None) -> None:
    (tmp_path / "job.yaml").write_text(MAIN)
    (tmp_path / "sizes.yaml").write_text("cluster: 2x8xH100\n")
    composer = Composer((str(tmp_path),), ("components.actor.accelerators=8",))
    here = load(tmp_path / "job.yaml", machines, "native", "training", composer)
    (tmp_path / "sizes.yaml").write_text("cluster: 1x4xH100\n")
    there = again(here)
    assert there.problem == here.problem
    assert there.document.texts == here.document.texts
    assert (there.findings, there.unchecked) == (here.findings, here.unchecked)


def test_a_plan_alone_has_none_and_what_is_none_is_refused() -> None:
    assert StoredReading.of(None) is None
    with pytest.raises(NotOurs):
        from_line(b'["train.yaml"]', StoredReading)
