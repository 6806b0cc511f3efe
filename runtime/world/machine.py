"""Observed machine, from any source, and its conversion to a node of a cluster file."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, warning
from ...models.machines.cluster import Cluster
from ...models.machines.node import GENERIC, EqualNodes, Hardware, Node, Nodes, accelerators, memory_of, vendor_of
from ...models.machines.topology import LEVELS
from ...models.text.values import NAME_PATTERN

CODE = "PW721"
_UNNAMED = re.compile(r"[^A-Za-z0-9_.:-]+")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Device:
    """Accelerator: id for the visibility variable, `model`, MiB of `memory`, `uuid`, NUMA domain.

    `taken`: in use by another job. Memory None and NUMA domain "": unknown.
    """

    id: str
    model: str = GENERIC
    memory: int | None = None
    uuid: str = ""
    numa: str = ""
    taken: bool = False


@dataclass(frozen=True)
class Machine:
    """Machine with the reported facts alone.

    `vendor`: the accelerator type, "" if implied by the model; `hardware`: the type of each other
    device; `linked`: groups of accelerators connected by NVLink, by position, empty if unknown.
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
    """Build the cluster of these machines, in order, with a warning (PW721) per lost fact."""
    names = unique_names([machine.name or f"node-{rank}" for rank, machine in enumerate(machines)])
    nodes = [node_of(replace(machine, name=name), rank) for rank, (machine, name) in enumerate(zip(machines, names))]
    notes = [note for machine, name in zip(machines, names) for note in lost_facts(replace(machine, name=name))]
    return Cluster(Nodes(map(EqualNodes, nodes))), tuple(notes)


def node_of(machine: Machine, rank: int) -> Node:
    """Convert a machine to a node; several models count as generic, with the least memory."""
    ids = _ids(machine) or tuple(map(str, range(len(machine.devices))))
    occupied_bits = sum(1 << index for index, device in enumerate(machine.devices) if device.taken)
    topology = {level: _name(machine.topology[level]) for level in LEVELS if machine.topology.get(level)}
    if "nvlink_domain" not in topology and len(machine.linked) == 1 and len(machine.devices) > 1:
        topology["nvlink_domain"] = machine.name
    plain = ids == tuple(map(str, range(len(ids))))
    devices = accelerators(len(ids), _model(machine), _memory(machine), () if plain else ids, _numa_domains(machine) or 1)
    hardware = tuple(Hardware(_name(kind)) for kind in machine.hardware)
    return Node(rank, machine.name, devices, hardware, machine.cpus or None, machine.memory, dict(machine.labels), topology, occupied_bits)


def lost_facts(machine: Machine) -> Iterator[Finding]:
    """Yield a warning for every fact about a machine that a cluster file cannot express."""
    models = Counter(device.model for device in machine.devices)
    if len(models) > 1:
        listing = ", ".join(f"{count} {model}" for model, count in models.items())
        yield _note(machine, f"has accelerators of {len(models)} models ({listing}), which count as of any", "keep to one of them")
    if machine.devices and not _ids(machine):
        listing = next(device.id for device in machine.devices if not re.fullmatch(NAME_PATTERN, device.id))
        fact = f"has ids such as `{listing}`, which a cluster file cannot hold"
        yield _note(machine, fact, "write the ids of the instances there with a newer driver")
    if _numa_domains(machine) is None:
        listing = ",".join(device.numa or "?" for device in machine.devices)
        fact = f"has accelerators in the NUMA domains {listing}, which are not divided evenly and in order"
        yield _note(machine, fact, "nothing is lost but that")
    if len(machine.linked) > 1 and any(len(group) > 1 for group in machine.linked):
        listing = "; ".join(",".join(map(str, group)) for group in machine.linked)
        yield _note(machine, f"has NVLink only among some of its accelerators ({listing})", "keep what must be near within one of these")


def _ids(machine: Machine) -> tuple[str, ...]:
    """Return the physical ids; empty if a cluster file cannot hold them."""
    ids = tuple(device.id for device in machine.devices)
    return ids if all(re.fullmatch(NAME_PATTERN, id) for id in ids) else ()


def _model(machine: Machine) -> str:
    models = {device.model for device in machine.devices}
    model = models.pop() if len(models) == 1 else GENERIC
    return f"{machine.vendor}:{model}" if machine.vendor and machine.vendor != vendor_of(model) else model


def _memory(machine: Machine) -> int | None:
    """Return the smallest MiB of all accelerators; None if unknown or the model's own."""
    sizes = [device.memory for device in machine.devices if device.memory is not None]
    if not sizes or len(sizes) < len(machine.devices):
        return None
    return None if min(sizes) == memory_of(_model(machine).rpartition(":")[2]) else min(sizes)


def _numa_domains(machine: Machine) -> int | None:
    """Return the number of NUMA domains; 1 if unknown, None if uneven or unordered."""
    domains = [device.numa for device in machine.devices]
    if not all(domains):
        return 1
    numbers = {domain: number for number, domain in enumerate(dict.fromkeys(domains))}
    count = len(numbers)
    even = all(numbers[domain] == index * count // len(domains) for index, domain in enumerate(domains))
    return count if even else None


def _name(text: str) -> str:
    """Convert a text to a name of a cluster file: invalid characters become a hyphen."""
    return _UNNAMED.sub("-", text).strip("-")[:_LONGEST_NAME] or "node"


def unique_names(texts: Sequence[str]) -> list[str]:
    """Convert texts to unique node names; equal ones are numbered, in order."""
    names = [_name(text) for text in texts]
    counts = Counter(names)
    numbers: Counter[str] = Counter()
    names_used = {name for name, count in counts.items() if count == 1}
    unique = []
    for plain in names:
        name = plain
        while counts[plain] > 1 and (name == plain or name in names_used):
            numbers[plain] += 1
            name = f"{plain[: _LONGEST_NAME - 8]}-{numbers[plain]}"
        names_used.add(name)
        unique.append(name)
    return unique


def _note(machine: Machine, fact: str, help: str) -> Finding:
    return warning(CODE, machine.name, f"`{machine.name}` {fact}", help=help)
