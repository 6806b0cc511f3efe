"""Launches are written down where nobody but their user can write, under names that are names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from placewright.runtime.detached import record as room
from placewright.runtime.failure import LaunchFailed


def code(caught: pytest.ExceptionInfo[LaunchFailed]) -> str:
    return caught.value.findings[0].code


def test_it_is_made_for_this_user_alone(directory: Path) -> None:
    assert room.launches_directory() == directory
    assert directory.stat().st_mode & 0o777 == 0o700
    assert room.names() == []


@pytest.mark.parametrize("runtime", ["", "relative", "/nowhere/at/all"])
def test_without_a_directory_of_the_session_it_is_beside_the_temporary_files(
    runtime: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    monkeypatch.setattr(room.tempfile, "gettempdir", lambda: str(tmp_path))
    assert room.launches_directory() == tmp_path / f"placewright-{os.getuid()}"


def test_one_that_others_could_use_is_refused(directory: Path) -> None:
    room.launches_directory().chmod(0o770)
    with pytest.raises(LaunchFailed, match=r"others may use it \(mode 0770\)") as caught:
        room.names()
    assert code(caught) == "PW732"
    assert caught.value.exit_code == 2


def test_one_that_belongs_to_somebody_else_is_refused(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room.launches_directory()
    monkeypatch.setattr(room.os, "getuid", lambda: 12_345)
    with pytest.raises(LaunchFailed, match="it belongs to user"):
        room.names()


def test_a_link_is_refused_whatever_it_leads_to(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    directory.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LaunchFailed, match="it is not a directory"):
        room.launches_directory()


def test_a_file_in_its_place_is_refused(directory: Path) -> None:
    directory.write_text("")
    with pytest.raises(LaunchFailed, match="File exists"):
        room.launches_directory()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a b", "a\n", "\x1b[2J", "ä", "x" * 65, "$(id)", "a;b"])
def test_what_is_no_name_is_refused_before_anything_is_looked_at(name: str) -> None:
    with pytest.raises(LaunchFailed) as caught:
        room.directory_of(name)
    assert code(caught) == "PW730"


@pytest.mark.parametrize("name", ["a", "trial-2", "A.b_c", "x" * 64, "..."])
def test_names_are_letters_digits_dots_and_dashes(name: str, directory: Path) -> None:
    assert room.directory_of(name) == directory / name
