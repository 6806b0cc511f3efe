"""What may be written of the time that a component takes, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest

WRONG = {
    "{8: 5, 08: 6}": "`a` has two times for 8 accelerators",
    "[{seconds: 3, accelerators: 8, phase: train}, {seconds: 4, accelerators: 8, phase: train}]": "`a` has two times for train on 8 accelerators",
    "[{seconds: 3, tp: 2, accelerator: H100}, {seconds: 4, tp: 2, accelerator: H100}]": "`a` has two times for 8 H100 with tp 2",
    "{8: 5, train: 3}": "`seconds.train` of the hints of `a`: `train` is beside counts of accelerators, and is not a whole number",
    "{8.5: 3}": "`seconds.8.5` of the hints of `a`: `8.5` is neither a count of accelerators nor a phase",
    "{-8: 3}": "`seconds.-8` of the hints of `a`: `-8` is neither a count of accelerators nor a phase",
    "{}": "`seconds` of the hints of `a`: nothing was measured",
    "[]": "`seconds` of the hints of `a`: nothing was measured",
    "{train: {}}": "`seconds.train` of the hints of `a`: nothing was measured",
    "0": "`seconds` of the hints of `a`: 0 seconds are no time: more than 0 are meant, and at most 10,000,000",
    "{8: abc}": "`seconds.8` of the hints of `a`: `abc` is not a number of seconds",
    "{train: {8: -1}}": "`seconds.train.8` of the hints of `a`: -1 seconds are no time: more than 0 are meant, and at most 10,000,000",
    "{8: 3, 0: 4}": "`seconds.0` of the hints of `a`: nothing is measured on 0 accelerators",
    "{train: {infer: 3}}": "`seconds.train.infer` of the hints of `a`: `infer` is neither a count of accelerators nor a model of these",
    "{8: 5, four: 3}": "`seconds.four` of the hints of `a`: `four` is beside counts of accelerators, and is not a whole number",
}
RIGHT = [
    "[{seconds: 3, accelerators: 8}, {seconds: 3, accelerators: 8}]",
    "[{seconds: 3, accelerators: 8, tp: 1}, {seconds: 4, accelerators: 8, tp: 2}]",
    "{train: 3, infer: 4}",
    "{8: 3, 16: 2}",
]


def verified(folder: Path, seconds: str) -> list[str]:
    file = folder / "job.yaml"
    file.write_text(f"cluster: 2x8xH100\ncomponents:\n  a: {{accelerators: 8, seconds: {seconds}}}\n", encoding="utf-8")
    return [finding.message for finding in pw.verify(file).findings if finding.severity.value == "error"]


@pytest.mark.parametrize("seconds", WRONG)
def test_times_that_cannot_be_meant_are_said(seconds: str, tmp_path: Path) -> None:
    assert verified(tmp_path, seconds) == [WRONG[seconds]]


@pytest.mark.parametrize("seconds", RIGHT)
def test_these_can(seconds: str, tmp_path: Path) -> None:
    assert not verified(tmp_path, seconds)


@pytest.mark.parametrize(("seconds", "at"), [("{8: 3, 16: abc}", "abc"), ("{train: {8: 3}, infer: {8: 0}}", "0"), ("{train: x}", "x")])
def test_a_time_that_is_none_is_pointed_at(seconds: str, at: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    text = f"cluster: 2x8xH100\ncomponents:\n  a: {{accelerators: 8, seconds: {seconds}}}\n"
    file.write_text(text, encoding="utf-8")
    (finding,) = [each for each in pw.verify(file).findings if each.severity.value == "error"]
    assert finding.span is not None and text[finding.span.start : finding.span.end] == at
    assert finding.help == "write a number such as `59.9`"


@pytest.mark.parametrize(
    ("seconds", "at"),
    [
        ("{-8: 80}", "-8"),
        ("{8.5: 80}", "8.5"),
        ("{0: 80}", "0"),
        ("{8: 80, 0: 90}", "0"),
        ("{train: {8: 80, x: 90}}", "x"),
        ("{8: fast}", "fast"),
    ],
)
def test_the_word_that_is_wrong_is_pointed_at(seconds: str, at: str, tmp_path: Path) -> None:
    text = f"cluster: 2x8xH100\ncomponents:\n  a: {{accelerators: 8, seconds: {seconds}}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (found,) = pw.verify(tmp_path / "job.yaml").findings
    assert found.span is not None and text[found.span.start : found.span.end] == at


@pytest.mark.parametrize(
    ("seconds", "wrong"),
    [
        ("{8: x, 16: 3, 32: -1}", ["seconds.8", "seconds.32"]),
        ("{train: {8: 3, 16: y}, infer: z}", ["seconds.train.16", "seconds.infer"]),
        ("{train: {H100: {8: 0}, A100: {8: x, 16: 4}}}", ["seconds.train.H100.8", "seconds.train.A100.8"]),
    ],
)
def test_every_time_that_is_none_is_told(seconds: str, wrong: list[str], tmp_path: Path) -> None:
    assert [message.split("`")[1] for message in verified(tmp_path, seconds)] == wrong


@pytest.mark.parametrize(
    ("hint", "told", "advice"),
    [
        ("pin: {rank: 0}", ["`pin.nodes` of the hints of `a` is missing", "unknown key `pin.rank` in the hints of `a`"], "write `ranks`"),
        ("pin: {ranks: 0}", ["`pin.nodes` of the hints of `a` is missing"], "add `pin.nodes:`"),
    ],
)
def test_a_misspelt_key_is_one_fault(hint: str, told: list[str], advice: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(f"cluster: 2x8xH100\ncomponents:\n  a: {{accelerators: 8, {hint}}}\n", encoding="utf-8")
    found = [each for each in pw.verify(tmp_path / "job.yaml").findings if each.severity.value == "error"]
    assert [each.message for each in found] == told and found[-1].help == advice


def test_what_is_advised_first_can_be_written_where_the_count_is_open(tmp_path: Path) -> None:
    """A single number says nothing there: nobody knows on how many accelerators it was measured."""
    text = "cluster: 2x8xH100\ncomponents:\n  a: {{seconds: {}}}\n"
    (tmp_path / "job.yaml").write_text(text.format("fast"), encoding="utf-8")
    (found,) = pw.verify(tmp_path / "job.yaml").findings
    (tmp_path / "job.yaml").write_text(text.format(found.help.split("`")[1]), encoding="utf-8")
    assert not pw.verify(tmp_path / "job.yaml").errors


@pytest.mark.parametrize(
    ("seconds", "at", "advice"),
    [
        ("{four: 100}", ["four"], "write `four: {8: 120}`"),
        ("{four: 100, five: 90}", ["four", "five"], "write `five: {8: 120}`"),
        ("{8: 100, four: 90}", ["four"], "write counts of accelerators, such as `{8: 120, 16: 66}`"),
        ("{train: {four: 100}}", ["four"], "write `four: {8: 120}`"),
        ("{H100: {four: 100}}", ["four"], "write `four: {8: 120}`"),
        ("{train: {8: 5, four: 100}}", ["four"], "write counts of accelerators, such as `{8: 120, 16: 66}`"),
        ("{train: 100}", ["train"], "write `train: {8: 120}`"),
        ("{H100: 100}", ["H100"], "write `H100: {8: 120}`"),
        ("{8: 5, train: 100}", ["train"], "write counts of accelerators, such as `{8: 120, 16: 66}`"),
    ],
)
def test_a_key_that_is_no_count_is_pointed_at(seconds: str, at: list[str], advice: str, tmp_path: Path) -> None:
    """The whole map was, as if the count were missing: `nobody says on how many accelerators`."""
    file = tmp_path / "job.yaml"
    text = f"cluster: 2x8xH100\ncomponents:\n  actor: {{seconds: {seconds}}}\n"
    file.write_text(text, encoding="utf-8")
    found = [each for each in pw.verify(file).findings if each.severity.value == "error"]
    assert [text[each.span.start : each.span.end] for each in found if each.span is not None] == at
    assert found[-1].help.endswith(advice)


def test_a_phase_of_a_name_of_its_own_is_one_where_the_count_is_known(tmp_path: Path) -> None:
    assert not verified(tmp_path, "{four: 100, five: 90}")
