"""What is said of workers that are late, and of those that Ray reports on."""

from __future__ import annotations

from placewright.models.placements.plan import Plan
from placewright.models.placements.run import Run
from placewright.runtime.failure import LaunchFailed, build_failure
from placewright.runtime.port.port import Died, Raised, RefusedByRay
from placewright.runtime.workers.calls import STARTING, late_failure, rank_failure, unready
from placewright.runtime.workers.group import WorkerGroup
from placewright.runtime.workers.inside.host import UNIMPORTABLE
from placewright.runtime.workers.member import members_of

from ..conftest import Planner
from ..fake import FakePort


def group(plan: Planner, name: str, count: int) -> WorkerGroup:
    made: Plan = plan("1x8", **{name: (Run(range(count), 0),)})
    return WorkerGroup(FakePort(8), name, members_of(made, name, "job", "10.0.0.1"), "train:Actor")


def only(failure: object) -> str:
    assert isinstance(failure, LaunchFailed)
    (finding,) = failure.findings
    return f"{finding.code} {finding.message}"


def test_late_ranks_are_named_as_ranges_by_component(plan: Planner) -> None:
    actor, ref = group(plan, "actor", 8), group(plan, "ref", 2)
    waiting = [(actor, 7), (actor, 0), (ref, 1), (actor, 1), (actor, 2)]
    assert only(late_failure(waiting, "were not ready within 3 s")) == "PW705 ranks `actor` 0-2,7, `ref` 1 were not ready within 3 s"
    assert (
        only(late_failure([(ref, 1)], "have not answered `train` within 3 s")) == "PW705 rank `ref` 1 has not answered `train` within 3 s"
    )


def test_a_death_is_told_in_one_sentence() -> None:
    said = only(rank_failure(Died("the node has no memory left"), "actor", 3, "node-1", STARTING))
    assert said == "PW704 rank 3 of `actor` on `node-1` died while it was starting: the node has no memory left"


def test_what_raises_is_to_be_fixed_unless_it_says_what_to_do() -> None:
    for doing, part in ((STARTING, "constructor"), ("ran `sleep`", "method")):
        bug = rank_failure(Raised("ValueError: 5", cause=ValueError("5")), "actor", 0, "node-0", doing)
        assert bug.findings[0].help == f"fix the {part} of the worker class"
        refusal = build_failure("PW741", "vllm", "it cannot sleep", "set `enable_sleep_mode: true`")
        assert (
            rank_failure(Raised("it cannot sleep", cause=refusal), "actor", 0, "node-0", doing).findings[0].help == refusal.findings[0].help
        )


def test_any_other_failure_keeps_its_name() -> None:
    said = only(rank_failure(RefusedByRay("RuntimeEnvSetupError: no such interpreter"), "actor", 0, "node-0", STARTING))
    assert said == "PW704 rank 0 of `actor` on `node-0` failed while it was starting: RuntimeEnvSetupError: no such interpreter"


def test_a_class_that_only_the_worker_lacks_is_another_matter_than_its_constructor() -> None:
    report = {UNIMPORTABLE: "ModuleNotFoundError: No module named 'train'"}
    said = only(unready(report, "train:Actor", "actor", 1, "node-1"))
    assert said.startswith("PW707 the worker class `train:Actor` cannot be imported by rank 1 of `actor` on `node-1`: ModuleNotFoundError")
