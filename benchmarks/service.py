"""Requests a second of `serve-verify` from clients that keep their connections, and its memory.

Peers, in the same run: `verify` called in one process, and the command line, a process for each file. CPU counts all processes of the
service, not the client.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
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


async def ask(port: int, count: int, waits: list[float]) -> None:
    """One client: `count` requests on one connection."""
    body = json.dumps({"text": TEXT}).encode()
    request = b"POST /verify HTTP/1.1\r\nHost: service\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(count):
        begun = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if not head.startswith(b"HTTP/1.1 200") or length is None:
            raise SystemExit(f"the service answered {head!r}")
        answer = await reader.readexactly(int(length[1]))
        waits.append(time.perf_counter() - begun)
    if json.loads(answer)["verdict"] != "ok":
        raise SystemExit("the service does not find the file ok")
    writer.close()


async def load(port: int, count: int) -> list[float]:
    """Seconds of every request of all clients, in order of size."""
    waits: list[float] = []
    await asyncio.gather(*(ask(port, count // CLIENTS, waits) for _ in range(CLIENTS)))
    return sorted(waits)


def served(count: int) -> dict[str, object]:
    """The row of the service."""
    words = [sys.executable, "-m", "placewright", "serve-verify", "--no-key", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        port = int(service.stdout.readline().rpartition(":")[2])
        asyncio.run(load(port, 4 * CLIENTS))
        cpu, memory = cpu_and_memory(service.pid)
        begun = time.perf_counter()
        waits = asyncio.run(load(port, count))
        seconds = time.perf_counter() - begun
        cpu_after, memory_after = cpu_and_memory(service.pid)
        service.terminate()
    return {
        "way": "serve-verify", "requests": len(waits), "clients": CLIENTS, "per_second": round(len(waits) / seconds),
        "cpu_ms": round(1000 * (cpu_after - cpu) / len(waits), 2), "p50_ms": round(1000 * waits[len(waits) // 2], 1),
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
