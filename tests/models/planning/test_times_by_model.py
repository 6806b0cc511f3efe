"""The short form of times by model: its keys are models where the cluster has them, or where they are known by name."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

CLUSTER = "cluster: 1x8xH100 + 1x8xmine\n"


def timed(folder: Path, hints: str) -> set[tuple[str, str, int, int]]:
    """(phase, model, accelerators, whole seconds) of each time of a component with these hints."""
    (folder / "job.yaml").write_text(f"{CLUSTER}components:\n  actor: {hints}\n")
    loaded = pw.load(folder / "job.yaml")
    assert not loaded.findings, loaded.findings
    component = loaded.problem["actor"]
    assert component.timed is not None
    return {(each.phase, each.model, each.accelerators, each.nanoseconds // 10**9) for each in component.timed.measured}


def told(folder: Path, hints: str) -> list[tuple[str, str, str]]:
    """(code, what the caret points at, what is advised) of each finding about its times."""
    text = f"{CLUSTER}components:\n  actor: {hints}\n"
    (folder / "job.yaml").write_text(text)
    found = pw.verify(folder / "job.yaml").findings
    return [
        (each.code, text[each.span.start : each.span.end] if each.span else "", each.help)
        for each in found
        if "seconds" in each.message or "phase" in each.message
    ]


@pytest.mark.parametrize(
    ("hints", "times"),
    [
        ("{seconds: {H100: {4: 60, 8: 32}, mine: {8: 90}}}", {("", "H100", 4, 60), ("", "H100", 8, 32), ("", "mine", 8, 90)}),
        ("{seconds: {H100: {4: 60}, A100: {8: 90}}}", {("", "H100", 4, 60), ("", "A100", 8, 90)}),
        ("{accelerators: 4, seconds: {H100: 60, mine: 70}}", {("", "H100", 4, 60), ("", "mine", 4, 70)}),
        ("{seconds: {train: {H100: {4: 60}, mine: {4: 70}}}}", {("train", "H100", 4, 60), ("train", "mine", 4, 70)}),
        ("{seconds: {infer: {8: 5}, train: {H100: {4: 60}}}}", {("infer", "", 8, 5), ("train", "H100", 4, 60)}),
        ("{seconds: {H100: {4: 60}, 4090: {8: 90}}}", {("", "H100", 4, 60), ("", "4090", 8, 90)}),
        ("{seconds: {train: {4090: {8: 90}, H100: {8: 30}}}}", {("train", "4090", 8, 90), ("train", "H100", 8, 30)}),
        ("{seconds: {H100: {4: 60}}, phase: H100}", {("H100", "", 4, 60)}),
    ],
    ids=[
        "of this cluster",
        "one of another",
        "on as many as are asked for",
        "by phase and model",
        "one phase on any",
        "digits",
        "digits below a phase",
        "a phase of that name",
    ],
)
def test_times_by_model(hints: str, times: set[tuple[str, str, int, int]], tmp_path: Path) -> None:
    assert timed(tmp_path, hints) == times


def test_a_component_with_times_by_model_has_no_phases_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(f"{CLUSTER}components:\n  actor: {{seconds: {{H100: {{4: 60}}}}, phase: train}}\n")
    assert pw.load(tmp_path / "job.yaml").problem["actor"].phases == ("train",)


def test_a_phase_that_is_nearly_a_model_of_the_cluster(tmp_path: Path) -> None:
    assert told(tmp_path, "{seconds: {H10O: {4: 60}, mine: {4: 60}}}") == [("PW121", "H10O", "write `H100`, if that is meant")]


@pytest.mark.parametrize(
    "hints", ["{seconds: {A100: {4: 60}, mine: {4: 60}}}", "{seconds: [{accelerator: other, accelerators: 4, seconds: 6}]}"]
)
def test_a_model_of_another_cluster_is_no_fault(hints: str, tmp_path: Path) -> None:
    assert not told(tmp_path, hints)


@pytest.mark.parametrize(
    ("hints", "at"),
    [
        ("{seconds: {train: {H100: {4: 60}, 8: 30}}}", "H100"),
        ("{seconds: {train: {a b: {4: 60}}}}", "a b"),
        ("{seconds: {train: {4091: {4: 60}}}}", "{4: 60}"),
    ],
)
def test_what_is_neither_a_count_nor_a_model(hints: str, at: str, tmp_path: Path) -> None:
    assert [(code, caret) for code, caret, _ in told(tmp_path, hints)] == [("PW105", at)]
