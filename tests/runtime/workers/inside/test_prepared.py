"""What a process does before its user's object is constructed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from placewright.runtime.workers.inside.host import EXTENSION, prepare


@pytest.fixture
def extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(EXTENSION, "its_extension")
    monkeypatch.delitem(sys.modules, "its_extension", raising=False)
    return tmp_path / "its_extension.py"


def test_an_extension_is_imported_and_registers(extension: Path) -> None:
    extension.write_text("seen = []\ndef register():\n    seen.append(1)\n")
    prepare()
    assert sys.modules["its_extension"].seen == [1]


def test_one_that_is_missing_or_registers_nothing_is_logged(extension: Path, caplog: pytest.LogCaptureFixture) -> None:
    prepare()
    extension.write_text("")
    prepare()
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "RLINF_EXT_MODULE names `its_extension`, which cannot be imported",
        "RLINF_EXT_MODULE names `its_extension`, which has no register()",
    ]


def test_what_it_raises_comes_out(extension: Path) -> None:
    extension.write_text("def register():\n    raise KeyError('model')\n")
    with pytest.raises(KeyError, match="model"):
        prepare()
