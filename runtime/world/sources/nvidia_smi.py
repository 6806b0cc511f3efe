"""Output of `nvidia-smi -L`, for one or several machines, as pasted."""

from __future__ import annotations

import re

from ..machine import Device
from .model_names import model_of, stated_memory

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_GPU = re.compile(r"(?:(?P<host>[^\s:]+):\s+)?GPU (?P<index>\d+): (?P<name>.+?)(?:\s*\(UUID: (?P<uuid>[^)\s]+)\))?\s*")
_MIG = re.compile(r"(?:(?P<host>[^\s:]+):)?\s*MIG (?P<profile>[\w.+]+)\s+Device\s+\d+:\s*\(UUID: (?P<uuid>[^)\s]+)\)\s*")
_PROFILE_MEMORY = re.compile(r"\.(\d+)gb")


def without_escapes(text: str) -> str:
    """Remove nvidia-smi's terminal colours and underlines."""
    return _ESCAPE.sub("", text)


def read_devices(text: str) -> list[tuple[str, tuple[Device, ...]]]:
    """Return (host name or "", accelerators) per machine of the text, in order.

    A line may begin with `HOST: `, as pdsh prints it; otherwise a machine begins where the numbers
    restart. The instances of a divided GPU (MIG) replace it as accelerators. Other lines are
    ignored. Raises ValueError if no line remains.
    """
    machines: dict[str, list[list[Device]]] = {}
    hosts: dict[str, str] = {}
    current, last = "", -1
    for line in without_escapes(text).splitlines():
        if match := _GPU.fullmatch(line.strip()):
            host, index = match["host"] or "", int(match["index"])
            if host:
                current = host
            elif not machines or index <= last:
                current = f" {len(machines)}"  # no host name begins with a blank
            last = index
            hosts[current] = host
            model, uuid = model_of(match["name"]), match["uuid"] or ""
            machines.setdefault(current, []).append([Device(str(index), model, stated_memory(match["name"]), uuid)])
        elif match := _MIG.fullmatch(line.strip()):
            _divide(machines.get(match["host"] or current), match["profile"], match["uuid"])
    if not machines:
        raise ValueError("no line is like `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)`")
    return [(hosts[key], tuple(device for group in groups for device in _instances(group))) for key, groups in machines.items()]


def _divide(machine: list[list[Device]] | None, profile: str, uuid: str) -> None:
    if machine is None:
        raise ValueError(f"the instance `{uuid}` stands below no GPU")
    whole, memory = machine[-1][0], _PROFILE_MEMORY.search(profile)
    model = f"{whole.model}-{profile.replace('+', '-')}"
    machine[-1].append(Device(uuid, model, int(memory[1]) * 1024 if memory else None, uuid))


def _instances(group: list[Device]) -> list[Device]:
    """Return the instances of a divided GPU, which itself cannot be used, or the GPU."""
    return group[1:] or group
