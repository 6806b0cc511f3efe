"""The devices of workers as ROLL reads them."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.findings.span import apply_edits

from .pipelines import RLVR, changed, mended, of, said, sizes, the, where


@pytest.mark.parametrize(
    ("strategy", "written", "each"), [("vllm", 1, 2), ("sglang", 4, 4), ("megatron_infer", 4, 1), ("fsdp2_infer", 1, 1), ("hf_infer", 1, 1)]
)
def test_devices_of_a_worker_follow_from_its_strategy(strategy: str, written: int, each: int) -> None:
    args = {"strategy_args": {"strategy_name": strategy, "strategy_config": {"tensor_parallel_size": 2}}, "num_gpus_per_worker": written}
    reading = of({"teacher": {**args, "device_mapping": "list(range(0,8))"}, "student": {"device_mapping": "[0]"}})
    assert sizes(reading)["teacher"] == 8 // each
    assert [finding.code for finding in reading.findings if finding.code == "PW126"] == ["PW126"] * (written != each)


def test_without_a_strategy_a_worker_has_what_is_written() -> None:
    assert where(of({"sft_train": {"device_mapping": "[3, 2, 1, 0]", "num_gpus_per_worker": 2}}), "sft_train") == [
        [(0, 3), (0, 2)],
        [(0, 1), (0, 0)],
    ]


def test_what_is_replaced_is_written_as_it_becomes() -> None:
    reading = of(changed(RLVR, actor_train={"world_size": 3}))
    assert the(reading, "PW126").message == "`actor_train.world_size` is 3, but ROLL replaces it with 8: 8 device ids // 1 per worker"
    assert said(mended(reading, "PW126")) == []


def test_devices_are_divided_among_workers() -> None:
    reading = of(changed(RLVR, actor_infer={"device_mapping": "list(range(0,7))"}))
    assert the(reading, "PW111").help == "name 6 or 8 devices: `list(range(0,6))`, or give each worker 1"
    assert sizes(mended(reading, "PW111"))["actor_infer"] == 3


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("[0, 1, 2, 3]", "list(range(0,4))"),
        ("\n  - 0\n  - 2\n  - 5", "list([0,2,5])"),
        ("\n    - 7\n    - 6\n    - 5 # last", "list(range(7,4,-1))"),
    ],
)
def test_a_yaml_list_is_understood_and_written_as_text(written: str, after: str) -> None:
    text = f"sft_train:\n  device_mapping: {written}\n  name: x\n"
    reading = of(text)
    assert the(reading, "PW105").help == f"write `{after}`"
    again = mended(reading, "PW105")
    assert said(again) == []
    assert where(again, "sft_train") == where(reading, "sft_train")


@pytest.mark.parametrize("value", ["7", "~", "{a: 1}", "[a]", "1.5", "true", '""', "0-7", "range(8", "[-1]"])
def test_what_is_no_text_of_ids_is_refused(value: str) -> None:
    reading = of(f"sft_train: {{device_mapping: {value}}}\n" if value != "0-7" else "sft_train:\n  device_mapping: 0-7\n")
    assert {finding.severity for finding in reading.findings} == {Severity.ERROR}
    assert {finding.code for finding in reading.findings} <= {"PW103", "PW105"}


def test_a_role_that_is_not_started_fails_only_where_roll_reads_it() -> None:
    assert said(of({**RLVR, "reference": {"device_mapping": "[-1]"}}))[0] == ("PW103", "warning", "reference")
    assert said(of({**RLVR, "reference": {"device_mapping": "[0"}}))[0] == ("PW103", "error", "reference")


def test_twice_the_same_device_is_told() -> None:
    assert (
        the(of({"sft_train": {"device_mapping": "[0, 1, 0]"}}), "PW108").message
        == "`sft_train` names device 0 more than once: 3 ids, 2 of them different"
    )


def test_edits_keep_the_quotes_and_the_rest() -> None:
    for before, after in (
        ('device_mapping: "list(rang(0,8))"  # all', 'device_mapping: "list(range(0,8))"  # all'),
        ("device_mapping: list(rang(0,8))", "device_mapping: list(range(0,8))"),
        ("device_mapping: 0-7", 'device_mapping: "list(range(0,8))"'),
    ):
        reading = of(f"sft_train:\n  {before}\n")
        edit = the(reading, "PW103").edit
        assert edit is not None
        assert apply_edits(reading.source.text, [edit]) == f"sft_train:\n  {after}\n"
