"""What a program reads of estimates of memory in the account of a plan."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
from placewright.report.planning.assumptions import assumptions
from placewright.report.planning.data import to_data

FILE = """
cluster: 1x8xH100
components:
  rollout: {seconds: {4: 100, 8: 55}, memory: 60GiB}
  actor: {accelerators: 4, seconds: {4: 60}, estimate: {model: Qwen/Qwen2.5-7B, sharding: zero3, sequence: 4096}}
plan: {workflow: rollout -> actor, batches: 16}
"""


def test_every_term_of_an_estimate_has_its_formula_and_its_source(tmp_path: Path) -> None:
    """The text names what is only estimated, and where its terms are; what is declared has none."""
    (tmp_path / "train.yaml").write_text(FILE)
    account = pw.account(tmp_path / "train.yaml", sandbox=False)
    bills = to_data(account)["memory"]
    assert isinstance(bills, list)
    estimates = {name: its for bill in bills for name, its in bill.get("estimates", {}).items()}
    assert list(estimates) == ["actor"]
    optimizer = next(each for each in estimates["actor"] if each["term"] == "optimizer")
    assert optimizer == {
        "term": "optimizer", **dict.fromkeys(("mebibytes", "low", "high"), 7_615_616_512 * 12 // 4 // 2**20 + 1), "formula": "7,615,616,512 parameters x 12 bytes / 4 ranks",
        "source": "ZeRO, arXiv 1910.02054, section 3.1 and figure 1",
    }  # fmt: skip
    assert all(each["formula"] and each["source"] for each in estimates["actor"])
    peaks = [
        entry["mebibytes"] for bill in bills for part in bill["parts"] for entry in part["components"] if entry["component"] == "actor"
    ]
    assert 0 <= sum(each["mebibytes"] for each in estimates["actor"]) - max(peaks) < len(estimates["actor"])  # each is rounded up
    assert "actor: memory by an estimate, not measured (`--format json` has each term)" in assumptions(account)
