"""Findings of one cause are one with its list; an error whose premise is another one waits for that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.findings.causes import first_causes, merge_by_cause
from placewright.models.findings.finding import Finding, error, warning
from placewright.models.findings.span import Edit, Span

HERE, THERE = Span("a.yaml", 10, 12, 2, 1), Span("a.yaml", 30, 32, 5, 1)


def outside(subject: str, device: int, span: Span = HERE) -> Finding:
    return error("PW102", subject, f"`{subject}` names device {device}; there are 8", span, help="give a cluster of 2 nodes")


def test_the_same_of_several_subjects_is_one_finding_with_its_list() -> None:
    (found,) = merge_by_cause([outside("actor", 15), outside("critic", 11), outside("reward.rule", 9, THERE)])
    assert (found.subject, found.also) == ("actor", ("critic", "reward.rule"))
    assert found.notes == ("the same of `critic`, `reward.rule` (line 5)",)


@pytest.mark.parametrize(
    "other",
    [
        replace(outside("critic", 15), help="give a cluster of 3 nodes of 4"),
        replace(outside("critic", 15), edit=Edit(THERE, "0-7")),
        replace(outside("critic", 15), code="PW103"),
        replace(outside("critic", 15), message="`critic` names nothing"),
        outside("actor", 15, THERE),
        warning("PW102", "critic", "`critic` names device 15; there are 8", HERE, help="give a cluster of 2 nodes"),
    ],
)
def test_what_differs_in_more_than_its_subject_stays_apart(other: Finding) -> None:
    assert merge_by_cause([outside("actor", 15), other]) == [outside("actor", 15), other]


def test_one_edit_that_mends_several_is_one_finding() -> None:
    edit = Edit(HERE, "8")
    found = [error("PW401", each, f"9 samples over {each}", HERE, help="set it to 8", edit=edit) for each in ("actor", "critic")]
    assert [(each.subject, each.edit) for each in merge_by_cause(found)] == [("actor", edit)]


def test_a_component_that_is_written_wrongly_is_not_said_to_be_absent() -> None:
    wrong = error("PW104", "rollout", "unknown key `accelerator`", HERE)
    absent, other = error("PW123", "rollout", "`rollout` is not placed", HERE), error("PW123", "reward", "`reward` is not placed", HERE)
    kept, held = first_causes([absent, wrong, other])
    assert kept == [wrong, other]
    assert [(each.rule, each.subject, each.why) for each in held] == [("PW123", "rollout", "judged once PW104 of `rollout` is fixed")]


def test_relations_wait_for_ranks_that_their_components_can_have() -> None:
    odd = error("PW208", "actor", "15 accelerators do not divide by 4", HERE)
    shared = error("PW211", "rollout", "actor and rollout share 15", THERE, premises=("actor", "rollout"))
    apart = error("PW211", "critic", "critic and reward share 1", THERE, premises=("critic", "reward"))
    assert first_causes([odd, shared, apart])[0] == [odd, apart]
    assert first_causes([shared])[0] == [shared]


def test_a_warning_is_no_premise_and_is_never_held_back() -> None:
    odd = warning("PW208", "actor", "15 accelerators do not divide by 4", HERE)
    shared = error("PW211", "rollout", "actor and rollout share 15", THERE, premises=("actor", "rollout"))
    assert first_causes([odd, shared])[0] == [odd, shared]
