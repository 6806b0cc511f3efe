"""Looks at the node where it runs: its accelerators as a driver tells them, its memory, and what it was started with."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import subprocess
from typing import Any

COMMAND_LIMIT = 20.0


def look(variables: list[str], devices: bool) -> dict[str, Any]:
    """What this node is, as plain data.

    `variables` are those of its environment that are told. `devices`: are its accelerators looked at? Not on a node that is
    only simulated, whose machine has others.
    """
    seen: dict[str, Any] = {
        "host": socket.gethostname(), "environment": {name: text for name in variables if (text := variable(name)) is not None},
    }  # fmt: skip
    if devices:
        seen |= {"memory": memory(), **nvidia(), "matrix": said("nvidia-smi", "topo", "-m")}
    return seen


def variable(name: str) -> str | None:
    """The variable as Ray was started with it here; Ray may have emptied it for this process, which holds no accelerator."""
    own = os.environ.get(name)
    if own:
        return own
    try:
        with open(f"/proc/{os.getppid()}/environ", "rb") as opened:
            pairs = opened.read().decode(errors="replace").split("\0")
    except OSError:
        return own
    return next((pair.partition("=")[2] for pair in pairs if pair.startswith(f"{name}=")), own)


def memory() -> int | None:
    """MiB of the host, or of the container that this is; None where neither is told."""
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
    """What NVIDIA's library tells of every accelerator of this node; empty where there is none."""
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
    """One accelerator: UUID, name, MiB of memory in all and in use, and its NUMA domain where the kernel knows it."""
    amounts = library.nvmlDeviceGetMemoryInfo(handle)
    return {
        "uuid": text(library.nvmlDeviceGetUUID(handle)), "name": text(library.nvmlDeviceGetName(handle)),
        "memory": amounts.total >> 20, "used": amounts.used >> 20, "numa": numa(text(library.nvmlDeviceGetPciInfo(handle).busId)),
    }  # fmt: skip


def fabric(library: Any, handles: list[Any]) -> str:
    """The NVLink fabric that reaches over several nodes which the first accelerator is in, and its part there; "" for none."""
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
    """The NUMA domain of a device on the PCI bus such as ``00000000:1B:00.0``; "" where the kernel does not know it."""
    domain, _, rest = bus.lower().partition(":")
    try:
        with open(f"/sys/bus/pci/devices/{domain[-4:]}:{rest}/numa_node") as opened:
            number = opened.read().strip()
    except OSError:
        return ""
    return "" if number == "-1" else number


def said(program: str, *arguments: str) -> str:
    """What a program prints; "" where it is not there, fails, or takes too long."""
    found = shutil.which(program)
    if found is None:
        return ""
    try:
        done = subprocess.run(
            [found, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=COMMAND_LIMIT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def text(value: Any) -> str:
    """Bytes or text as text: versions of the library differ."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
