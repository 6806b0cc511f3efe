"""Code that runs once on a node: survey, interpreters, accelerators of a bundle."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from string import Template
from typing import Any, Callable, TypeVar

COMMAND_LIMIT = 20.0
Result = TypeVar("Result")


def survey_node(variables: list[str], devices: bool) -> dict[str, Any]:
    """Survey this node: `variables` to report, and `devices` unless it is simulated."""
    report: dict[str, Any] = {
        "host": socket.gethostname(), "environment": {name: text for name in variables if (text := variable(name)) is not None},
    }  # fmt: skip
    if devices:
        report |= {"memory": memory(), **nvidia(), "matrix": command_output("nvidia-smi", "topo", "-m")}
    return report


def variable(name: str) -> str | None:
    """Return a variable as at Ray's start, which may have emptied it for this process."""
    value = os.environ.get(name)
    if value:
        return value
    try:
        with open(f"/proc/{os.getppid()}/environ", "rb") as stream:
            pairs = stream.read().decode(errors="replace").split("\0")
    except OSError:
        return value
    return next((pair.partition("=")[2] for pair in pairs if pair.startswith(f"{name}=")), value)


def memory() -> int | None:
    """Return the MiB of the host or of its container; None if unknown."""
    amounts = []
    for path in ("/proc/meminfo", "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path) as stream:
                words = stream.readline().split()
        except OSError:
            continue
        if words[:1] == ["MemTotal:"]:
            amounts.append(int(words[1]) >> 10)
        elif words and words[0].isdecimal():
            amounts.append(int(words[0]) >> 20)
    return min(amounts, default=None)


def nvidia() -> dict[str, Any]:
    """Return the report of NVIDIA's library on all accelerators of this node; empty without one."""
    empty: dict[str, Any] = {}
    return report_by_nvml(
        lambda library, handles: {"devices": [device(library, handle) for handle in handles], "fabric": fabric(library, handles)}, empty
    )


def uuids() -> dict[str, str]:
    """Return physical id -> UUID of all accelerators that NVIDIA's driver reports."""
    empty: dict[str, str] = {}
    return report_by_nvml(
        lambda library, handles: {str(number): text(library.nvmlDeviceGetUUID(handle)) for number, handle in enumerate(handles)}, empty
    )


def report_by_nvml(report: Callable[[Any, list[Any]], Result], default: Result) -> Result:
    """Return `report` of NVIDIA's library and its accelerators; the default without a driver."""
    try:
        library: Any = importlib.import_module("ray._private.thirdparty.pynvml")
    except ImportError:
        return default
    try:
        library.nvmlInit()
    except library.NVMLError:
        return default
    try:
        return report(library, [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())])
    except library.NVMLError:
        return default
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
    """Return the multi-node NVLink fabric of the first accelerator with its clique, or ""."""
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
        with open(f"/sys/bus/pci/devices/{domain[-4:]}:{rest}/numa_node") as stream:
            number = stream.read().strip()
    except OSError:
        return ""
    return "" if number == "-1" else number


def command_output(program: str, *arguments: str) -> str:
    """Return the output of a program; "" if missing, failing or too slow."""
    executable = shutil.which(program)
    if executable is None:
        return ""
    try:
        result = subprocess.run(
            [executable, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=COMMAND_LIMIT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout if result.returncode == 0 else ""


def text(value: Any) -> str:
    """Convert bytes or text to text: versions of the library differ."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


PROGRAM = "import json, sys, ray; print(json.dumps([list(sys.version_info[:2]), ray.__version__]))"


def run_trials(trials: list[tuple[str, dict[str, str]]], limit: float) -> list[str]:
    """Return a fault or "" per interpreter (path, variables). All it started ends after `limit` s."""
    with ThreadPoolExecutor(max(1, len(trials))) as pool:
        return list(pool.map(lambda trial: fault(trial[0], trial[1], limit), trials))


def fault(path: str, variables: dict[str, str], limit: float) -> str:
    """Return why an interpreter (path, or name in PATH) cannot run workers here, or ""."""
    environment = dict(os.environ)
    environment.update({name: Template(text).safe_substitute(environment) for name, text in variables.items()})
    try:
        process = subprocess.Popen(
            [path, "-c", PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True, env=environment,
        )  # fmt: skip
    except OSError as problem:
        return f"it cannot be started: {problem.strerror or problem}"
    try:
        output, complaint = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        return f"it did not import Ray within {limit:g} s"
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        lines = complaint.strip().splitlines() or [f"it ended with {process.returncode}"]
        return lines[-1][:200]
    return difference(output)


def difference(output: str) -> str:
    """Compare an interpreter's output with the running interpreter; "" if they agree."""
    import ray

    try:
        python, version = json.loads(output.strip().splitlines()[-1])
        major, minor = python
    except (IndexError, TypeError, ValueError):
        return "it is no Python interpreter"
    if version != ray.__version__:
        return f"it has Ray {version}, the cluster runs {ray.__version__}"
    if (major, minor) != sys.version_info[:2]:
        return f"it is Python {major}.{minor}, the cluster runs {sys.version_info[0]}.{sys.version_info[1]}"
    return ""


def accelerator_ids(resource: str) -> list[str]:
    """Return the physical ids of this task's accelerators."""
    import ray

    return [str(id) for id in ray.get_runtime_context().get_accelerator_ids().get(resource, [])]
