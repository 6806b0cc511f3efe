"""What works on what where nobody says it."""

from __future__ import annotations

from placewright.models.component import Component
from placewright.models.planning.workload import After, Measurement, TimedComponent
from placewright.models.times import usual_order, usual_phase


def component(name: str, *phases: str, role: str = "") -> Component:
    return Component(name, role=role or name, timed=TimedComponent(tuple(Measurement(8, 1, phase) for phase in phases or ("",))))


def test_all_that_judges_waits_for_what_generates_and_what_trains_for_all_of_them() -> None:
    components = [component("actor"), component("rollout"), component("ref", role="reference"), component("reward")]
    assert set(usual_order(components)) == {
        After("rollout", "ref", True), After("rollout", "reward", True), After("ref", "actor", True), After("reward", "actor", True),
    }  # fmt: skip


def test_a_critic_infers_before_anything_trains() -> None:
    components = [component("rollout", "generate"), component("critic", "infer", "train"), component("actor", "train")]
    assert set(usual_order(components)) == {
        After("rollout.generate", "critic.infer", True), After("critic.infer", "critic.train", True), After("critic.infer", "actor.train", True),
    }  # fmt: skip


def test_what_a_component_does_or_is_called_says_its_phase() -> None:
    found = {each.name: usual_phase(each) for each in map(component, ("rollout", "env", "agent", "reward", "inference", "critic"))}
    assert found == {
        "rollout": "generate",
        "env": "generate",
        "agent": "generate",
        "reward": "infer",
        "inference": "infer",
        "critic": "train",
    }
    assert [usual_phase(Component(name)) for name in ("critic_inference", "actor_inference", "judge")] == ["infer", "infer", ""]


def test_what_does_not_judge_is_passed_over() -> None:
    assert list(usual_order([component("actor", "generate", "train")])) == [After("actor.generate", "actor.train", True)]
    assert list(usual_order([component("actor")])) == []
