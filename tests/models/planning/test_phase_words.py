"""A phase that no other component names and that nearly is a usual one is told; phases are free words all the same."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest


def told(folder: Path, hints: str) -> list[tuple[str, str, str]]:
    """(component, what the caret points at, what is advised) of each such warning."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{accelerators: 8, phase: generate}}\n{hints}"
    (folder / "job.yaml").write_text(text)
    found = (each for each in pw.verify(folder / "job.yaml").findings if "no other component names" in each.message)
    return [(each.subject, text[each.span.start : each.span.end] if each.span else "", each.help) for each in found]


@pytest.mark.parametrize(
    ("hints", "at", "close"),
    [
        ("{accelerators: 8, phase: trian}", "trian", "train"),
        ("{accelerators: 8, phase: [train, genrate]}", "genrate", "generate"),
        ("{seconds: {8: 60}, phase: Train}", "Train", "train"),
        ("{seconds: {infr: {8: 60}, train: 80}, accelerators: 8}", "infr", "infer"),
    ],
)
def test_a_word_that_is_nearly_a_usual_one(hints: str, at: str, close: str, tmp_path: Path) -> None:
    assert told(tmp_path, f"  actor: {hints}\n") == [("actor", at, f"write `{close}`, if that is meant")]


def test_a_word_that_is_nearly_that_of_another_component(tmp_path: Path) -> None:
    both = "  judge: {accelerators: 8, phase: verdict}\n  critic: {accelerators: 8, phase: [verdict, verdcit]}\n"
    assert told(tmp_path, both) == [("critic", "verdcit", "write `verdict`, if that is meant")]


@pytest.mark.parametrize("phase", ["infer1", "infer_critic", "training", "regenerate", "sleep", "generate", "[infer, train]", "2"])
def test_phases_are_free_words(phase: str, tmp_path: Path) -> None:
    assert not told(tmp_path, f"  actor: {{accelerators: 8, phase: {phase}}}\n")


def test_what_two_components_say_is_meant(tmp_path: Path) -> None:
    assert not told(tmp_path, "  actor: {accelerators: 8, phase: trian}\n  critic: {accelerators: 8, phase: trian}\n")
