"""Every configuration of RLinf that places something, on nodes of 8 accelerators: no error that RLinf does not raise itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.dialects.load import load
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.report import Report
from placewright.planner.verify import verify

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "rlinf"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")

# RLinf refuses this file even with real addresses: a robot's node 0 is not in its group of nodes 1-2.
OUTSIDE_ITS_GROUP = "realworld_dual_franka_dagger_openpi.yaml"

# The files that RLinf refuses as they are, and the code of the reason.
REFUSED = {
    OUTSIDE_ITS_GROUP: "PW116",
    "eval_qwen3_qa.yaml": "PW106",  # its defaults place the same components under other keys: both stay
    "eval_qwen3_qa_2eng.yaml": "PW106",
    "qwen2.5-1.5b-reinpp-megatron.yaml": "PW123",  # no reward
    "qwen2.5-1.5b-is-megatron.yaml": "PW120",  # OmegaConf: Interpolation key 'rollout.path' not found
}
# Made for nodes of 4: in auto mode all accelerators must be covered.
AUTO = {"qwen2.5-1.5b-grpo-dynamic-mg-sgl.yaml": "PW213", "qwen2.5-1.5b-grpo-dynamic-mg-vllm.yaml": "PW213"}

# Environments that do not divide among 8 processes: `test_rlinf_work.py` compares each with RLinf's own asserts.
ARITHMETIC = ("PW401",)


def files() -> list[Path]:
    return [CORPUS / line for line in (CORPUS / "placement_files.txt").read_text(encoding="utf-8").split()]


def errors_of(report: Report) -> set[str]:
    """The codes of its errors, without placeholders of addresses and what depends on the number of accelerators."""
    placeholders = [f for f in report.errors if f.code == "PW116" and "ROBOT_IP" in f.message]
    return {finding.code for finding in report.errors if finding not in placeholders and finding.code not in ARITHMETIC}


def test_all_files_are_answered_and_nothing_is_refused_that_rlinf_takes() -> None:
    refused, placeholders, warned = {}, 0, set()
    for file in files():
        report = verify(load(file, DeclaredNodes(8), level="placement"))
        if found := errors_of(report):
            refused[file.name] = found
        placeholders += any("ROBOT_IP" in finding.message for finding in report.errors)
        warned |= {finding.code for finding in report.findings if finding.severity is Severity.WARNING}
        if not report.errors:
            assert report.plan is not None
            assert report.pending == ()
    assert len(files()) == 369
    assert placeholders == 28
    assert refused == {name: {code} for name, code in {**REFUSED, **AUTO}.items()}
    assert warned == {"PW122", "PW123"}  # groups outside of the folder; autocast beside mixed precision


def test_real_addresses_in_place_of_the_placeholders_make_the_rest_right(tmp_path: Path) -> None:
    for file in files():
        text = file.read_text(encoding="utf-8")
        if "ROBOT_IP" in text and file.name != OUTSIDE_ITS_GROUP:
            for number in ("_FOR_RANK1", "_FOR_RANK2", ""):
                for side in ("LEFT_", "RIGHT_", ""):
                    text = text.replace(f": {side}ROBOT_IP{number}", f": 10.0.0.{len(number) + len(side) + (number == '_FOR_RANK2')}")
            copy = tmp_path / file.name
            copy.write_text(text, encoding="utf-8")
            assert verify(load(copy, DeclaredNodes(8))).errors == ()


@pytest.mark.slow
def test_without_machines_nothing_is_claimed_and_nothing_is_wrong() -> None:
    for file in files():
        assert errors_of(verify(load(file))) == ({REFUSED[file.name]} if file.name in REFUSED else set())
