"""Machines for a cluster file, discovered from Ray, Slurm or nvidia-smi."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Mapping, Sequence

from ..models.findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..models.findings.wording import plural, with_noun
from ..models.machines.cluster import Cluster
from ..models.text.source import Source
from .failure import LaunchFailed
from .port.connection import Connection
from .port.on_ray import RayPort
from .port.port import Port, RayBundle, RayNode
from .reserving.reservation import NodeDemand, Reservation, accelerators_given
from .world.inventory import order_nodes, survey
from .world.machine import CODE, Device, Machine, cluster_of
from .world.nvidia_smi import read_devices, read_matrix
from .world.ray_machine import machine_of, name_of, resource_of
from .world.slurm import SlurmJob, read_job


def with_taken(port: Port, nodes: Sequence[RayNode], machines: Mapping[str, Machine]) -> tuple[dict[str, Machine], dict[str, str]]:
    """Return (updated machines, reasons for unknown ones). Free rests are reserved to get their ids."""
    machines_now, unknown = dict(machines), {}
    for node in nodes:
        free, total = (int(amounts.get(resource_of(node), 0.0)) for amounts in (node.free, node.total))
        if free == total:
            continue
        try:
            free_ids = _list_left(port, node, free) if free else ()
        except LaunchFailed as problem:
            unknown[node.node_id] = problem.findings[0].message
            continue
        machine = machines[node.node_id]
        devices = tuple(device if device.id in free_ids else replace(device, taken=True) for device in machine.devices)
        machines_now[node.node_id] = replace(machine, devices=devices)
    return machines_now, unknown


def _list_left(port: Port, node: RayNode, free: int) -> tuple[str, ...]:
    """Return the ids that a job would get which requests all remaining accelerators."""
    resource = resource_of(node)
    demand = NodeDemand(RayBundle(node.node_id, {resource: float(free)}), node.name, f"node `{node.name}`")
    reservation = Reservation(port, f"placewright-discover-{uuid.uuid4().hex[:8]}", [demand])
    try:
        reservation.acquire()
        return accelerators_given(port, reservation.hold, [demand], resource, {node.node_id: node})[0]
    finally:
        reservation.release()


UNREADABLE = "PW722"


@dataclass(frozen=True)
class Discovery:
    """Discovered cluster; `notes`: facts lost in a cluster file, `unchecked`: unseen facts."""

    cluster: Cluster
    notes: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()


def at_address(address: str) -> Discovery:
    """Discover the cluster of the Ray at HOST:PORT. LaunchFailed: PW701, PW708, PW721."""
    connection = Connection(address)
    try:
        connection.open()
        return from_ray(RayPort())
    finally:
        connection.close()


def from_ray(port: Port) -> Discovery:
    """Survey a Ray cluster; other jobs' accelerators are taken. Raises LaunchFailed (PW721)."""
    nodes = port.nodes()
    reports, missing = survey(port, nodes)
    nodes = order_nodes(nodes, reports)
    machines = {node.node_id: machine_of(node, reports.get(node.node_id)) for node in nodes}
    machines, unknown = with_taken(port, nodes, machines)
    cluster, notes = cluster_of([machines[node.node_id] for node in nodes])
    gaps = [Unchecked("devices", name_of(node), missing[node.node_id]) for node in nodes if node.node_id in missing]
    gaps += [Unchecked("taken", name_of(node), unknown[node.node_id]) for node in nodes if node.node_id in unknown]
    return Discovery(cluster, notes, tuple(gaps))


def from_files(slurm: bool, devices: Sequence[str | Path], matrices: Sequence[str | Path] = ()) -> Discovery:
    """Discover machines of files, or of this Slurm job with their details. UnusableInput."""
    texts, links = [Source.read(path) for path in devices], [Source.read(path) for path in matrices]
    return from_slurm(os.environ, texts, links) if slurm else from_texts(texts, links)


def from_texts(devices: Sequence[Source], matrices: Sequence[Source] = ()) -> Discovery:
    """Discover the machines of `nvidia-smi -L` texts; `matrices`: of `nvidia-smi topo -m`.

    There is a matrix per machine, or one for all. A machine's name is on its lines, else that of
    its file if there are several files. Raises UnusableInput (PW722).
    """
    return _discover(machines_of(devices, matrices))


def from_slurm(environment: Mapping[str, str], devices: Sequence[Source] = (), matrices: Sequence[Source] = ()) -> Discovery:
    """Discover the machines of the Slurm job of this environment. Raises UnusableInput (PW722).

    Slurm reports the accelerators of this machine alone, so all are assumed equal; nvidia-smi texts
    of a machine add details.
    """
    try:
        job = read_job(environment)
    except ValueError as problem:
        help = "run it inside of a job, or paste what nvidia-smi prints"
        raise _unreadable("", f"no machines found: {problem}", help) from None
    machines_of_texts = machines_of(devices, matrices)
    notes = []
    if len(job.hosts) > 1 and (job.gpus or machines_of_texts):
        message = f"Slurm names the accelerators of one node, assumed for all {len(job.hosts)} nodes"
        notes.append(warning(CODE, "", message, help="where they differ, discover from Ray, or change the file"))
    return _discover([_of_slurm(job, rank, machines_of_texts) for rank in range(len(job.hosts))], notes)


def machines_of(devices: Sequence[Source], matrices: Sequence[Source]) -> list[Machine]:
    """Return the machines of these texts. Raises UnusableInput (PW722)."""
    machines: list[tuple[str, tuple[Device, ...]]] = []
    for source in devices:
        try:
            devices_read = read_devices(source.text)
        except ValueError as problem:
            raise _unreadable(source.name, f"`{source.name}` is not an output of `nvidia-smi -L`: {problem}") from None
        stem = source.name.replace("\\", "/").rpartition("/")[2].partition(".")[0]
        machines += [(name or (stem if len(devices) > 1 and len(devices_read) == 1 else ""), machine) for name, machine in devices_read]
    if len(matrices) not in (0, 1, len(machines)):
        message = f"{len(matrices)} texts of `nvidia-smi topo -m` for {len(machines)} machines"
        raise _unreadable("", message, "give one for each machine, in the same order, or one for all")
    return [
        _with_matrix(Machine(name, devices_read), matrices[min(rank, len(matrices) - 1)] if matrices else None)
        for rank, (name, devices_read) in enumerate(machines)
    ]


def _with_matrix(machine: Machine, source: Source | None) -> Machine:
    if source is None:
        return machine
    try:
        matrix = read_matrix(source.text)
    except ValueError as problem:
        raise _unreadable(source.name, f"`{source.name}` is not an output of `nvidia-smi topo -m`: {problem}") from None
    if len(matrix.numa) != len(machine.devices):
        rows, count = len(matrix.numa), len(machine.devices)
        message = f"`{source.name}` has {rows} {plural('GPU', rows)}, the machine has {count} {plural('accelerator', count)}"
        raise _unreadable(source.name, message, "give the text of the same machine; instances of divided GPUs have no row there")
    devices = tuple(replace(device, numa=numa) for device, numa in zip(machine.devices, matrix.numa))
    return replace(machine, devices=devices, linked=matrix.linked)


def _of_slurm(job: SlurmJob, rank: int, machines_of_texts: Sequence[Machine]) -> Machine:
    like = next(
        (machine for machine in machines_of_texts if machine.name == job.hosts[rank]), machines_of_texts[0] if machines_of_texts else None
    )
    if like is None:
        ids = job.ids or tuple(map(str, range(job.gpus)))
        like = Machine("", tuple(Device(id, job.model) if job.model else Device(id) for id in ids))
    elif job.gpus and len(like.devices) != job.gpus:
        message = f"Slurm gives {with_noun(job.gpus, 'GPU')} of a machine, nvidia-smi names {len(like.devices)}"
        raise _unreadable("", message, "run nvidia-smi inside of the job")
    is_single = len(job.hosts) == 1
    return replace(like, name=job.hosts[rank], cpus=job.cpus[rank], topology=job.topology if is_single else {})


def _discover(machines: Sequence[Machine], notes: Sequence[Finding] = ()) -> Discovery:
    cluster, more = cluster_of(machines)
    return Discovery(cluster, (*notes, *more))


def _unreadable(subject: str, message: str, help: str = "paste all that the command printed, as it is") -> UnusableInput:
    return UnusableInput([error(UNREADABLE, subject, message, help=help)])
