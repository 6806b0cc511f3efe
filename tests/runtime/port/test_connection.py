"""An address where no Ray is, and how soon that is known."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.port import connection
from placewright.runtime.port.connection import Connection, parse_address, probe, same_address
from placewright.runtime.port.ray_compat import NO_TOKEN, SEVERAL_MACHINES, knows_tokens

from ...unhindered import unhindered


@pytest.fixture
def server() -> Iterator[Callable[[bytes], str]]:
    """A TCP server that gives one answer, whatever is asked; its HOST:PORT."""
    listener = socket.create_server(("127.0.0.1", 0))
    serving: list[threading.Thread] = []

    def answering(answer: bytes) -> str:
        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(answer)

        serving.append(threading.Thread(target=serve, daemon=True))
        serving[-1].start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield answering
    for thread in serving:  # each is asked by its test: one that still waited to accept would fail at a closed socket
        thread.join(60)
    listener.close()


def reason(address: str) -> str:
    with pytest.raises(LaunchFailed) as caught:
        probe(address)
    (finding,) = caught.value.findings
    assert finding.code == "PW701"
    assert caught.value.exit_code == 4
    return finding.message.partition(": ")[2]


def test_a_closed_port_is_known_at_once() -> None:
    with socket.socket() as deaf:  # it does not listen, and nobody else can take its port meanwhile
        deaf.bind(("127.0.0.1", 0))
        assert reason(f"127.0.0.1:{deaf.getsockname()[1]}") == "Connection refused"


def test_a_silent_port_is_given_up_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("placewright.runtime.port.connection.PROBE_LIMIT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert reason(f"127.0.0.1:{listener.getsockname()[1]}") == "nothing answered in time"


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"-ERR unknown command\r\n", b"\0\0"])
def test_another_server_is_told_from_ray(server: Callable[[bytes], str], answer: bytes) -> None:
    assert reason(server(answer)) == "something else than Ray answers"


def test_a_server_that_opens_as_ray_does_is_taken_for_it(server: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = connection.head_status
    monkeypatch.setattr(connection, "head_status", lambda address, limit: asked(address, 0.2))  # which it does not answer
    probe(server(b"\0\0\x06\x04\0\0\0\0\0\0\0\0\0\0\0"))


def test_a_grpc_server_that_is_no_head_is_told_at_once() -> None:
    grpc = pytest.importorskip("grpc")
    other = grpc.server(ThreadPoolExecutor(1))
    address = f"127.0.0.1:{other.add_insecure_port('127.0.0.1:0')}"
    other.start()
    try:
        before = unhindered()
        assert reason(address).startswith("what answers is not the head of a cluster")
        assert unhindered() - before < 2
    finally:
        other.stop(None).wait()


def test_a_missing_token_is_told_at_once_with_the_variables_to_set(server: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "head_status", lambda address, limit: "UNAUTHENTICATED")
    with pytest.raises(LaunchFailed, match="it asks for a token, which is missing here or not the right one") as caught:
        probe(server(b"\0\0\x06\x04\0\0\0\0\0\0\0\0\0\0\0"))
    assert caught.value.findings[0].help.startswith("set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH")


@pytest.mark.parametrize(
    "variables", [{}, {"RAY_AUTH_TOKEN_PATH": "/nowhere/token"}, {"RAY_AUTH_TOKEN": " "}, {"RAY_AUTH_TOKEN": "t\N{LATIN SMALL LETTER O WITH DIAERESIS}"}]
)  # fmt: skip
def test_a_token_that_is_to_be_sent_and_cannot_be_is_known_before_ray_connects(variables: dict[str, str], tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    if not knows_tokens():
        pytest.skip(f"Ray {ray.__version__} has no tokens")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    environment |= {"RAY_AUTH_MODE": "token", "HOME": str(tmp_path)} | variables
    program = "from placewright.runtime.port.ray_compat import head_status; print(head_status('127.0.0.1:1', 1))"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{NO_TOKEN}\n", "")


def test_a_missing_token_is_no_fault_of_the_cluster(server: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "head_status", lambda address, limit: NO_TOKEN)
    with pytest.raises(LaunchFailed, match="Ray asks for a token here, and no usable one is found") as caught:
        probe(server(b"\0\0\x06\x04\0\0\0\0\0\0\0\0\0\0\0"))
    assert caught.value.findings[0].help.startswith("set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH")


def test_what_ray_says_while_it_connects_is_told_whole_with_the_variables_of_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: str, namespace: str) -> None:
        raise RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.48.0\n    Python: 3.11.7\n")

    pytest.importorskip("ray")
    monkeypatch.setattr(connection, "connect", refuse)
    monkeypatch.setattr(connection, "probe", lambda address: None)
    monkeypatch.setattr(connection, "is_only_local", lambda address: False)
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with pytest.raises(LaunchFailed, match=r"Version mismatch: The cluster was started with: Ray: 2\.48\.0 Python: 3\.11\.7$") as caught:
        Connection("127.0.0.1:6379").open()
    assert "RAY_AUTH_TOKEN" in caught.value.findings[0].help


@pytest.mark.ray
def test_a_simulated_cluster_asks_for_its_own_token(address: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    program = f"from placewright.runtime.port.connection import probe; probe({address!r})"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert "it asks for a token" in done.stderr
    path = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert address.startswith("127.0.0.1:")


@pytest.mark.ray
def test_nothing_of_a_simulated_cluster_listens_beyond_this_machine(address: str) -> None:
    psutil: Any = importlib.import_module("psutil")
    connections = [connection for process in psutil.Process().children(recursive=True) for connection in process.net_connections("inet")]
    hosts = {connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN}
    assert hosts and hosts <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}


def test_where_ray_encrypts_it_alone_can_tell_who_answers(server: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    probe(server(b"\x15\x03\x01"))


@pytest.mark.ray
def test_the_head_of_a_cluster_is_known_and_its_nodes_are_told_from_it(address: str) -> None:
    import ray

    probe(address)
    node = ray.nodes()[0]
    assert reason(f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}").startswith("what answers is not the head of a cluster")


@pytest.mark.parametrize("address", ["auto", "ray://10.0.0.1:10001", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:70000", "", "a b:1", "local"])
def test_an_address_is_a_host_and_a_port_and_nothing_else(address: str) -> None:
    assert reason(address).startswith("an address is HOST:PORT")


def test_an_address_of_version_6_stands_in_brackets() -> None:
    assert parse_address("[::1]:6379") == ("::1", 6379)


def test_a_machine_is_the_same_under_all_its_names() -> None:
    assert same_address("localhost:6379", "127.0.0.1:6379")
    assert not same_address("localhost:6379", "localhost:6380")
    assert not same_address("192.0.2.1:6379", "192.0.2.2:6379")


@pytest.mark.ray
def test_a_connection_to_another_cluster_is_not_replaced(address: str) -> None:
    with pytest.raises(LaunchFailed, match="this process is already connected to"):
        Connection("192.0.2.1:6379").open()


@pytest.mark.ray
def test_another_program_reaches_a_cluster_at_127_0_0_1_alone(address: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != SEVERAL_MACHINES}
    program = "import sys; from placewright.runtime.port.connection import Connection; c = Connection(sys.argv[1]); c.open(); print('there'); c.close()"
    done = subprocess.run([sys.executable, "-c", program, address], env=environment, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stdout) == (0, "there\n"), done.stderr


_INTERRUPTED = """
import os, signal, sys, time
import ray
from placewright.runtime.port.connection import Connection

def interrupt(number, frame):
    raise KeyboardInterrupt

connected = ray._private.worker.connect

def connect(*arguments, **named):
    connected(*arguments, **named)
    os.kill(os.getpid(), signal.SIGTERM)

ray._private.worker.connect = connect
signal.signal(signal.SIGTERM, interrupt)
connection = Connection(sys.argv[1])
try:
    connection.open()
except KeyboardInterrupt:
    connection.close()
    time.sleep(3.5)  # Ray's core would abort the process after three seconds
    print("heard", signal.getsignal(signal.SIGTERM) is interrupt)
"""


@pytest.mark.ray
def test_sigterm_while_ray_connects_is_heard_when_it_has(address: str) -> None:
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED, address], capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stdout) == (0, "heard True\n"), done.stderr
