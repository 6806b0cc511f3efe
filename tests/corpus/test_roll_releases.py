"""Files of each release of ROLL, judged for it: what is refused is what the release refuses.

The environment variable PLACEWRIGHT_ROLL_RELEASES names a folder of checkouts, one for each release.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.dialects.roll.names import RELEASES
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.releases.release import read_releases
from placewright.planner.verify import verify
from placewright.tools.roll_profile import merge, profile

CHECKOUTS = Path(os.environ.get("PLACEWRIGHT_ROLL_RELEASES", ""))
NAMES = [release.name for release in read_releases(RELEASES)]
pytestmark = pytest.mark.skipif(not os.environ.get("PLACEWRIGHT_ROLL_RELEASES"), reason="no checkouts of ROLL are named")

OLD, FIRST = ("0.1.0", "0.1.1", "0.1.3"), ("0.1.0",)
REFUSED = {
    "docs_examples/example_topr.yaml": ({"PW101"}, tuple(NAMES)),  # no `critic` with gae: range(None), resource_manager.py:135
    "qwen2.5-7B-rlvr_megatron/rlvr_qwen2.5_7B_seperate.yaml": ({"PW205"}, tuple(NAMES[len(OLD) :])),  # model_update_group.py:19
    "agentic_demo/agent_val_frozen_lake_multi_nodes_demo.yaml": ({"PW403"}, FIRST),  # 1 % 16: agentic_config.py:62
    "agentic_demo/agent_val_frozen_lake_single_node_demo.yaml": ({"PW403"}, FIRST),
}
"""Example -> the codes of what is refused, and the releases that refuse it."""


@pytest.mark.parametrize("name", NAMES)
def test_no_example_is_refused_that_its_release_accepts(name: str) -> None:
    root, machines = CHECKOUTS / name, read_shorthand("40x8xH100")
    files = [file for file in sorted((root / "examples").rglob("*.yaml")) if "device_mapping" in file.read_text("utf-8")]
    assert len(files) > 30
    refused = {}
    for file in files:
        composer = Composer((str(root), str(root / "examples")), frameworks=(f"roll=={name}",))
        found = verify(load(file, machines, "roll", "training", composer)).findings
        if codes := {each.code for each in found if each.severity is Severity.ERROR}:
            refused[file.relative_to(root / "examples").as_posix()] = codes
    expected = {file: codes for file, (codes, releases) in REFUSED.items() if name in releases}
    assert refused == expected


def test_the_facts_are_those_of_the_checkouts() -> None:
    import json

    data = json.loads((RELEASES.parent / "keys.json").read_text("utf-8"))
    assert merge({name: profile(CHECKOUTS / name) for name in NAMES}) == data
