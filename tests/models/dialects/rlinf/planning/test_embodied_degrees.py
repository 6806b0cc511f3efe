"""Degrees of an embodied job that hints leave open: the plan is the best of all files that have some of them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import placewright as pw
import pytest
from placewright.models.component import Parallel
from placewright.models.findings.span import apply_edits
from placewright.planner.write_back import edits_of

from ...followed_files import TPS, planned, rows
from .opened import Read, problem

EMBODIED = """\
cluster: {{num_nodes: 1, component_placement: {{env: 0-3, rollout: 4-7, actor: 0-7}}}}
runner: {{task_type: embodied}}
algorithm: {{loss_type: embodied_sac}}
env: {{train: {{total_num_envs: 64}}}}
rollout: {{pipeline_stage_num: 2, tensor_parallel_size: {rollout_tp}}}
actor: {{training_backend: fsdp, model: {{tensor_model_parallel_size: {actor_tp}}}}}
placewright:
  components:
    env: {{scaling: table, seconds: {{2: 40, 4: 20, 8: 12}}}}
    rollout: {{parallel: {{tp: {rollout}}}, scaling: table, seconds: [{rollout_rows}]}}
    actor: {{parallel: {{tp: {actor}}}, scaling: table, seconds: [{actor_rows}]}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_an_embodied_file_with_open_degrees_is_the_best_of_all_that_have_some(tmp_path: Path, seed: int) -> None:
    file, each = tmp_path / "run.yaml", dict[tuple[int, int], int]()

    def write(rollout_tp: int, actor_tp: int, rollout: object, actor: object) -> None:
        random = Random(seed)
        file.write_text(EMBODIED.format(
            rollout_tp=rollout_tp, actor_tp=actor_tp, rollout=rollout, actor=actor, rollout_rows=rows((4, 8), random), actor_rows=rows((4, 8), random)
        ))  # fmt: skip

    for pair in ((one, other) for one in TPS for other in TPS):
        write(*pair, *pair)
        each[pair] = planned(file, "rlinf").best.nanoseconds
    write(1, 2, list(TPS), list(TPS))
    answer = pw.solve(file, "1x8", "rlinf", sandbox=False)
    assert answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == min(each.values())
    options = answer.planned.best.design.options
    assert each[options["rollout"].parallel.tp, options["actor"].parallel.tp] == min(each.values())
    edits, refused = edits_of(pw.load(file, "1x8").to_solve, answer)
    assert refused == ()
    file.write_text(apply_edits(file.read_text(), edits))
    assert pw.verify(file, "1x8", level="training").findings == ()
    again = planned(file, "rlinf")
    assert again.best.nanoseconds == min(each.values()) and again.is_own


OWN = """\
cluster: {num_nodes: 1, component_placement: {env: "0", rollout: "0", actor: "0"}}
runner: {task_type: embodied}
env: {train: {total_num_envs: 24}}
rollout: {pipeline_stage_num: 1SAID}
actor: {training_backend: fsdp, model: {tensor_model_parallel_size: 1}}
placewright:
  components:
    env: {scaling: table, seconds: {1: 67}}
    rollout: {parallel: OPEN, scaling: table, seconds: {1: 20, 2: 30}}
    actor: {scaling: table, seconds: {1: 40}}
"""
BY_TP = "[{accelerators: 1, tp: 1, seconds: 50}, {accelerators: 2, tp: 2, seconds: 10}]"


def own(open_: str, said: str = ", tensor_parallel_size: 1") -> str:
    return OWN.replace("OPEN", open_).replace("SAID", said)


@pytest.mark.parametrize("tps", ["[2, 1]", "[1, 2]", "[4, 2, 1]"])
def test_ranks_of_the_file_are_judged_with_the_degrees_that_it_says_itself(tmp_path: Path, tps: str) -> None:
    """The first choice of the hints was taken for the file's own: one accelerator was told to be no multiple of tp 2."""
    file = tmp_path / "run.yaml"
    file.write_text(own(f"{{tp: {tps}}}"))
    assert not pw.verify(file, "1x2", "rlinf").errors
    account = pw.account(file, "1x2", "rlinf", sandbox=False, searches=0)
    assert account is not None and account.own is not None and account.own.priced is not None
    assert account.own.priced.design.options["rollout"].parallel == Parallel(1) and account.own.forbidden == ()


@pytest.mark.parametrize("seconds", ["{1: 20, 2: 30}", BY_TP])
def test_in_which_order_hints_offer_degrees_is_no_matter_where_the_file_says_its_own(tmp_path: Path, seconds: str) -> None:
    """Times by tp had no price for the file's own ranks where another tp stood first."""
    told = []
    for tps in ("[1, 2]", "[2, 1]"):
        file = tmp_path / "run.yaml"
        file.write_text(own(f"{{tp: {tps}}}").replace("{1: 20, 2: 30}", seconds))
        account = pw.account(file, "1x2", "rlinf", sandbox=False, searches=0)
        assert account is not None and account.own is not None and account.own.priced is not None
        told.append((account.planned.best, account.planned.alternatives, account.own.priced.nanoseconds, account.own.forbidden))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("open_", "said", "first"),
    [
        ("{tp: [2, 1]}", ", tensor_parallel_size: 1", Parallel(1)),
        ("{tp: [4, 2, 1]}", ", tensor_parallel_size: 2", Parallel(2)),
        ("{tp: [2, 1], pp: [2, 1]}", ", tensor_parallel_size: 1", Parallel(1)),
        ("{tp: [2, 1], pp: [1, 2]}", ", pipeline_parallel_size: 2", Parallel(1, 2)),
        ("{tp: [2, 1]}", "", Parallel(2)),
        ("{tp: [2, 1]}", ", tensor_parallel_size: null", Parallel(2)),
        ("{tp: [2, 1]}", ", tensor_parallel_size: 0", Parallel(2)),
        ("{tp: [2, 1]}", ", tensor_parallel_size: many", Parallel(2)),
    ],
)
def test_the_degrees_of_the_file_come_before_those_that_hints_prefer(read: Read, open_: str, said: str, first: Parallel) -> None:
    """Where it says none the first that the hints offer stays the first."""
    reading = read(own(open_, said), "1x8")
    for its in (problem(reading), problem(reading.to_solve)):
        assert its["rollout"].parallel == its.own_degrees(its["rollout"]) == first
    assert problem(reading.to_solve).job.choices["rollout"][0] == first
    assert not any(each.code == "PW105" for each in reading.findings)  # RLinf reads no degrees here


@pytest.mark.parametrize(
    ("open_", "said", "its"),
    [
        ("{tp: [2, 4]}", ", tensor_parallel_size: 1", Parallel(1)),
        ("{tp: [2, 1]}", ", tensor_parallel_size: 3", Parallel(3)),
        ("{tp: [2, 1]}", ", pipeline_parallel_size: 2", Parallel(1, 2)),
    ],
)
def test_degrees_of_the_file_that_hints_do_not_offer_are_those_of_its_ranks_and_of_no_plan(
    read: Read, tmp_path: Path, open_: str, said: str, its: Parallel
) -> None:
    """They were judged with the first that the hints offer: three accelerators with tp 1 were told to be no multiple of tp 2."""
    text = (
        own(open_, said).replace("total_num_envs: 24", "total_num_envs: 36").replace('rollout: "0"', f'rollout: "0-{its.replica * 3 - 1}"')
    )
    file = tmp_path / "run.yaml"
    file.write_text(text)
    assert not pw.verify(file, "1x12", "rlinf").errors
    reading = read(text, "1x12")
    for found in (problem(reading), problem(reading.to_solve)):
        assert found["rollout"].parallel == found.own_degrees(found["rollout"]) == its
    assert its not in problem(reading.to_solve).job.choices["rollout"]
    file.write_text(own(open_, said))
    account = pw.account(file, "1x2", "rlinf", sandbox=False, searches=0)
    assert account is not None and account.own is not None and account.own.priced is not None
    assert account.own.priced.design.options["rollout"].parallel == its
    assert any(
        f"`rollout` is to have {' or '.join(map(str, problem(reading.to_solve).job.choices['rollout']))}" in each
        for each in account.own.forbidden
    )


@pytest.mark.parametrize("said", [1, 2])
def test_times_of_the_degrees_that_the_file_says_are_times_of_its_component(tmp_path: Path, said: int) -> None:
    """Without `parallel` it was told to have tp 1 alone, and to be run in no way. Of degrees that the file has not they are no times."""
    file = tmp_path / "run.yaml"
    text = (
        own("", f", tensor_parallel_size: {said}")
        .replace("parallel: , ", "")
        .replace("{1: 20, 2: 30}", "[{accelerators: 2, tp: 2, seconds: 30}]")
    )
    file.write_text(text)
    assert not pw.verify(file, "1x2", "rlinf").errors  # RLinf looks at no degrees here
    answer = pw.solve(file, "1x2", "rlinf", sandbox=False)
    if said == 2:
        assert answer.planned is not None and answer.planned.best.design.options["rollout"].parallel == Parallel(2)
    else:
        (finding,) = answer.findings
        assert finding.message.startswith("impossible: no plan can run `rollout`: ") and "rollout was measured with tp 2" in finding.message


def test_without_times_hints_say_which_degrees_are_preferred(read: Read) -> None:
    text = own("{tp: [2, 1]}").replace('rollout: "0", ', "").replace("scaling: table, seconds: {1: 20, 2: 30}", "accelerators: 2")
    text = text.replace("scaling: table, seconds: {1: 67}", "memory: 1GiB").replace("scaling: table, seconds: {1: 40}", "memory: 1GiB")
    assert problem(read(text, "1x8").to_solve).job.choices["rollout"] == (Parallel(2), Parallel(1))
