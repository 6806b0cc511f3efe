"""A machine as it was found, whoever told of it; and the node of a cluster file that says so."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, warning
from ...models.machines.accelerators import GENERIC, accelerators, memory_of, vendor_of
from ...models.machines.cluster import Cluster
from ...models.machines.node import Hardware, Node
from ...models.machines.nodes import Alike, Nodes
from ...models.machines.topology import LEVELS
from ...models.text.values import NAME_PATTERN

CODE = "PW721"
_UNNAMED = re.compile(r"[^A-Za-z0-9_.:-]+")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator: its id for the visibility variable, `model`, MiB of `memory`, `uuid`, NUMA domain ("": not told).

    `taken`: another job holds it. Memory None: not told.
    """

    id: str
    model: str = GENERIC
    memory: int | None = None
    uuid: str = ""
    numa: str = ""
    taken: bool = False


@dataclass(frozen=True)
class Machine:
    """One machine: what was told of it, and nothing guessed.

    `vendor` is the accelerator type, "" where the model tells it; `hardware` the type of each other device; `linked` the
    groups of its accelerators that NVLink connects, by position, empty where nothing was told.
    """

    name: str
    devices: tuple[Device, ...] = ()
    vendor: str = ""
    cpus: int | None = None
    memory: int | None = None
    hardware: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    topology: Mapping[str, str] = field(default_factory=dict)
    linked: tuple[tuple[int, ...], ...] = ()


def cluster_of(machines: Sequence[Machine]) -> tuple[Cluster, tuple[Finding, ...]]:
    """The cluster of these machines in their order, and a warning (PW721) for each thing about them that it cannot say."""
    named = distinct([machine.name or f"node-{rank}" for rank, machine in enumerate(machines)])
    nodes = [node_of(replace(machine, name=name), rank) for rank, (machine, name) in enumerate(zip(machines, named))]
    notes = [note for machine, name in zip(machines, named) for note in unsaid(replace(machine, name=name))]
    return Cluster(Nodes(map(Alike, nodes))), tuple(notes)


def node_of(machine: Machine, rank: int) -> Node:
    """The node that a machine is. Accelerators of several models count as of none, with the least memory of any."""
    ids = _ids(machine) or tuple(map(str, range(len(machine.devices))))
    taken = sum(1 << index for index, device in enumerate(machine.devices) if device.taken)
    topology = {level: _name(machine.topology[level]) for level in LEVELS if machine.topology.get(level)}
    if "nvlink_domain" not in topology and len(machine.linked) == 1 and len(machine.devices) > 1:
        topology["nvlink_domain"] = machine.name
    plain = ids == tuple(map(str, range(len(ids))))
    devices = accelerators(len(ids), _model(machine), _memory(machine), () if plain else ids, _numa_domains(machine) or 1)
    hardware = tuple(Hardware(_name(kind)) for kind in machine.hardware)
    return Node(rank, machine.name, devices, hardware, machine.cpus or None, machine.memory, dict(machine.labels), topology, taken)


def unsaid(machine: Machine) -> Iterator[Finding]:
    """A warning for each thing about a machine that a cluster file does not say."""
    models = Counter(device.model for device in machine.devices)
    if len(models) > 1:
        said = ", ".join(f"{count} {model}" for model, count in models.items())
        yield _note(machine, f"has accelerators of {len(models)} models ({said}), which count as of any", "keep to one of them")
    if machine.devices and not _ids(machine):
        said = next(device.id for device in machine.devices if not re.fullmatch(NAME_PATTERN, device.id))
        yield _note(
            machine,
            f"has ids such as `{said}`, which a cluster file cannot hold",
            "write the ids of the instances there with a newer driver",
        )
    if _numa_domains(machine) is None:
        said = ",".join(device.numa or "?" for device in machine.devices)
        yield _note(
            machine, f"has accelerators in the NUMA domains {said}, which are not divided evenly and in order", "nothing is lost but that"
        )
    if len(machine.linked) > 1 and any(len(group) > 1 for group in machine.linked):
        said = "; ".join(",".join(map(str, group)) for group in machine.linked)
        yield _note(machine, f"has NVLink only among some of its accelerators ({said})", "keep what must be near within one of these")


def _ids(machine: Machine) -> tuple[str, ...]:
    """The physical ids; empty where a cluster file cannot hold them."""
    ids = tuple(device.id for device in machine.devices)
    return ids if all(re.fullmatch(NAME_PATTERN, id) for id in ids) else ()


def _model(machine: Machine) -> str:
    models = {device.model for device in machine.devices}
    model = models.pop() if len(models) == 1 else GENERIC
    return f"{machine.vendor}:{model}" if machine.vendor and machine.vendor != vendor_of(model) else model


def _memory(machine: Machine) -> int | None:
    """MiB of each where it is told of all; None where the model's own is meant."""
    told = [device.memory for device in machine.devices if device.memory is not None]
    if not told or len(told) < len(machine.devices):
        return None
    return None if min(told) == memory_of(_model(machine).rpartition(":")[2]) else min(told)


def _numa_domains(machine: Machine) -> int | None:
    """Among how many NUMA domains the accelerators are divided, 1 where it is not told; None if not in order and evenly."""
    found = [device.numa for device in machine.devices]
    if not all(found):
        return 1
    numbers = {domain: number for number, domain in enumerate(dict.fromkeys(found))}
    count = len(numbers)
    even = all(numbers[domain] == index * count // len(found) for index, domain in enumerate(found))
    return count if even else None


def _name(text: str) -> str:
    """The text as a name in a cluster file: what may not stand there becomes a hyphen."""
    return _UNNAMED.sub("-", text).strip("-")[:_LONGEST_NAME] or "node"


def distinct(texts: Sequence[str]) -> list[str]:
    """The texts as names of nodes in a cluster file, no two the same: equal ones all get a number, in their order."""
    names = [_name(text) for text in texts]
    counts = Counter(names)
    numbers: Counter[str] = Counter()
    used = {name for name, count in counts.items() if count == 1}
    found = []
    for plain in names:
        name = plain
        while counts[plain] > 1 and (name == plain or name in used):
            numbers[plain] += 1
            name = f"{plain[: _LONGEST_NAME - 8]}-{numbers[plain]}"
        used.add(name)
        found.append(name)
    return found


def _note(machine: Machine, what: str, help: str) -> Finding:
    return warning(CODE, machine.name, f"`{machine.name}` {what}", help=help)
