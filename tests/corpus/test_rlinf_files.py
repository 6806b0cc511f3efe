"""Every configuration of RLinf that places something, on nodes of 8 accelerators: no error that RLinf does not raise itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.dialects.load import load
from placewright.models.shorthand import AsDeclared
from placewright.solver.verify import verify

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "rlinf"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

# RLinf refuses this file even with real addresses: a robot's node 0 is not in its group of nodes 1-2.
OUTSIDE_ITS_GROUP = "realworld_dual_franka_dagger_openpi.yaml"


def files() -> list[Path]:
    return [CORPUS / line for line in (CORPUS / "placement_files.txt").read_text(encoding="utf-8").split()]


def test_all_files_are_answered_and_only_placeholders_are_refused() -> None:
    refused = {}
    for file in files():
        report = verify(load(file, AsDeclared(8)))
        errors = [finding for finding in report.errors if not (finding.code == "PW116" and "ROBOT_IP" in finding.message)]
        if report.errors:
            refused[file.name] = [(finding.code, finding.message) for finding in errors]
        else:
            assert report.plan is not None
            assert report.pending == ()
    assert len(files()) == 369
    assert len(refused) == 28
    assert {name: errors for name, errors in refused.items() if errors} == {
        OUTSIDE_ITS_GROUP: [("PW116", "node 0 of this DualFranka is not in group `franka`, which has the nodes 1, 2")]
    }


def test_real_addresses_in_place_of_the_placeholders_make_the_rest_right(tmp_path: Path) -> None:
    for file in files():
        text = file.read_text(encoding="utf-8")
        if "ROBOT_IP" in text and file.name != OUTSIDE_ITS_GROUP:
            for number in ("_FOR_RANK1", "_FOR_RANK2", ""):
                for side in ("LEFT_", "RIGHT_", ""):
                    text = text.replace(f": {side}ROBOT_IP{number}", f": 10.0.0.{len(number) + len(side) + (number == '_FOR_RANK2')}")
            copy = tmp_path / file.name
            copy.write_text(text, encoding="utf-8")
            assert verify(load(copy, AsDeclared(8))).errors == ()


def test_without_machines_nothing_is_claimed_and_nothing_is_wrong() -> None:
    for file in files():
        report = verify(load(file))
        assert [finding for finding in report.errors if finding.code != "PW116"] == []
