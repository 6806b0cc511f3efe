"""A time of a component that the file does not have is told with the name that was probably meant."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import Finding

from .opened import Read, text


def told(read: Read, written: str) -> list[Finding]:
    return [each for each in read(written).findings if each.code == "PW104"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [("rewrad_cost", "reward_cost"), ("rollout_costs", "rollout_cost"), ("env_profile", "env_profile_data"), ("something", None)],
)
def test_a_key_of_the_profile_that_belongs_to_nothing(read: Read, key: str, meant: str | None) -> None:
    (finding,) = told(read, text().replace("actor_cost: 40", f"actor_cost: 40, {key}: 3"))
    assert finding.message == f"`profile_data.{key}` belongs to no component of the file: it is ignored"
    assert finding.severity.value == "warning" and (finding.edit and finding.edit.text) == meant


@pytest.mark.parametrize("key", ["reward_cost", "critic_inference_cost", "actor_inference_cost", "critic_cost", "env_cost"])
def test_of_what_is_placed_or_is_a_part_of_it_nothing_is_said(read: Read, key: str) -> None:
    assert not told(read, text().replace("actor_cost: 40", f"actor_cost: 40, {key}: 3"))


BLOCK = "placewright: {components: {rolout: {seconds: {8: 224}}, inference: {seconds: 3}, judge: {seconds: 3}}}\n"


def test_hints_about_a_name_that_is_nearly_that_of_a_component(read: Read) -> None:
    """RLinf's own programs have no such component, so nothing else is told of it: it is nothing that could be placed."""
    reading = read(text() + BLOCK)
    (finding,) = [each for each in reading.findings if each.code == "PW104"]
    assert finding.message == "`rolout` is not a component of this job" and finding.severity.value == "error"
    assert finding.edit is not None and finding.edit.text == "rollout"
    assert reading.problem is not None and "rollout" in {each.name for each in reading.problem.components}
    assert "rolout" not in {each.name for each in reading.problem.components}


def test_one_slip_is_one_finding(read: Read) -> None:
    """Of a name that nobody has it is not also told how large it is, or where it may be."""
    (finding,) = read(text() + "placewright: {components: {rolout: {parallel: {tp: 2}}}}\n").findings
    assert finding.message == "`rolout` is not a component of this job"
