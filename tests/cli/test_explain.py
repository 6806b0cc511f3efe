"""`placewright explain`: pages, the list, and codes that do not exist."""

from __future__ import annotations

import json
import subprocess
import sys

import placewright
import pytest
from placewright.cli.main import run
from placewright.models.codes import CODES

HEAVY = ("ortools", "ray", "networkx", "rich", "pydantic", "yaml")


def test_codes_are_explained_in_the_order_in_which_they_were_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "PW203", "pw102"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"PW203: {CODES['PW203']}\n")
    assert f"\n\n\nPW102: {CODES['PW102']}\n" in out
    assert "\x1b" not in out


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {code}  {title}\n" in out for code, title in CODES.items())


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "PW102", "PW103", "--format", "json"]) == 0
    assert [page["code"] for page in json.loads(capsys.readouterr().out)["codes"]] == ["PW102", "PW103"]
    assert run(["explain", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["codes"]) == len(CODES)


def test_a_code_that_does_not_exist_is_exit_2_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "PW102", "PW1O3"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "there is no code `PW1O3`; did you mean PW103 (" in captured.err


def test_a_name_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "\x1b[2J"]) == 2
    assert r"`\x1b[2J`" in capsys.readouterr().err


def test_the_front_door_explains_too() -> None:
    assert placewright.explain("PW102").startswith(f"PW102: {CODES['PW102']}\n")
    with pytest.raises(ValueError, match="did you mean PW102"):
        placewright.explain("PW1O2")


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys\nfrom placewright.cli.main import run\nrun(['explain', 'PW202'])\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []
