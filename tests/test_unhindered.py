"""The time by which tests limit what must be soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from . import unhindered as measured


def test_what_waited_for_a_processor_does_not_count_and_all_does_where_nobody_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(measured, "PRESSURE", tmp_path / "cpu")
    assert measured.unhindered() == 100
    (tmp_path / "cpu").write_text(
        "some avg10=99.25 avg60=94.04 avg300=53.54 total=42500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
    )
    assert measured.unhindered() == 57.5


def test_a_rest_on_a_busy_machine_is_longer_and_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    for share, expected in ((0.0, 1.0), (0.5, 2.0), (1.0, 10.0)):
        now[0] = 0.0
        monkeypatch.setattr(measured, "unhindered", lambda share=share: now[0] * (1 - share))
        measured.rest(1.0)
        assert now[0] == pytest.approx(expected, abs=0.11)
