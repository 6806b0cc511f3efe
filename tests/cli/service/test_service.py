"""The service over HTTP: answers as the command line gives them, keys and limits first, faults that cost one process."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Iterator, cast

import placewright as pw
import pytest
from placewright.cli.main import run
from placewright.cli.service.workers import DEPTH, PLACES, Request, WorkerPool

pytest.importorskip("fastapi", reason="needs the extra `serve`")
TEXT = "cluster: 2x4xH100\ncomponents:\n  actor: {placement: 0-3}\n  rollout: {placement: 4-9}\n"
LONGER = "cluster: 64x8\ncomponents:\n" + "".join(f"  c{rank}: {{placement: {rank}}}\n" for rank in range(100))
"""Text that may wait in the pipe of a process, and takes many milliseconds."""
KEY = "a-key-for-tests"


def processes_of(pid: int) -> list[int]:
    """Processes that a process started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


class Service:
    """Running service and a connection that is kept."""

    def __init__(self, program: subprocess.Popen[str], port: int) -> None:
        self.program = program
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.used = time.monotonic()

    def ask(self, method: str, path: str, body: object = None, key: str = KEY, **headers: str) -> tuple[int, Any]:
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        if time.monotonic() - self.used > 2:  # the service closes a connection that is idle for 5 s
            self.connection.close()
        self.used = time.monotonic()
        self.connection.request(method, path, data, {"Authorization": f"Bearer {key}", **headers})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Service]:
    found = os.pathsep.join((str(folder), str(Path(pw.__file__).parents[1])))
    environment = {**os.environ, "PYTHONPATH": found, "PLACEWRIGHT_KEY": KEY}
    words = [sys.executable, "-m", "placewright", "serve-verify", "--port", "0", "--processes", "1", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as program:
        assert program.stdout is not None
        first = re.fullmatch(r"serving on http://127\.0\.0\.1:(\d+)\n", program.stdout.readline())
        assert first is not None
        try:
            yield Service(program, int(first.group(1)))
        finally:
            below = processes_of(program.pid)
            program.send_signal(signal.SIGINT)
            program.wait(20)
            assert not [pid for pid in below if is_running(pid)]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "secret.yaml").write_text("password: hunter2\n")
    with serving(folder) as running:
        yield running


def test_verify_answers_as_the_command_does(service: Service) -> None:
    status, answer = service.ask("POST", "/verify", {"text": TEXT})
    assert (status, answer["verdict"], [finding["code"] for finding in answer["findings"]]) == (200, "faulty", ["PW102"])
    status, answer = service.ask("POST", "/verify", {"text": TEXT.replace("4-9", "4-7"), "placements": True})
    assert (status, answer["verdict"], answer["components"]["rollout"]["world_size"]) == (200, "ok", 4)


def test_solve_gives_a_plan_that_reads_as_one(service: Service) -> None:
    status, answer = service.ask("POST", "/solve", {"text": "cluster: 2x4\ncomponents:\n  a: {accelerators: 3}\n", "limit": 1.0})
    assert (status, answer["status"], answer["components"]["a"][0]["ranks"]) == (200, "optimal", [0, 3])
    status, answer = service.ask("POST", "/solve", {"text": "cluster: 1x4\ncomponents:\n  a: {accelerators: 9}\n"})
    assert (status, answer["verdict"], answer["findings"][0]["code"]) == (200, "impossible", "PW601")


def test_explain_gives_the_page_of_a_code(service: Service) -> None:
    assert service.ask("GET", "/explain/PW102")[1]["codes"][0]["code"] == "PW102"
    assert service.ask("GET", "/explain/PW999")[0] == 404
    assert service.ask("GET", "/explain/..%2Fsetup")[0] == 404


def test_requests_are_refused_by_key_size_and_shape(service: Service) -> None:
    assert service.ask("POST", "/verify", {"text": TEXT}, key="wrong")[0] == 401
    assert service.ask("GET", "/health", key="wrong")[0] == 200
    assert service.ask("POST", "/verify", {"text": TEXT, "clster": "2x8"}) == (
        422,
        {"detail": [{"at": "clster", "message": "Extra inputs are not permitted"}]},
    )
    assert service.ask("POST", "/verify", b"[")[0] == 422
    assert service.ask("POST", "/verify", {"text": TEXT, "framework": ["nope==1"]})[0] == 422
    assert service.ask("POST", "/verify", {"text": "a: " + "x" * (1 << 20)})[0] == 422


def test_too_large_a_body_is_refused_unread(service: Service) -> None:
    service.connection.close()
    service.connection.putrequest("POST", "/verify")
    service.connection.putheader("Authorization", f"Bearer {KEY}")
    service.connection.putheader("Content-Length", str(1 << 40))
    service.connection.endheaders()
    answer = service.connection.getresponse()
    assert answer.status == 413
    service.connection.close()


def test_nothing_but_the_posted_text_is_read(service: Service) -> None:
    texts = {
        "defaults": "defaults: [secret]\ncluster: {num_nodes: 1, component_placement: {actor: 0}}\n",
        "script": "source ./secret.yaml\n",
    }
    for name, text in texts.items():
        answer = service.ask("POST", "/verify", {"text": text, "name": "a.sh" if name == "script" else "a.yaml", "cluster": "1x8"})
        assert "hunter2" not in json.dumps(answer)
    for cluster in ("secret.yaml", "/etc/passwd"):
        assert service.ask("POST", "/verify", {"text": TEXT, "cluster": cluster})[0] == 422


def test_what_it_takes_is_described(service: Service) -> None:
    described = service.ask("GET", "/openapi.json")[1]["paths"]
    assert {"/verify", "/solve", "/explain/{code}", "/health"} == set(described)
    schema = described["/verify"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"text", "name", "cluster", "dialect", "level", "settings", "framework", "placements"} == set(schema["properties"])


def test_the_page_for_people_lists_every_field_and_loads_nothing(service: Service) -> None:
    service.connection.request("GET", "/docs")
    page = service.connection.getresponse().read().decode()
    assert "<code>POST /verify</code>" in page
    assert "<td>default `10.0`</td>" in page
    assert all(f"<td><code>{name}</code></td>" in page for name in ("text", "cluster", "settings", "seed"))
    assert "://" not in page
    assert "<script" not in page


def test_an_idle_process_that_dies_costs_no_answer(service: Service) -> None:
    assert service.ask("POST", "/verify", {"text": TEXT})[0] == 200
    for patience in (1.0, 0.0):
        (worker,) = processes_of(service.program.pid)
        os.kill(worker, signal.SIGKILL)
        while is_running(worker):
            time.sleep(0.001)
        time.sleep(patience)  # without, the request may reach the service before the end of the process does
        status, answer = service.ask("POST", "/verify", {"text": TEXT})
        assert (status, answer["verdict"]) == (200, "faulty")
        assert worker not in processes_of(service.program.pid)


def test_a_process_that_cannot_start_costs_one_answer_each_time(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        assert running.ask("POST", "/verify", {"text": TEXT})[0] == 200
        (tmp_path / "sitecustomize.py").write_text("import os\nos._exit(1)\n")
        os.kill(processes_of(running.program.pid)[0], signal.SIGKILL)
        assert [running.ask("POST", "/verify", {"text": TEXT})[0] for _ in range(3)] == [500] * 3
        (tmp_path / "sitecustomize.py").unlink()
        assert [running.ask("POST", "/verify", {"text": TEXT})[0] for _ in range(2)][-1] == 200


def test_an_answer_that_takes_too_long_costs_one_process(tmp_path: Path) -> None:
    with serving(tmp_path, "--limit", "1") as hurried:
        assert hurried.ask("POST", "/verify", {"text": TEXT})[0] == 200
        os.kill(processes_of(hurried.program.pid)[0], signal.SIGSTOP)
        assert hurried.ask("POST", "/verify", {"text": TEXT}) == (504, {"detail": "no answer within 1 s"})
        assert hurried.ask("GET", "/health")[1]["status"] == "ok"


def test_the_start_of_a_process_is_no_part_of_an_answers_time(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(3)\n")
    with serving(tmp_path, "--limit", "2") as running:
        assert running.ask("POST", "/verify", {"text": TEXT})[0] == 200
        os.kill(processes_of(running.program.pid)[0], signal.SIGKILL)
        assert [running.ask("POST", "/verify", {"text": TEXT})[0] for _ in range(2)][-1] == 200


def test_a_body_that_does_not_come_is_waited_for_no_longer_than_the_limit(tmp_path: Path) -> None:
    head = f"POST /verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {KEY}\r\nContent-Length: 9\r\n\r\n{{".encode()
    with serving(tmp_path, "--limit", "0.2") as hurried:
        place = ("127.0.0.1", hurried.connection.port)
        with socket.create_connection(place, timeout=20) as slow:
            slow.sendall(head)
            assert slow.recv(100).startswith(b"HTTP/1.1 408 ")
        with socket.create_connection(place, timeout=20) as left:
            left.sendall(head)
        assert any(hurried.ask("GET", "/health")[1]["waiting"] == 0 for _ in range(100))


def waiting(service: Service) -> int:
    """Number of requests that the service has not answered."""
    return int(service.ask("GET", "/health")[1]["waiting"])


def flood(service: Service, text: str, count: int) -> list[http.client.HTTPConnection]:
    """Clients whose requests the service has taken; its processes are stopped."""
    clients = [http.client.HTTPConnection("127.0.0.1", service.connection.port, timeout=60) for _ in range(count)]
    for client in clients:
        client.request("POST", "/verify", json.dumps({"text": text}), {"Authorization": f"Bearer {KEY}"})
    while waiting(service) < min(count, PLACES):
        time.sleep(0.01)
    return clients


def test_a_flood_is_refused_and_what_was_taken_is_answered(service: Service) -> None:
    service.connection.close()  # which the service does too, of an idle one
    assert service.ask("POST", "/verify", {"text": TEXT})[0] == 200
    (worker,) = processes_of(service.program.pid)
    os.kill(worker, signal.SIGSTOP)
    clients = flood(service, TEXT, 3 * PLACES)
    os.kill(worker, signal.SIGCONT)
    answers = [client.getresponse() for client in clients]
    assert {answer.status for answer in answers} == {200, 503}
    assert all(answer.headers["Retry-After"] == "1" for answer in answers if answer.status == 503)
    taken = [json.loads(answer.read()) for answer in answers if answer.status == 200]
    assert len(taken) >= PLACES
    assert all(answer == taken[0] for answer in taken)
    for client in clients:
        client.close()
    assert service.ask("POST", "/verify", {"text": TEXT})[1]["verdict"] == "faulty"


def test_other_methods_are_told_to_post(service: Service) -> None:
    assert service.ask("GET", "/verify") == (405, {"detail": "POST a body to /verify"})


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_an_address_that_is_taken_or_unknown_is_unusable(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve-verify", "--host", host, "--port", str(taken.getsockname()[1])]) == 2
    assert "the service cannot listen on" in capsys.readouterr().err


def signal_all(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        os.kill(process, number)


def stopped_under_load(service: Service) -> tuple[list[int], list[http.client.HTTPConnection]]:
    """Processes stopped amid the answers to clients, and the clients."""
    assert service.ask("POST", "/verify", {"text": TEXT})[0] == 200
    processes = processes_of(service.program.pid)
    signal_all(processes, signal.SIGSTOP)
    clients = flood(service, LONGER, PLACES)
    signal_all(processes, signal.SIGCONT)
    while waiting(service) == PLACES:
        time.sleep(0.001)
    signal_all(processes, signal.SIGSTOP)
    assert waiting(service) > 4
    return processes, clients


def test_a_process_that_is_lost_under_load_costs_one_answer(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        (process,), clients = stopped_under_load(running)
        os.kill(process, signal.SIGKILL)
        assert sorted(client.getresponse().status for client in clients) == [200] * (PLACES - 1) + [500]
        running.connection.close()  # which the service does too, of an idle one
        assert waiting(running) == 0


def test_what_waits_behind_a_process_that_hangs_is_answered_by_others(tmp_path: Path) -> None:
    with serving(tmp_path, "--processes", "2", "--limit", "6") as running:
        (_, other), clients = stopped_under_load(running)
        os.kill(other, signal.SIGCONT)
        begun = time.monotonic()
        while waiting(running) > 1:
            time.sleep(0.01)
        assert time.monotonic() - begun < 6  # before the process that hangs is ended
        assert sorted(client.getresponse().status for client in clients) == [200] * (PLACES - 1) + [504]


def test_nothing_follows_a_long_request_in_a_pipe() -> None:
    """A small request behind a search would wait for its end while others are taken."""

    async def followers(may_follow: bool) -> int:
        pool, loop = WorkerPool(1, 1.0), asyncio.get_running_loop()
        requests = [Request(b"", 1.0, follows, loop.create_future()) for follows in (may_follow, *[True] * 2 * DEPTH)]
        pool._unasked.extend(requests)
        worker = SimpleNamespace(requests=[], is_ending=False)
        worker.ask = worker.requests.append
        pool.feed(cast(Any, worker))
        return len(worker.requests) - 1

    assert [asyncio.run(followers(may_follow)) for may_follow in (True, False)] == [DEPTH - 1, 0]
