"""One fault of the hints is one finding, whose help is what mends it."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest


def said(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "job.yaml"
    file.write_text("cluster: 1x8xH100\n" + text)
    try:
        findings = pw.verify(file).findings
    except pw.UnusableInput as problem:
        findings = problem.findings
    return [f"{each.code} {each.message}; {each.help}" for each in findings]


@pytest.mark.parametrize(
    ("hints", "told"),
    [
        ("{accelerators: 8, tp: 2}", "PW104 unknown key `tp` in the hints of `actor`; write `parallel: {tp: ...}`"),
        ("{accelerators: 8, model: x}", "PW104 unknown key `model` in the hints of `actor`; write `estimate: {model: ...}`"),
        (
            "{accelerators: 16-8}",
            "PW105 `accelerators` of the hints of `actor`: `16-8` runs backwards; write a number such as `16`, a range such as `8-32`, or a list of them such as `[2, 4, 8-16]`",
        ),
        ("{accelerators: 8, pin: {rnaks: 0, nodes: 1}}", "PW104 unknown key `pin.rnaks` in the hints of `actor`; write `ranks`"),
        ("{seconds: [{accelerators: 8, secnods: 3}]}", "PW104 unknown key `seconds.0.secnods` in the hints of `actor`; write `seconds`"),
        (
            "{accelerators: 8, memory: 50GiB, phase: train, offloaded: 60GiB}",
            "PW121 `actor` keeps 60 GiB while it is offloaded, more than the 50 GiB that it needs; write less, or more `memory`",
        ),
    ],
)
def test_a_fault_is_told_once_with_what_mends_it(hints: str, told: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"components:\n  actor: {hints}\n") == [told]


@pytest.mark.parametrize("key", ["level", "node", "ranks"])
def test_a_key_of_the_items_of_lists_is_no_key_of_a_map(key: str, tmp_path: Path) -> None:
    """And of thirty keys none is named that is not like it."""
    (found,) = said(tmp_path, f"components:\n  actor: {{accelerators: 8, {key}: 1}}\n")
    assert found.startswith(f"PW104 unknown key `{key}` in the hints of `actor`; no key is like it; `placewright schema` has all 3")


def test_of_few_keys_all_are_named(tmp_path: Path) -> None:
    (found,) = said(tmp_path, "components:\n  actor: {accelerators: 8, parallel: {tp: 2, zz: 1}}\n")
    assert found == "PW104 unknown key `parallel.zz` in the hints of `actor`; known keys are tp, pp, cp, ep, dp"


def test_a_missing_key_that_no_other_is_meant_for_is_told_too(tmp_path: Path) -> None:
    found = said(tmp_path, "components:\n  actor: {accelerators: 8, pin: {colour: 0, nodes: 1}}\n")
    assert [each.split(";")[0] for each in found] == [
        "PW101 `pin.ranks` of the hints of `actor` is missing",
        "PW104 unknown key `pin.colour` in the hints of `actor`",
    ]


def test_a_key_of_a_map_within_the_plan_is_told_where_it_belongs(tmp_path: Path) -> None:
    found = said(tmp_path, "components:\n  actor: {seconds: {8: 10}}\nplan: {seconds: 5}\n")
    assert found == ["PW104 unknown key `seconds` in `plan`; write `budget: {seconds: ...}`"]


def test_a_tab_is_called_one(tmp_path: Path) -> None:
    assert said(tmp_path, "components:\n\tactor: {}\n") == ["PW003 this is not YAML: a tab indents this line; indent with spaces"]


def test_times_of_a_phase_that_is_not_among_the_phases_are_warned_of(tmp_path: Path) -> None:
    text = "components:\n  rollout: {seconds: {generate: {8: 10}}, phase: PHASE}\n  actor: {seconds: {train: {8: 10}}}\n"
    assert said(tmp_path, text.replace("PHASE", "train")) == [
        "PW121 `rollout` has times for the phase `generate`, and its `phase` says `train`; "
        "name all its phases in `phase`, or leave that out: its times name them"
    ]
    for phases in ("generate", "[train, generate]"):
        assert said(tmp_path, text.replace("PHASE", phases)) == []


def test_a_name_is_compared_with_those_of_faulty_components_too(tmp_path: Path) -> None:
    text = "components:\n  actor: {accelerators: 4, gpus: 4}\n  rolout: {accelerators: 4}\n  rollout: {accelerators: 4, colocate_with: acter}\n"
    assert said(tmp_path, text)[1:] == ["PW121 `rollout` names `acter` in `colocate_with`, which is not a component; write `actor`"]
