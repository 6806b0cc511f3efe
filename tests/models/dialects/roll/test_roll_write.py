"""An answer is written as `device_mapping`, and what is read back is the same answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.dialects import roll
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment, compress, seats
from placewright.models.placements.run_checks import deal_round_robin
from placewright.models.reading import Reading
from placewright.models.text.source import Source

TEXT = """\
# trains on what is left
adv_estimator: grpo
init_kl_coef: 0
placewright:
  components:
    actor_train: {accelerators: 8}
    actor_infer: {accelerators: 4}
actor_train:
  strategy_args: {strategy_name: fsdp2_train}  # one device a worker
actor_infer: {strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}}
rewards:
  math: {world_size: 2}
"""


def opened(text: str, cluster: str = "4x4") -> Reading:
    return read(Source("train.yaml", text), read_shorthand(cluster), "roll")


def answer(reading: Reading, **ids: list[int]) -> Assignment:
    """The given components, and the open ones on these devices (four on a node), each worker with as many as it has."""
    assert reading.problem is not None
    runs = dict(reading.problem.build_given().runs)
    for name, its in ids.items():
        each = reading.problem[name].per_process
        workers = [its[first : first + each] for first in range(0, len(its), each)]
        runs[name] = compress((rank, [divmod(id_, 4) for id_ in held]) for rank, held in enumerate(workers))
    return Assignment(runs)


def written(reading: Reading, assignment: Assignment) -> str:
    return apply_edits(reading.source.text, roll.write(reading, assignment))


def test_only_the_new_lines_change() -> None:
    reading = opened(TEXT)
    after = written(reading, answer(reading, actor_train=[*range(4, 12)], actor_infer=[0, 1, 2, 3]))
    assert after == TEXT.replace("one device a worker\n", "one device a worker\n  device_mapping: list(range(4,12))\n").replace(
        "tensor_parallel_size: 2}}}", 'tensor_parallel_size: 2}}, device_mapping: "list(range(0,4))"}'
    )
    assert not [finding for finding in opened(after).findings if finding.severity is Severity.ERROR]


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(16)), st.integers(1, 8))
def test_any_devices_in_any_order_are_read_back(ids: list[int], workers: int) -> None:
    reading = opened(TEXT.replace("accelerators: 8", f"accelerators: {workers}"))
    assignment = answer(reading, actor_train=ids[:workers], actor_infer=ids[-4:])
    again = opened(written(reading, assignment)).problem
    assert again is not None
    for name in ("actor_train", "actor_infer"):
        assert list(seats(again.build_given().of(name))) == list(seats(assignment.of(name)))


def test_workers_of_several_devices_are_written_where_the_strategy_does_not_say_so() -> None:
    text = "placewright:\n  components:\n    sft_train: {accelerators: 8, accelerators_per_process: 2}\nsft_train:\n  name: x\n"
    reading = opened(text)
    after = written(reading, answer(reading, sft_train=[*range(8)]))
    assert after.endswith("  name: x\n  device_mapping: list(range(0,8))\n  num_gpus_per_worker: 2\n")


def test_a_role_that_has_no_block_gets_one() -> None:
    text = "placewright: {components: {teacher: {accelerators: 2}}}\nstudent: {device_mapping: '[0, 1]'}"
    reading = opened(text)
    assert written(reading, answer(reading, teacher=[2, 3])) == f"{text}\nteacher:\n  device_mapping: list([2,3])\n"


def test_workers_without_devices_are_counted() -> None:
    """ROLL deals them out to the nodes in turn; any other answer cannot be written."""
    hinted = TEXT.replace("    actor_train", "    rewards.math: {processes: 3, node_group: node}\n    actor_train")
    reading = opened(hinted.replace("{world_size: 2}", "{worker_cls: x}"))
    devices = answer(reading, actor_train=[*range(4, 12)], actor_infer=[0, 1, 2, 3])
    after = written(reading, Assignment({**devices.runs, "rewards.math": deal_round_robin(3, 3)}))
    assert after.endswith("  math: {worker_cls: x, world_size: 3}\n")
    with pytest.raises(UnusableInput, match="read again, is another one"):
        roll.write(reading, Assignment({**devices.runs, "rewards.math": deal_round_robin(3, 1)}))


@pytest.mark.parametrize(
    ("name", "help_"), [("actor_trian", "write `actor_train`"), ("critic", "roles are `actor_train`, `actor_infer`, `rewards.math`")]
)
def test_hints_about_what_is_not_started_are_refused(name: str, help_: str) -> None:
    (finding,) = (each for each in opened(TEXT.replace("actor_train: {acc", f"{name}: {{acc")).findings if each.code == "PW121")
    assert finding.help == help_
