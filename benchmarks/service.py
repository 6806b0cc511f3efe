"""Requests a second of `serve-verify` from clients that keep their connections, and its memory.

The client is this process: a plain socket for each of 64 clients, 0.1 ms of CPU a request (asyncio took 0.35), since it shares the
cores with the service. Peers, in the same run: `verify` called in one process, and the command line, a process for each file. CPU
counts all processes of the service, and the client apart: on two cores that do nothing else, 2,000 / (both, in ms) requests a second.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import placewright as pw
from study import Rows, Study, plotting

TEXT = "cluster: 2x8xH100\ncomponents:\n  actor: {placement: 0-7}\n  rollout: {placement: 8-15}\n"
CLIENTS = 64
QUICK, FULL = (64, 50, 1), (100_000, 2_000, 20)
"""Requests of the service, calls, and commands."""
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_and_memory(pid: int) -> tuple[float, float]:
    """CPU seconds and MiB of a process and its children."""
    seconds = mebibytes = 0.0
    for process in (pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        seconds += (int(fields[11]) + int(fields[12])) / _TICK
        mebibytes += int(fields[21]) * resource.getpagesize() / (1 << 20)
    return seconds, mebibytes


class Client:
    """Connection that stays, over a plain socket."""

    def __init__(self, port: int) -> None:
        body = json.dumps({"text": TEXT}).encode()
        self.request = b"POST /verify HTTP/1.1\r\nHost: service\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self) -> None:
        """Send the request."""
        self.begun, self.received = time.perf_counter(), b""
        self.socket.sendall(self.request)

    def receive(self) -> bytes:
        """Return the body of the answer once it is whole, else nothing."""
        part = self.socket.recv(1 << 16)
        self.received += part
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not part or (end and not head.startswith(b"HTTP/1.1 200")):
            raise SystemExit(f"the service answered {head!r}")
        return body if b"\r\ncontent-length: %d\r\n" % len(body) in head + end else b""


def load(port: int, count: int) -> list[float]:
    """Seconds of every request of all clients, in order of size."""
    clients, waits = [Client(port) for _ in range(CLIENTS)], list[float]()
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.ask()
        while len(waits) < count:
            for key, _ in selector.select():
                if answer := key.data.receive():
                    waits.append(time.perf_counter() - key.data.begun)
                    if len(waits) <= count - CLIENTS:
                        key.data.ask()
    if json.loads(answer)["verdict"] != "ok":
        raise SystemExit("the service does not find the file ok")
    for client in clients:
        client.socket.close()
    return sorted(waits)


def served(count: int) -> dict[str, object]:
    """The row of the service."""
    words = [sys.executable, "-m", "placewright", "serve-verify", "--no-key", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        port = int(service.stdout.readline().rpartition(":")[2])
        load(port, 4 * CLIENTS)
        cpu, memory = cpu_and_memory(service.pid)
        begun, client = time.perf_counter(), time.process_time()
        waits = load(port, count)
        seconds, client = time.perf_counter() - begun, time.process_time() - client
        cpu_after, memory_after = cpu_and_memory(service.pid)
        service.terminate()
    return {
        "way": "serve-verify", "requests": len(waits), "clients": CLIENTS, "per_second": round(len(waits) / seconds),
        "cpu_ms": round(1000 * (cpu_after - cpu) / len(waits), 2), "client_cpu_ms": round(1000 * client / len(waits), 2), "p50_ms": round(1000 * waits[len(waits) // 2], 1),
        "p99_ms": round(1000 * waits[len(waits) * 99 // 100], 1), "mib_before": round(memory), "mib_after": round(memory_after),
    }  # fmt: skip


def called(count: int) -> dict[str, object]:
    """The row of the function in this process."""
    pw.verify(TEXT)
    begun, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        pw.verify(TEXT)
    per_call = 1000 * (time.process_time() - cpu) / count
    return {
        "way": "placewright.verify, one process",
        "requests": count,
        "per_second": round(count / (time.perf_counter() - begun)),
        "cpu_ms": round(per_call, 2),
    }


def commanded(count: int) -> dict[str, object]:
    """The row of a process for each file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "job.yaml")
        file.write_text(TEXT)
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        for _ in range(count):
            subprocess.run([sys.executable, "-m", "placewright", "verify", str(file)], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = time.perf_counter() - begun
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "way": "placewright verify, a process each",
        "requests": count,
        "per_second": round(count / seconds),
        "cpu_ms": round(1000 * cpu / count, 1),
    }


def measure(full: bool) -> Rows:
    """One row for each way."""
    requests, calls, commands = FULL if full else QUICK
    return [served(requests), called(calls), commanded(commands)]


def draw(rows: Rows, path: Path) -> None:
    """One bar each."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 2), layout="constrained")
    axes.barh([str(row["way"]) for row in rows], [float(str(row["per_second"])) for row in rows])
    axes.invert_yaxis()
    axes.set(xlabel="small files a second")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("service", measure, draw).main()
