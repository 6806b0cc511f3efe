"""What does not fit by an estimate is a warning; what is close is a note; nothing else is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.component import COLOCATED, Component, Parallel, Relation
from placewright.models.estimate import FSDP, NONE, ZERO1, ZERO3, MemoryInput
from placewright.models.findings.finding import Finding, Severity
from placewright.models.job import Job
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.memory.estimate import estimate_memory, with_estimates
from placewright.models.model_cards.known import known_model
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.advice import EstimatedMemory
from placewright.solver.check import check_explicit

EIGHT = range(8)


def on_all(name: str, **more: object) -> Component:
    """A component on the eight accelerators of a node."""
    return Component(name, least=8, most=8, runs=(Run(EIGHT, 0),), **more)  # type: ignore[arg-type]


def said(cluster: str, *components: Component) -> list[Finding]:
    """What the advice has to say of components that share all accelerators."""
    names = [each.name for each in components]
    together = tuple(Relation(COLOCATED, (names[0], other)) for other in names[1:])
    machines = read_shorthand(cluster)
    question = Problem(machines, with_estimates(Job(components, together), states_divisions=True))  # type: ignore[arg-type]
    assert not [each for each in check_explicit(question) if each.severity is Severity.ERROR]
    return list(EstimatedMemory().check(question, question.build_given()))


def test_what_fits_is_good() -> None:
    assert said("1x8xH100", on_all("actor", estimate=MemoryInput(parameters=7 * 10**9, sharding=ZERO3))) == []


def test_nothing_is_said_where_nothing_is_estimated() -> None:
    assert said("1x8x4090", on_all("actor", memory=20_000), on_all("rollout")) == []


def test_nothing_is_said_of_accelerators_whose_memory_is_unknown() -> None:
    assert said("1x8xGPU", on_all("actor", estimate=MemoryInput(parameters=10**12))) == []


def test_sixteen_bytes_a_parameter_do_not_fit_undivided() -> None:
    (finding,) = said("1x8xH100", on_all("actor", estimate=MemoryInput(parameters=7 * 10**9)))
    assert (finding.code, finding.severity) == ("PW805", Severity.WARNING)
    assert (
        finding.message == "accelerator 0 of node 0 has 80 GiB; by an estimate 133.2 GiB are needed, at most 137.7 GiB: actor 133.2 GiB"
    )  # 16 x 7e9 / 2^30 = 104.3, 4 more for the copies of the step, context and allocator
    assert finding.help == "run actor with `sharding: zero3`"


@pytest.mark.parametrize(
    ("parameters", "written", "severity"),
    [
        (7, ("sharding", "optimizer", "precision"), Severity.ERROR), (7, ("sharding", "precision"), Severity.WARNING),
        (7, (), Severity.WARNING), (5, ("sharding", "optimizer", "precision"), Severity.WARNING),
    ],
)  # fmt: skip
def test_states_that_the_file_writes_and_that_do_not_fit_are_an_error(
    parameters: int, written: tuple[str, ...], severity: Severity
) -> None:
    """16 bytes a parameter: 104 GiB of 7B, 75 GiB of 5B. What nobody wrote could be less, and copies of the step may be avoided."""
    estimate = MemoryInput(parameters=parameters * 10**9, sharding=NONE, written=written)
    (finding,) = said("1x8xH100", on_all("actor", estimate=estimate))
    assert finding.severity is severity
    if severity is Severity.ERROR:
        assert finding.message.endswith("80 GiB; actor needs 104.4 GiB for its weights, gradients and optimizer")


@pytest.mark.parametrize(("gigabytes", "severity"), [(82.0, None), (85.5, Severity.WARNING), (86.0, Severity.WARNING)])
def test_what_fits_only_if_all_goes_well_is_a_warning(gigabytes: float, severity: Severity | None) -> None:
    """80 GiB are 85.9 GB; the context of the driver takes 0.4 to 1 GB of it."""
    found = said("1x8xH100", on_all("reference", estimate=MemoryInput(parameters=int(gigabytes * 10**9 / 2))))
    assert [each.severity for each in found] == ([severity] if severity else [])


def test_components_without_a_phase_are_taken_to_take_turns() -> None:
    """It works while the other one waits: 35 GB of weights each are there all the time, and nothing else is."""
    half = MemoryInput(parameters=int(17.5 * 10**9))
    assert [each.severity for each in said("1x8xH100", on_all("reference", estimate=half), on_all("reward", estimate=half))] == []
    gone = MemoryInput(parameters=38 * 10**9, offload=True)
    assert said("1x8xH100", on_all("reference", estimate=gone), on_all("reward", estimate=gone)) == []
    kept = MemoryInput(parameters=38 * 10**9)
    (finding,) = said("1x8xH100", on_all("reference", estimate=kept), on_all("reward", estimate=kept))
    assert finding.severity is Severity.WARNING and "offload" not in finding.help  # one of them alone does not help


def test_components_of_one_phase_work_together() -> None:
    gone = MemoryInput(parameters=38 * 10**9, offload=True)
    (finding,) = said("1x8xH100", on_all("reference", estimate=gone, phases=("infer",)), on_all("reward", estimate=gone, phases=("infer",)))
    assert finding.severity is Severity.WARNING


def test_declared_memory_counts_beside_an_estimate() -> None:
    gone = MemoryInput(parameters=20 * 10**9, offload=True)
    assert said("1x8xH100", on_all("actor", memory=30 * 1024), on_all("reference", estimate=gone)) == []
    (finding,) = said("1x8xH100", on_all("actor", memory=45 * 1024), on_all("reference", estimate=gone))
    assert "actor 45 GiB + reference 38.2 GiB" in finding.message


@pytest.mark.parametrize(
    ("cluster", "estimate", "change"),
    [
        ("1x8x4090", MemoryInput("Qwen/Qwen2.5-7B", sharding=ZERO1), "sharding: zero3"),
        ("1x8xA100-40GB", MemoryInput("Qwen/Qwen2.5-7B", sharding=FSDP, sequence=2048, micro_batch=16), "micro_batch: 1"),
        ("1x8xA100-40GB", MemoryInput("Qwen/Qwen2.5-7B", sharding=FSDP, sequence=2048, micro_batch=2, recompute=NONE), "recompute: full"),
    ],
)  # fmt: skip
def test_what_it_advises_was_estimated_and_fits(cluster: str, estimate: MemoryInput, change: str) -> None:
    card = known_model(estimate.model)
    component = on_all("actor", estimate=estimate)
    question = Problem(read_shorthand(cluster), with_estimates(Job((component,)), states_divisions=True))  # type: ignore[arg-type]
    models = {"actor": replace(question.job.models["actor"], card=card)}
    question = replace(question, job=replace(question.job, models=models))
    (finding,) = EstimatedMemory().check(question, question.build_given())
    assert f"`{change}`" in finding.help
    key, _, value = change.partition(": ")
    mended = replace(component, estimate=replace(estimate, **{key: int(value) if value.isdigit() else value}))
    found = estimate_memory(mended, card, Parallel(), 8)
    assert found is not None and found.high <= (question.cluster.nodes[0].accelerator_memory or 0)


def open_said(cluster: str, component: Component, *choices: Parallel) -> list[str]:
    """What is said of a component that is still to be placed."""
    job = with_estimates(Job((component,), choices={component.name: choices} if choices else {}), states_divisions=True)
    question = Problem(read_shorthand(cluster), job)  # type: ignore[arg-type]
    return [each.message for each in EstimatedMemory().check(question, question.build_given())]


def test_what_fits_on_no_count_is_said_before_a_search() -> None:
    large = Component("actor", least=8, most=16, estimate=MemoryInput(parameters=100 * 10**9, sharding=ZERO3))
    said_of_it = ["by an estimate actor needs at least 93.6 GiB of each of 16 accelerators; the largest has 80 GiB"]  # 16 x 100e9 / 16
    assert open_said("4x8xH100", large) == said_of_it
    assert open_said("4x8xH100", replace(large, most=32)) == []
    assert open_said("4x8xH200", large) == []


def test_one_choice_of_degrees_that_fits_is_enough() -> None:
    large = Component("rollout", least=8, most=8, estimate=MemoryInput(parameters=70 * 10**9))
    assert len(open_said("1x8xH100", large, Parallel(tp=1))) == 1
    assert open_said("1x8xH100", large, Parallel(tp=1), Parallel(tp=4)) == []
