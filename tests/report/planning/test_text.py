"""The account of a plan as text."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.finding import error
from placewright.models.planning.planned import Unplaceable
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render

from .accounts import BY_HAND, account

STEADY = """
cluster: 1x4xH100
components:
  rollout: {accelerators: 4, seconds: {4: 60}, phase: generate}
  actor: {accelerators: 4, seconds: {infer: {4: 10}, train: {4: 30}}, colocate_with: rollout}
plan: {workflow: rollout -> actor.infer => actor.train, cost_model: steady}
"""


def test_two_turns_of_a_component_in_one_part_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(STEADY)
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None
    assert "rollout 60 %, actor.infer 10 %, actor.train 30 %" in "\n".join(render(account))


UNTIMED = """
cluster: 4x8xH100
components:
  rollout: {accelerators: 16, parallel: {tp: 2}, seconds: {16: 50}, phase: generate, memory: 60GiB, offloaded: 2GiB}
  actor: {accelerators: 12, parallel: {tp: 4}, seconds: {12: 40}, phase: train, memory: 60GiB, offloaded: 4GiB, disjoint_from: rollout}
  judge: {colocate_with: actor, memory: 70GiB, phase: infer}
  scorer: {accelerators: 2, memory: 30GiB}
  tools: {node_group: node, processes: 8}
  simulator: {node_group: node, processes: 1, seconds: 5}
plan: {workflow: simulator -> rollout => actor, batches: 5}
"""


def test_who_has_no_seconds_is_not_idle_and_its_memory_counts(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(UNTIMED)
    said = "\n".join(render(pw.account(tmp_path / "job.yaml", searches=0)))
    rows = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    assert "not known: no seconds of judge  actor 100 %" in said
    assert "scorer (2)             not known: no seconds           not known: no seconds  not known\n" in said
    assert "tools (8 processes)    not known: no seconds " in said
    assert "actor, judge (12) idle 51 seconds, unless judge works: 51 in part 1, in which others work" in said
    assert "scorer (2) idle" not in said and "tools (8 processes) idle" not in said
    # (16 x 50 + 12 x 40) / (28 x 91), without the two of the scorer
    assert (
        "the 28 accelerators work 50 % of the time, not counting judge, which has no seconds; "
        "the work of the 2 of scorer, which has no seconds, is unknown; 2 of 32 are not used"
    ) in said
    assert "infer: no seconds" in said and "judge 70; kept: actor 4  74    80" in said
    assert rows["scorer (2)"][-2:] == ["30", "80"]


def test_processes_are_idle_as_accelerators_are(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(UNTIMED)
    said = "\n".join(render(pw.account(tmp_path / "job.yaml", searches=0)))
    assert "simulator (1 process) idle 86 seconds: 46 after its last in part 1; 40 in part 2, in which others work" in said
    rows = [line.split()[:3] for line in said.splitlines()]
    assert ["simulator", "1", "process"] in rows and ["tools", "8", "processes"] in rows


def test_one_accelerator_is_named_as_one(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("cluster: 1x1xH100\ncomponents:\n  actor: {seconds: {1: 9}}\n")
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None
    said = "\n".join(render(account))
    assert "9 seconds an iteration, 1 accelerator, " in said
    assert "\nthe accelerator works 100 % of the time" in said


def test_what_nothing_is_known_of_is_not_said_to_be_bounded(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(STEADY)
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None
    unbounded = replace(account, planned=replace(account.planned, proved=False, bound=0))
    headline = next(block for block in render(unbounded) if "seconds an iteration" in block)
    assert "not bounded" in headline and "%" not in headline


def test_of_many_designs_without_a_placement_the_first_are_named(tmp_path: Path) -> None:
    """And what was not searched is not said to have none."""
    (tmp_path / "job.yaml").write_text(STEADY)
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None
    found = [Unplaceable(account.planned.best, (error(code, "", "why"),)) for code in ("PW604", "PW601", *["PW601"] * 8)]
    text = "\n".join(render(replace(account, planned=replace(account.planned, unplaceable=tuple(found)))))
    assert text.count("no placement is known of") == 1 and text.count("no placement has") == 4
    assert "and of 5 more" in text


@pytest.mark.parametrize(
    ("more", "said"), [(1, "within less than 0.1 % of"), (30_000_000, "within less than 0.1 % of"), (10**9, "within 0.9 % of")]
)
def test_a_distance_is_never_rounded_to_none(tmp_path: Path, more: int, said: str) -> None:
    found = account(tmp_path, BY_HAND, 0)
    planned = replace(found.planned, proved=False, bound=found.planned.bound - more, structures=(2, 0))
    headline = render(replace(found, planned=planned))[0].splitlines()[0]
    assert said in headline
    assert "2 arrangements, none searched" in headline


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (Fraction(1, 2), "within 100.0 % of the best possible"),
        (
            Fraction(1, 300),
            "any plan with each tp group on one node and accelerators shared whole takes at least 0.3942 seconds, more is not proved",
        ),
    ],
)
def test_of_a_bound_that_is_hardly_one_it_is_said_what_it_is(tmp_path: Path, bound: Fraction, said: str) -> None:
    found = account(tmp_path, BY_HAND, 0)
    assert found.planned.best.nanoseconds == 118_272_235_000
    planned = replace(found.planned, proved=False, bound=int(found.planned.best.nanoseconds * bound), structures=(2, 0))
    assert said in render(replace(found, planned=planned))[0].splitlines()[0]


def test_accelerators_far_from_the_bound_are_told_likewise(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("plan: {", "plan: {minimise: accelerators, "), 0)
    planned = replace(found.planned, proved=False, bound=1, structures=(2, 0))
    assert " has at least 1 accelerator, more is not proved" in render(replace(found, planned=planned))[0].splitlines()[0]


def test_who_is_not_started_has_the_degrees_of_what_does_its_work(tmp_path: Path) -> None:
    """RLinf's inference beside an actor whose degrees are chosen: where the job is collocated the actor computes with those."""
    text = """
cluster: {num_nodes: 1, component_placement: {"rollout,reward": 0-3, inference: 4-5, actor: 6-7}}
runner: {task_type: reasoning}
algorithm: {group_size: 8, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 64}
rollout: {tensor_parallel_size: 1, max_running_requests: 8}
actor: {training_backend: megatron, model: {tensor_model_parallel_size: 1}}
placewright:
  components:
    actor: {parallel: {tp: [1, 2]}, seconds: [{accelerators: 2, tp: 1, seconds: 60}, {accelerators: 2, tp: 2, seconds: 50}]}
    rollout: {seconds: {4: 50}}
    inference: {seconds: {2: 20}}
"""
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    found = pw.account(str(tmp_path / "run.yaml"), "1x8xH100", sandbox=False, searches=0)
    assert found is not None
    lines = [line.split() for line in "\n".join(render(found)).splitlines() if line.strip()]
    rows = {line[0]: line[1:5] for line in reversed(lines)}
    assert rows["inference"] == rows["actor"] == ["8", "tp", "2", "4"]
    data = to_data(found)["components"]
    assert isinstance(data, dict) and data["inference"]["parallel"] == data["actor"]["parallel"]


def test_given_ranks_that_take_more_than_twice_as_long_are_so_far_from_the_bound(tmp_path: Path) -> None:
    """What is proved of any plan was said, and not how far these are from it."""
    (tmp_path / "job.yaml").write_text("""
cluster: 2x8xH100
components:
  rollout: {seconds: {8: 80, 16: 50}, placement: 0-7}
  reward: {seconds: {4: 20}, placement: 8-11}
  actor: {seconds: {8: 90}, placement: 12-15}
plan: {workflow: rollout -> reward => actor, batches: 8}
""")
    line = render(pw.account(tmp_path / "job.yaml", sandbox=False, searches=0))[0].splitlines()[0]
    assert line.startswith(
        "these ranks: 262.5 seconds an iteration, 16 accelerators, 162.5 % from the bound with accelerators shared whole, under times extrapolated for actor, "
    )


def test_a_set_on_several_models_is_told_with_how_many_of_each(tmp_path: Path) -> None:
    """`a (7)` stood in the table of who works when, and 3 H100 and 4 L40S only in that of memory."""
    path = tmp_path / "train.yaml"
    path.write_text("""
cluster: 1x4xH100+1x4xL40S
components:
  a: {accelerators: 7, seconds: {7: 4}, memory: 20GiB}
  b: {accelerators: 1, seconds: {H100: {1: 4}, L40S: {1: 4}}, memory: 20GiB}
plan: {workflow: a => b, scope: heterogeneous}
""")
    assert "\na (3 H100 and 4 L40S)  a 100 %" in "\n".join(render(pw.account(path, sandbox=False, searches=0)))
