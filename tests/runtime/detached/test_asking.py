"""What is told of launches: those that live, those that have failed, and those whose keeper was killed, which are told once."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Iterator

import pytest
from placewright.cli.main import run
from placewright.models.findings.finding import Finding, Unchecked, error
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.runtime.detached.launches import LOST, attach, detach, launch_named, launches, stop
from placewright.runtime.detached.messages import LaunchRequest
from placewright.runtime.detached.record import (
    FAILED,
    FILE,
    LOCK,
    LOG,
    RECOVERING,
    RUNNING,
    Claim,
    Record,
    check_free,
    is_held,
    record_of,
)
from placewright.runtime.failure import LaunchFailed, build_failure

from ...unhindered import unhindered
from ..fake import FakePort
from ..faults.everywhere import brought_up


def record(name: str, state: str = RUNNING, *findings: Finding) -> Record:
    return Record(name=name, state=state, since=0.0, pid=os.getpid(), file="job.yaml", simulated=True, findings=findings)


def recovering(name: str) -> Record:
    """A launch that is starting again."""
    lost = build_failure("PW713", "b", "node `b` is lost, and with it ranks `actor` 4-7", "launch with restarts", 1)
    return replace(record(name, RECOVERING, *lost.findings), restarts=1, allowed=2, recoveries=("running again after 4.0 s",))


def of_unseen_robots(name: str) -> Record:
    """A launch that asks for hardware of which Ray knows nothing."""
    return replace(record(name), unchecked=(Unchecked("franka", "env", "Ray does not know whether its nodes have this hardware"),))


def hold(name: str, ready: object, stubborn: bool, again: bool = False) -> None:
    """A keeper: it holds the name until somebody asks it to end, unless it is deaf."""
    claim = Claim(name)
    claim.take()
    claim.write(recovering(name) if again else record(name))
    ready.set()  # type: ignore[attr-defined]
    while stubborn or not claim.asked_to_stop:
        time.sleep(0.01)
    claim.give_up()


class Keepers:
    """Processes that hold launches."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("fork")
        self.processes: list[multiprocessing.process.BaseProcess] = []

    def start(self, name: str, stubborn: bool = False, again: bool = False) -> int:
        ready = self._context.Event()
        process = self._context.Process(target=hold, args=(name, ready, stubborn, again), daemon=True)
        process.start()
        self.processes.append(process)
        assert ready.wait(60)
        return process.pid or 0


@pytest.fixture
def keepers() -> Iterator[Keepers]:
    its = Keepers()
    yield its
    for process in its.processes:
        process.kill()
        process.join()


def test_where_nothing_is_written_down_there_are_none() -> None:
    assert launches() == []


def test_a_launch_that_lives_is_told_and_stays(keepers: Keepers) -> None:
    keepers.start("one")
    keepers.start("another")
    assert [(seen.record.name, seen.state, seen.alive) for seen in launches()] == [("another", RUNNING, True), ("one", RUNNING, True)]
    assert launch_named("one").state == RUNNING


def test_a_launch_that_starts_again_lives_and_status_says_what_it_lost(keepers: Keepers, capsys: pytest.CaptureFixture[str]) -> None:
    keepers.start("one", again=True)
    (seen,) = launches()
    assert (seen.state, seen.alive, seen.record.restarts, seen.record.allowed) == (RECOVERING, True, 1, 2)
    assert run(["status"]) == 0
    said = capsys.readouterr().out
    assert " recovering " in said and " 1/2 " in said
    assert said.endswith("\none starts again: node `b` is lost, and with it ranks `actor` 4-7\n")
    with pytest.raises(LaunchFailed, match="`one` is recovering") as caught, attach("one"):
        pytest.fail("it was attached to")
    assert caught.value.findings[0].help == "attach when it runs"
    with pytest.raises(LaunchFailed, match="a launch named `one` is there already"):
        check_free("one")
    assert stop("one").alive
    assert launches() == []


def test_its_name_cannot_be_taken(keepers: Keepers) -> None:
    keepers.start("one")
    with pytest.raises(LaunchFailed, match="a launch named `one` is there already") as caught:
        Claim("one").take()
    assert caught.value.findings[0].code == "PW731"
    assert launch_named("one").alive


def test_a_taken_name_is_told_at_once_and_no_keeper_is_started(keepers: Keepers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *arguments, **more: pytest.fail("a keeper was started"))
    keepers.start("one")
    request = LaunchRequest(
        name="one", file="job.yaml", plan=Plan(read_shorthand("1x1"), Assignment({}), VERIFIED), address=None, worker=None, method=None, timeout=1, wait=1, restarts=0, trusted_env=()
    )  # fmt: skip
    began = unhindered()
    with pytest.raises(LaunchFailed, match="a launch named `one` is there already") as caught:
        detach(request, 1)
    assert unhindered() - began < 0.1
    assert caught.value.findings[0].code == "PW731"
    assert launch_named("one").alive


def test_a_keeper_that_ends_before_it_has_read_the_request_says_why_whatever_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("placewright.runtime.detached.launches.BEGIN", "raise SystemExit('no memory left')")
    request = LaunchRequest(name="one", file="x" * (1 << 20), plan=Plan(read_shorthand("1x1"), Assignment({}), VERIFIED), timeout=1e9)
    with pytest.raises(LaunchFailed, match="the keeper of the launch failed: no memory left") as caught:
        detach(request, 1)
    assert caught.value.findings[0].code == "PW733"


def test_the_verb_says_so_before_it_reads_the_file(keepers: Keepers, capsys: pytest.CaptureFixture[str]) -> None:
    keepers.start("one")
    assert run(["launch", "no-such-file.yaml", "--simulate", "--detach", "one"]) == 2
    assert "error[PW731]: a launch named `one` is there already" in capsys.readouterr().err


def test_a_name_is_not_refused_for_what_is_dead_or_has_ended_or_is_not_there(keepers: Keepers) -> None:
    os.kill(keepers.start("dead"), signal.SIGKILL)
    keepers.processes[0].join()
    over = Claim("over")
    over.take()
    over.write(record("over", FAILED))  # its keeper is about to end
    for name in ("dead", "over", "never"):
        check_free(name)
    over.give_up()
    with pytest.raises(LaunchFailed) as caught:
        check_free("../one")
    assert caught.value.findings[0].code == "PW730"


def test_it_is_asked_to_end_and_waited_for(keepers: Keepers, directory: Path) -> None:
    keepers.start("one")
    assert stop("one").alive
    assert list(directory.iterdir()) == []
    with pytest.raises(LaunchFailed, match="there is no launch named `one`"):
        stop("one")


def test_a_keeper_that_does_not_heed_is_killed(keepers: Keepers, directory: Path) -> None:
    keepers.start("one", stubborn=True)
    assert stop("one", limit=0.2).alive
    keepers.processes[0].join(60)
    assert keepers.processes[0].exitcode == -signal.SIGKILL
    assert list(directory.iterdir()) == []


def test_one_whose_keeper_was_killed_is_told_once_and_cleaned_away(keepers: Keepers, directory: Path) -> None:
    os.kill(keepers.start("one"), signal.SIGKILL)
    keepers.processes[0].join()
    (directory / "one" / LOG).write_text("first\nno memory left\n")
    (seen,) = launches()
    assert (seen.state, seen.alive) == (LOST, False)
    assert seen.findings[0].code == "PW733"
    assert seen.findings[0].message.endswith("was killed: no memory left")
    assert launches() == []
    assert list(directory.iterdir()) == []


def test_its_name_is_free_again_at_once(keepers: Keepers, directory: Path) -> None:
    os.kill(keepers.start("one"), signal.SIGKILL)
    keepers.processes[0].join()
    (directory / "one" / LOG).write_text("of the dead")
    claim = Claim("one")
    claim.take()
    assert [path.name for path in (directory / "one").iterdir()] == [LOCK]
    assert launches() == []  # nothing is written down yet
    assert is_held(claim.path)
    claim.give_up()
    claim.give_up()
    assert list(directory.iterdir()) == []


def test_one_that_has_failed_says_why_until_it_is_stopped(directory: Path) -> None:
    claim = Claim("one")
    claim.take()
    claim.write(record("one", FAILED, error("PW704", "actor", "rank 1 died", help="look")))
    claim.give_up(leave_record=True)
    for _ in range(2):
        assert launch_named("one").findings[0].message == "rank 1 died"
    assert not stop("one").alive
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2}', '{"schema": 1, "name": "one", "state": "asleep"}', "\x00" * 99])
def test_what_is_no_record_is_refused(text: str, directory: Path) -> None:
    claim = Claim("one")
    claim.take()
    (directory / "one" / FILE).write_text(text)
    with pytest.raises(LaunchFailed) as caught:
        launches()
    assert caught.value.findings[0].code == "PW732"
    claim.give_up()


def test_a_lock_that_is_a_link_is_not_followed(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    Claim("one").path.mkdir(mode=0o700)
    (directory / "one" / LOCK).symlink_to(tmp_path / "other")
    with pytest.raises(LaunchFailed) as caught:
        Claim("one").take()
    assert caught.value.findings[0].code == "PW732"
    with pytest.raises(LaunchFailed):
        launches()


def test_of_many_that_want_a_name_at_once_one_gets_it() -> None:
    claims = [Claim("one") for _ in range(8)]
    won: list[Claim] = []
    barrier = threading.Barrier(len(claims))

    def take(claim: Claim) -> None:
        barrier.wait()
        try:
            claim.take()
        except LaunchFailed:
            return
        won.append(claim)

    threads = [threading.Thread(target=take, args=(claim,)) for claim in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    won[0].give_up()


def test_what_nobody_could_see_is_told_of_a_launch_that_another_process_holds(capsys: pytest.CaptureFixture[str]) -> None:
    claim = Claim("robots")
    claim.take()
    claim.write(of_unseen_robots("robots"))
    assert run(["status", "robots"]) == 0
    assert "not checked:\n  franka env: Ray does not know whether its nodes have this hardware\n" in capsys.readouterr().out
    assert run(["status", "robots", "--format", "json"]) == 0
    (its,) = json.loads(capsys.readouterr().out)["launches"]
    assert [each["rule"] for each in its["unchecked"]] == ["franka"]
    claim.give_up()


def test_what_nobody_could_see_is_written_down_of_a_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as stack:
        running = brought_up(stack, FakePort(4, 4))
        unseen = Unchecked("franka", "env", "Ray does not know whether its nodes have this hardware")
        monkeypatch.setattr(type(running), "unchecked", (unseen,))
        seen = record_of("trial", "job.yaml", running, is_simulated=True)
    assert seen.unchecked == (unseen,)
