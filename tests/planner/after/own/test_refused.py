"""What the demands of a file, and its framework, refuse of the file's own ranks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.component import COLOCATED, Relation
from placewright.models.parallel import UNDIVIDED, Parallel
from placewright.models.planning.arrangement import ProcessShape

from .stated import on, priced, problem


def test_what_the_framework_does_not_run_is_told_as_that(tmp_path: Path) -> None:
    mine = on(problem(tmp_path), {"rollout": range(4), "inference": range(8), "actor": range(16)})
    mine = replace(mine, job=replace(mine.job, planning=replace(mine.job.planning, accepted={"rollout": frozenset({(16, UNDIVIDED)})})))
    found = priced(mine)
    told = "the framework does not run `rollout` on 4 with tp 1: pools, batches or replicas do not divide so, see `verify --level training`"
    assert told in found.forbidden
    assert not found.unclear


@pytest.mark.parametrize("offered", [("actor", "judge"), ("judge", "actor")])
@pytest.mark.parametrize("demands", ["judge", "actor", ""])
def test_who_is_demanded_to_share_must_do_so_whatever_a_plan_is_told_beside_it(
    tmp_path: Path, demands: str, offered: tuple[str, str]
) -> None:
    said = {"judge": "{accelerators: 4}", "actor": "{seconds: {8: 60, 16: 33}}"}
    if demands:
        other = next(name for name in said if name != demands)
        said[demands] = said[demands].replace("{", f"{{colocate_with: {other}, ", 1)
    text = f"""
cluster: 2x8xH100
components:
  rollout: {{seconds: {{4: 100, 16: 30}}}}
  judge: {said["judge"]}
  actor: {said["actor"]}
plan: {{workflow: rollout -> actor}}
"""
    its = on(problem(tmp_path, text), {"rollout": range(4), "judge": range(4, 8), "actor": range(8, 16)})
    told = Relation(COLOCATED, offered, None, "`judge` goes along with `actor`", proposed=True)
    found = priced(replace(its, job=replace(its.job, relations=(*its.job.relations, told))))
    assert bool(found.forbidden) == bool(demands)
    assert all("are not on the same accelerators" in reason for reason in found.forbidden)


def test_degrees_that_the_hints_do_not_offer_are_not_laid_at_the_door_of_the_framework(tmp_path: Path) -> None:
    mine = on(problem(tmp_path), {"rollout": range(4), "inference": range(8), "actor": range(16)})
    mine = replace(
        mine,
        job=replace(
            mine.job,
            choices={"rollout": (Parallel(2), Parallel(4))},
            planning=replace(mine.job.planning, accepted={"rollout": frozenset()}),
        ),
    )
    assert "`rollout` is to have tp 2 or tp 4, not tp 1" in priced(mine).forbidden


@pytest.mark.parametrize(("proposed", "refused"), [(True, False), (False, True)])
def test_what_a_mode_demands_of_a_component_without_times_is_demanded_of_the_files_own_ranks(
    tmp_path: Path, proposed: bool, refused: bool
) -> None:
    """What a framework demands has no place in a file either."""
    text = """
cluster: 2x8xH100
components:
  judge: {accelerators: 4}
  actor: {seconds: {8: 60, 16: 33}}
"""
    its = on(problem(tmp_path, text), {"judge": range(4), "actor": range(8, 16)})
    demanded = Relation(COLOCATED, ("judge", "actor"), None, "the framework's mode", proposed=proposed)
    found = priced(replace(its, job=replace(its.job, relations=(*its.job.relations, demanded))))
    assert bool(found.forbidden) == refused


def test_samples_divide_among_all_accelerators_of_what_no_degrees_divide(tmp_path: Path) -> None:
    """As the search has it: 6 samples have no even share on 4 accelerators that FSDP trains on, whatever its tp."""
    text = """
cluster: 2x8xH100
components:
  rollout: {seconds: {4: 100, 16: 30}}
  actor: {seconds: {2: 60, 3: 50, 4: 40}, samples: 6, parallel: {tp: 2}}
plan: {workflow: rollout -> actor}
"""
    mine = on(problem(tmp_path, text), {"rollout": range(4), "actor": range(4, 8)})
    assert priced(mine).forbidden == ()
    mine = replace(mine, job=replace(mine.job, planning=replace(mine.job.planning, shapes={"actor": {Parallel(2): ProcessShape(least=2)}})))
    assert priced(mine).forbidden == ("6 samples do not divide among the 4 replicas of `actor`",)


ALONG = """\
cluster: {num_nodes: 2, component_placement: {actor: "1", rollout: "2", inference: "3", reward: "REWARD"}}
runner: {task_type: reasoning}
algorithm: {group_size: 2, n_minibatches: 1, recompute_logprobs: true}
data: {rollout_batch_size: 2}
rollout: {tensor_parallel_size: 1, max_running_requests: 8, return_logprobs: true}
inference: {load_from_actor: true, model: {tensor_model_parallel_size: 1}}
actor: {training_backend: fsdp, model: {tensor_model_parallel_size: 1}}
placewright:
  plan: {batches: 1NESTED}
  components:
    actor: {scaling: table, seconds: {1: 272, 2: 144, 3: 254, 4: 139}}
    rollout: {parallel: {tp: [1, 3]}, scaling: table, seconds: {1: 77, 2: 76, 3: 21, 4: 42}}
    inference: {scaling: table, seconds: {1: 99, 2: 163, 3: 199, 4: 118}}
"""


@pytest.mark.parametrize(
    ("nested", "why"),
    [
        ("", "which `nested: true` in `plan` would allow"),
        (", nested: false", "which `nested: false` in `plan` forbids"),
        (", nested: true", ""),
    ],
)
def test_what_the_file_does_not_say_forbids_nothing_and_what_goes_along_is_no_demand(tmp_path: Path, nested: str, why: str) -> None:
    """A file that says nothing of `nested` was told that its `nested: false` forbids its ranks, and that reward is not within rollout."""
    file = tmp_path / "run.yaml"
    file.write_text(ALONG.replace("NESTED", nested).replace("REWARD", "1-2"))
    account = pw.account(file, "1x2+1x2", "rlinf", sandbox=False, searches=0)
    assert account is not None and account.own is not None and account.planned.question.sharing.nested
    inside = [f"`{name}` uses only some of the accelerators of `reward`, {why}" for name in ("actor", "rollout")]
    assert list(account.own.forbidden) == (inside if why else [])


@pytest.mark.parametrize("nested", ["", ", nested: false"])
def test_what_goes_along_lies_inside_as_the_plan_has_it(tmp_path: Path, nested: str) -> None:
    """That nothing demands it does not mean that it may not be."""
    file = tmp_path / "run.yaml"
    placed = ALONG.replace('actor: "1", rollout: "2", inference: "3"', "actor: all, rollout: all").replace("REWARD", "0")
    file.write_text(placed.replace("NESTED", nested))
    account = pw.account(file, "1x2+1x2", "rlinf", sandbox=False, searches=0)
    assert account is not None and account.own is not None and account.planned.question.sharing.only_within
    assert account.own.forbidden == ()
