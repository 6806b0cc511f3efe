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


def own(open_: str, said: str = ", tensor_parallel_size: 1") -> str:
    return OWN.replace("OPEN", open_).replace("SAID", said)


@pytest.mark.parametrize("tps", ["[2, 1]", "[1, 2]", "[4, 2, 1]"])
def test_ranks_of_the_file_are_judged_without_degrees(tmp_path: Path, tps: str) -> None:
    """The first choice of the hints was taken for the file's own: one accelerator was told to be no multiple of tp 2."""
    file = tmp_path / "run.yaml"
    file.write_text(own(f"{{tp: {tps}}}"))
    assert not pw.verify(file, "1x2", "rlinf").errors


def test_without_times_hints_say_which_degrees_are_preferred(read: Read) -> None:
    text = own("{tp: [2, 1]}").replace('rollout: "0", ', "").replace("scaling: table, seconds: {1: 20, 2: 30}", "accelerators: 2")
    text = text.replace("scaling: table, seconds: {1: 67}", "memory: 1GiB").replace("scaling: table, seconds: {1: 40}", "memory: 1GiB")
    assert problem(read(text, "1x8").to_solve).job.choices["rollout"] == (Parallel(2), Parallel(1))
