"""The key `estimate` of a component: what it takes, and what it says when it cannot be."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.estimate import MemoryInput
from placewright.models.reading import Reading

JOB = "cluster: 1x8xH100\ncomponents:\n  {name}: {{accelerators: 8, estimate: {estimate}}}\n"


def read(folder: Path, estimate: str, name: str = "actor") -> Reading:
    (folder / "job.yaml").write_text(JOB.format(name=name, estimate=estimate))
    return pw.load(folder / "job.yaml")


def estimate_of(reading: Reading) -> MemoryInput | None:
    assert reading.problem is not None and not reading.findings, reading.findings
    return reading.problem.components[0].estimate


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("7B", 7 * 10**9), ("7b", 7 * 10**9), ("7.6B", 7_600_000_000), ("494M", 494_000_000), ("1.5T", 15 * 10**11), ("7615616512", 7_615_616_512),
        ("'40 M'", 40_000_000), ("671026419200", 671_026_419_200), ("0.5B", 500_000_000), ("800K", 800_000),
    ],
)  # fmt: skip
def test_numbers_of_parameters(text: str, count: int, tmp_path: Path) -> None:
    found = estimate_of(read(tmp_path, f"{{parameters: {text}}}"))
    assert found == MemoryInput(parameters=count) and found is not None and found.written == ("parameters",)


@pytest.mark.parametrize("text", ["0", "-7B", "7Q", "seven", "true", "[7B]", "1e30", "''", "0.1", "900T"])
def test_what_is_no_number_of_parameters(text: str, tmp_path: Path) -> None:
    (finding,) = read(tmp_path, f"{{parameters: {text}}}").findings
    assert finding.code == "PW105" and finding.span is not None and "`estimate.parameters`" in finding.message


@pytest.mark.parametrize(("text", "percent"), [("60", 60), ("0.6", 60), ("0.85", 85), ("0.001", 1), ("1.0", 100), ("1", 1), ("100", 100)])
def test_the_part_that_an_engine_takes(text: str, percent: int, tmp_path: Path) -> None:
    assert estimate_of(read(tmp_path, f"{{utilization: {text}}}", "rollout")) == MemoryInput(utilization=percent)


def test_everything_may_be_left_out(tmp_path: Path) -> None:
    assert estimate_of(read(tmp_path, "{}")) == MemoryInput()


@pytest.mark.parametrize(
    ("estimate", "code", "words"),
    [
        ("{precision: fp8}", "PW121", "trains all its weights in `fp8`"), ("{parameters: 1B, trainable: 2B}", "PW121", "trains 2,000,000,000 of"),
        ("{sharding: zero}", "PW105", "not a known sharding"), ("{recompute: some}", "PW105", "not a known recomputation"), ("{utilization: 60.5}", "PW105", "utilization"),
        ("{utilization: 101}", "PW105", "utilization"), ("{sequence: 0}", "PW105", "sequence"), ("{offload: maybe}", "PW105", "offload"),
        ("{sharding: megatron, shards: 4}", "PW121", "divides nothing among 4 ranks"), ("{shards: 0}", "PW105", "shards"),
        ("{parameter: 7B}", "PW104", "unknown key `estimate.parameter`"), ("7B", "PW105", "estimate"),
    ],
)  # fmt: skip
def test_what_cannot_be(estimate: str, code: str, words: str, tmp_path: Path) -> None:
    found = read(tmp_path, estimate).findings
    assert [each.code for each in found] == [code] and words in found[0].message and found[0].help


@pytest.mark.parametrize(("name", "optimizer"), [("rollout", ""), ("actor", "none"), ("actor", "adam")])
def test_what_is_not_trained_whole_may_have_any_precision(name: str, optimizer: str, tmp_path: Path) -> None:
    more = f", optimizer: {optimizer}" if optimizer else ""
    adapters = ", trainable: 40M" if optimizer == "adam" else ""
    assert estimate_of(read(tmp_path, f"{{parameters: 7B, precision: int4{more}{adapters}}}", name)) is not None


@pytest.mark.parametrize(
    ("more", "help_"),
    [
        ("accelerators: 8", "ask for 3 instead of 8 for actor"), ("accelerators: 10, parallel: {tp: 2}", "instead of 10 for actor"),
        ("accelerators: 6", ""), ("accelerators: 2", ""), ("accelerators: 2-8", ""), ("accelerators: 7-8", "instead of 7 for actor"),
        ("accelerators: 12, parallel: {tp: [1, 3]}", ""), ("accelerators: 8, parallel: {tp: [1, 4]}", ""),
    ],
)  # fmt: skip
def test_ranks_divide_into_whole_groups_of_shards(more: str, help_: str) -> None:
    text = f"cluster: 1x16xH100\ncomponents: {{actor: {{{more}, estimate: {{parameters: 7B, sharding: fsdp, shards: 3}}}}}}\n"
    answer = pw.solve(text, sandbox=False)
    assert (answer.plan is None) == bool(help_) and (not help_ or help_ in answer.findings[0].help)


def test_given_ranks_that_do_not_divide_into_groups_of_shards_leave_the_hints_of_a_framework_as_they_are(tmp_path: Path) -> None:
    text = "cluster:\n  num_nodes: 2\n  component_placement: {actor: 0-8}\nplacewright:\n  components:\n"
    text += "    actor: {memory: 60GiB, estimate: {parameters: 7B, sharding: zero3, shards: 8, sequence: 8192}}\n"
    (tmp_path / "job.yaml").write_text(text)
    found = pw.verify(tmp_path / "job.yaml", cluster="2x8xH100")
    assert [(each.code, each.message) for each in found.errors] == [
        ("PW221", "the 9 ranks of `actor` do not divide into groups of 8 shards: 1 would be left")
    ]
    assert not any("memory" in each.why for each in found.unchecked)
