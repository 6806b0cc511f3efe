"""The user's worker class is tried before anything starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.workers.inside.host import Reporter
from placewright.runtime.workers.worker_class import check_worker


def refusal(worker: str) -> str:
    with pytest.raises(LaunchFailed) as caught:
        check_worker(worker)
    (finding,) = caught.value.findings
    assert finding.code == "PW707"
    assert caught.value.exit_code == 2
    return finding.message


def test_without_a_name_it_is_the_one_that_knows_its_environment() -> None:
    assert check_worker(None) is Reporter


def test_a_class_itself_needs_no_name() -> None:
    assert check_worker(Path) is Path


@pytest.mark.usefixtures("worker_classes")
def test_a_class_beside_the_user_is_found_and_stays_out_of_this_process() -> None:
    assert check_worker("workers:Counter") == "workers:Counter"
    assert "workers" not in sys.modules


@pytest.mark.usefixtures("worker_classes")
@pytest.mark.parametrize(
    ("worker", "why"),
    [
        ("nowhere:Counter", "ModuleNotFoundError: No module named 'nowhere'"),
        ("workers:Missing", "AttributeError: module 'workers' has no attribute 'Missing'"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_the_reason(worker: str, why: str) -> None:
    assert refusal(worker) == f"the worker class `{worker}` cannot be imported: {why}"


@pytest.mark.usefixtures("worker_classes")
def test_what_is_no_class_is_refused() -> None:
    assert refusal("workers:NotAClass") == "`NotAClass` of `workers` is not a class"


@pytest.mark.usefixtures("worker_classes")
@pytest.mark.parametrize("worker", ["workers:Counter", Path, None])
def test_a_method_that_the_class_has_not_is_refused_before_anything_starts(worker: str | type | None) -> None:
    with pytest.raises(LaunchFailed, match="has no method `fly`") as caught:
        check_worker(worker, ["fly"])
    assert caught.value.exit_code == 2


@pytest.mark.usefixtures("worker_classes")
def test_methods_that_the_class_has_are_called_later() -> None:
    assert check_worker(Path, ["exists"]) is Path
    assert check_worker("workers:Counter", ["add"]) == "workers:Counter"
    assert check_worker(None, ["environment"]) is Reporter


def test_a_module_that_ends_its_process_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaves.py").write_text("import os\nos._exit(3)\n")
    monkeypatch.chdir(tmp_path)
    assert refusal("leaves:Worker") == "the worker class `leaves:Worker` cannot be imported: importing `leaves` ends the process with 3"


@pytest.mark.parametrize(
    "worker", ["workers", "workers.Counter", ":Counter", "workers:", "a:b:c", "os;print:x", "__import__('os'):x", "a-b:C"]
)
def test_what_is_not_a_name_is_never_tried(worker: str) -> None:
    assert refusal(worker) == f"`{worker}` is not the name of a class"


def test_a_module_that_fails_at_import_shows_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("import sys\nraise OSError('no such weights')\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LaunchFailed, match="OSError: no such weights") as caught:
        check_worker("broken:Worker")
    assert "broken.py" in caught.value.traceback


def test_an_import_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("placewright.runtime.workers.worker_class.IMPORT_LIMIT", 0.5)
    assert refusal("slow:Worker") == "importing `slow` took longer than 0.5 s"
