"""Survey of the current node: accelerators as a driver reports them, memory, environment."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import subprocess
from typing import Any

COMMAND_LIMIT = 20.0


def survey_node(variables: list[str], devices: bool) -> dict[str, Any]:
    """Return a survey of this node as plain data.

    `variables`: environment variables to report. `devices`: False on a simulated node, whose
    machine has other accelerators.
    """
    report: dict[str, Any] = {
        "host": socket.gethostname(), "environment": {name: text for name in variables if (text := variable(name)) is not None},
    }  # fmt: skip
    if devices:
        report |= {"memory": memory(), **nvidia(), "matrix": command_output("nvidia-smi", "topo", "-m")}
    return report


def variable(name: str) -> str | None:
    """Return a variable as set at Ray's start on this node.

    Ray may have emptied it for this process, which requests no accelerator.
    """
    value = os.environ.get(name)
    if value:
        return value
    try:
        with open(f"/proc/{os.getppid()}/environ", "rb") as opened:
            pairs = opened.read().decode(errors="replace").split("\0")
    except OSError:
        return value
    return next((pair.partition("=")[2] for pair in pairs if pair.startswith(f"{name}=")), value)


def memory() -> int | None:
    """Return the MiB of the host or of its container; None if unknown."""
    amounts = []
    for path in ("/proc/meminfo", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path) as opened:
                words = opened.readline().split()
        except OSError:
            continue
        if words[:1] == ["MemTotal:"]:
            amounts.append(int(words[1]) >> 10)
        elif words and words[0].isdecimal():
            amounts.append(int(words[0]) >> 20)
    return min(amounts, default=None)


def nvidia() -> dict[str, Any]:
    """Return the report of NVIDIA's library on all accelerators of this node; empty without one."""
    try:
        library: Any = importlib.import_module("ray._private.thirdparty.pynvml")
    except ImportError:
        return {}
    try:
        library.nvmlInit()
    except library.NVMLError:
        return {}
    try:
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())]
        return {"devices": [device(library, handle) for handle in handles], "fabric": fabric(library, handles)}
    except library.NVMLError:
        return {}
    finally:
        library.nvmlShutdown()


def device(library: Any, handle: Any) -> dict[str, Any]:
    """Describe an accelerator: UUID, name, total and used MiB, NUMA domain if known."""
    amounts = library.nvmlDeviceGetMemoryInfo(handle)
    return {
        "uuid": text(library.nvmlDeviceGetUUID(handle)), "name": text(library.nvmlDeviceGetName(handle)),
        "memory": amounts.total >> 20, "used": amounts.used >> 20, "numa": numa(text(library.nvmlDeviceGetPciInfo(handle).busId)),
    }  # fmt: skip


def fabric(library: Any, handles: list[Any]) -> str:
    """Return the multi-node NVLink fabric of the first accelerator, with its clique; "" for
    none.
    """
    if not handles or not hasattr(library, "nvmlDeviceGetGpuFabricInfoV") or not hasattr(library, "c_nvmlGpuFabricInfoV_t"):
        return ""
    info = library.c_nvmlGpuFabricInfoV_t()
    try:
        library.nvmlDeviceGetGpuFabricInfoV(handles[0], library.byref(info))
    except library.NVMLError:
        return ""
    cluster = bytes(info.clusterUuid).hex()
    return f"{cluster}.{info.cliqueId}" if cluster.strip("0") else ""


def numa(bus: str) -> str:
    """Return the NUMA domain of a PCI device such as ``00000000:1B:00.0``; "" if unknown."""
    domain, _, rest = bus.lower().partition(":")
    try:
        with open(f"/sys/bus/pci/devices/{domain[-4:]}:{rest}/numa_node") as opened:
            number = opened.read().strip()
    except OSError:
        return ""
    return "" if number == "-1" else number


def command_output(program: str, *arguments: str) -> str:
    """Return the output of a program; "" if missing, failing or too slow."""
    executable = shutil.which(program)
    if executable is None:
        return ""
    try:
        completed = subprocess.run(
            [executable, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=COMMAND_LIMIT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout if completed.returncode == 0 else ""


def text(value: Any) -> str:
    """Convert bytes or text to text: versions of the library differ."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
