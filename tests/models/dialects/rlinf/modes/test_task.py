"""The class that places the components, from the task."""

from __future__ import annotations

import pytest
from placewright.models.configuration.notes import Notes
from placewright.models.configuration.settings import Settings
from placewright.models.dialects.rlinf.modes.state import TASKS, Placer, placer_of, task_of
from placewright.models.text.document import Document
from placewright.models.text.interpolation import Interpolator
from placewright.models.text.source import Source


def settings(text: str) -> tuple[Notes, Settings]:
    document = Document.of(Source("run.yaml", text))
    notes = Notes(document, "RLinf")
    return notes, Settings(notes, Interpolator.of(document, ()))


@pytest.mark.parametrize(
    ("task", "data", "placer"),
    [
        ("embodied", "", Placer.HYBRID),
        ("embodied_eval", "", Placer.HYBRID),
        ("sft", "", Placer.HYBRID),
        ("offline", "", Placer.HYBRID),
        ("coding_online_rl", "math", Placer.MODEL_PARALLEL),
        ("reasoning", "math", Placer.MODEL_PARALLEL),
        ("reasoning", "wideseek_r1", Placer.MULTI_AGENT),
        ("reasoning_eval", "math", Placer.MODEL_PARALLEL_EVAL),
        ("reasoning_eval", "wideseek_r1", Placer.MULTI_AGENT_EVAL),
    ],
)
def test_the_task_decides_and_the_data_tell_multi_agent_jobs(task: str, data: str, placer: Placer) -> None:
    notes, its = settings(f"runner: {{task_type: {task}}}\ndata: {{type: {data}}}\n")
    assert task_of(notes, its) == task
    assert placer_of(its, task) is placer
    assert task in TASKS


def test_a_task_through_an_interpolation_is_followed() -> None:
    notes, its = settings("runner: {task_type: '${kind}'}\nkind: reasoning\n")
    assert task_of(notes, its) == "reasoning"


def test_an_unknown_task_is_an_error_and_what_was_probably_meant_is_read_on() -> None:
    notes, its = settings("runner: {task_type: embodyed}\n")
    assert task_of(notes, its) == "embodied"
    (finding,) = notes.findings
    assert (finding.code, finding.help) == ("PW123", "write `embodied`")
    assert finding.edit is not None and finding.edit.text == "embodied"


def test_without_a_task_nothing_is_said_unless_it_may_stand_elsewhere() -> None:
    notes, its = settings("cluster: {}\n")
    assert task_of(notes, its) == "" and placer_of(its, "") is Placer.HYBRID
    assert not notes.findings and not notes.unchecked
    notes, its = settings("defaults: [base]\n")
    assert task_of(notes, its) == ""
    assert [each.subject for each in notes.unchecked] == ["runner.task_type"]
