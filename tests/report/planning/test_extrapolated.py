"""A plan on counts that nobody measured is proved the best under the times that are taken there, and nowhere without saying so."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.cli.main import run
from placewright.models.account import Account
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from printed import last_line

RISING = "cluster: 2x8xH100\ncomponents:\n  actor: {seconds: {8: 100, 16: 120}}\n"
TWO = """
cluster: 2x8xH100
components:
  rollout: {seconds: {4: 90, 8: 50}, phase: generate}
  actor: {seconds: {8: 60}, phase: train}
plan: {workflow: rollout => actor}
"""


def account(tmp_path: Path, text: str) -> Account:
    (tmp_path / "job.yaml").write_text(text)
    found = pw.account(tmp_path / "job.yaml", sandbox=False, searches=0)
    assert found is not None
    return found


def headline(tmp_path: Path, text: str) -> str:
    return render(account(tmp_path, text))[0].splitlines()[0]


def test_the_line_of_the_proof_says_that_times_are_extrapolated_and_how_far(tmp_path: Path) -> None:
    """On 16 it takes longer than on 8: one accelerator was `proved the best`, as if anybody had measured it."""
    said = headline(tmp_path, RISING)
    assert "1 accelerator, proved the best under times extrapolated for actor, 8.0x beyond what was measured (" in said


def test_times_that_rise_are_told_where_fewer_are_taken_to_be_quicker(tmp_path: Path) -> None:
    said = "\n".join(render(account(tmp_path, RISING)))
    line = "actor on 1: extrapolated from 8 and 16 (power), 8.0x beyond: measure it there; 16 took longer than 8, so that fewer are taken to be quicker"
    assert f"  {line}\n" in said


@pytest.mark.parametrize("more", ["accelerators: 32, ", "accelerators: 8, "])
def test_more_that_are_slower_and_what_was_measured_need_no_such_word(tmp_path: Path, more: str) -> None:
    said = "\n".join(render(account(tmp_path, RISING.replace("2x8", "4x8").replace("{seconds", f"{{{more}seconds"))))
    assert "took longer" not in said


def test_of_several_the_farthest_is_told(tmp_path: Path) -> None:
    assert "under times extrapolated for rollout and actor, up to 2.0x beyond what was measured (" in headline(tmp_path, TWO)


def test_a_comma_parts_it_from_the_sorts_of_plans_that_were_compared(tmp_path: Path) -> None:
    text = TWO.replace("{4: 90, 8: 50}", "{8: 100, 16: 60}").replace("{8: 60}", "{8: 100, 16: 120}")
    assert " shared whole, under times extrapolated for actor, 8.0x beyond" in headline(tmp_path, text)


@pytest.mark.parametrize("counts", ["{8: 100, 16: 60}", "{1: 100, 32: 60}"])
def test_what_was_measured_or_lies_between_needs_no_condition(tmp_path: Path, counts: str) -> None:
    found = account(tmp_path, RISING.replace("{8: 100, 16: 120}", counts))
    assert "proved the best (" in render(found)[0] and "extrapolated" not in to_data(found)


def test_given_ranks_are_so_far_from_a_bound_under_such_times(tmp_path: Path) -> None:
    text = TWO.replace("generate", "generate, placement: 0-15").replace("train", "train, placement: 0-15, colocate_with: rollout")
    assert (
        "from the bound with accelerators shared whole, under times extrapolated for rollout and actor, up to 2.0x beyond what was measured: keep it ("
        in headline(tmp_path, text)
    )


def test_json_names_them_beside_the_proof(tmp_path: Path) -> None:
    data = to_data(account(tmp_path, RISING))
    assert (data["proved"], data["extrapolated"]) == (True, ["actor"])


@pytest.mark.parametrize(
    ("text", "said"), [(RISING, "proved the best under extrapolated times) in "), (RISING.replace("8:", "1:"), "best) in ")]
)
def test_the_last_line_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (tmp_path / "job.yaml").write_text(text)
    assert run(["solve", str(tmp_path / "job.yaml")]) == 0
    assert said in last_line(capsys.readouterr().out)
