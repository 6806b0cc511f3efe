"""The cluster that is there, found out: from a live Ray cluster, from Slurm, or from what nvidia-smi printed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Mapping, Sequence

from ...models.findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ...models.findings.wording import plural, with_noun
from ...models.machines.cluster import Cluster
from ...models.text.source import Source
from ..port.connection import Connection
from ..port.on_ray import RayPort
from ..port.port import Port
from ..world.found import machine_of
from ..world.inventory import survey
from ..world.labels import name_of
from ..world.machine import CODE, Device, Machine, cluster_of
from ..world.order import ordered
from ..world.sources.nvidia_smi import read_devices
from ..world.sources.slurm import SlurmJob, read_job
from ..world.sources.topology_matrix import Matrix, read_matrix
from .taken import with_taken

UNREADABLE = "PW722"


@dataclass(frozen=True)
class Discovered:
    """A cluster as it was found; `notes` warn of what its file cannot say, `unchecked` is what could not be seen."""

    cluster: Cluster
    notes: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()


def at_address(address: str) -> Discovered:
    """The cluster of the Ray at HOST:PORT, which this machine is part of (see `from_ray`). Raises LaunchFailed (PW701, PW708, PW721)."""
    connection = Connection(address)
    try:
        connection.open()
        return from_ray(RayPort())
    finally:
        connection.close()


def from_ray(port: Port) -> Discovered:
    """The nodes of a Ray cluster, each looked at by one process on it, and what other jobs hold counted as taken.

    Raises LaunchFailed (PW721) where the nodes' rank variables contradict each other.
    """
    nodes = port.nodes()
    reports, missing = survey(port, nodes)
    nodes = ordered(nodes, reports)
    machines = {node.node_id: machine_of(node, reports.get(node.node_id)) for node in nodes}
    machines, unknown = with_taken(port, nodes, machines)
    cluster, notes = cluster_of([machines[node.node_id] for node in nodes])
    unchecked = [Unchecked("devices", name_of(node), missing[node.node_id]) for node in nodes if node.node_id in missing]
    unchecked += [Unchecked("taken", name_of(node), unknown[node.node_id]) for node in nodes if node.node_id in unknown]
    return Discovered(cluster, notes, tuple(unchecked))


def from_files(slurm: bool, devices: Sequence[str | Path], matrices: Sequence[str | Path] = ()) -> Discovered:
    """The machines of files, or of the Slurm job that this process is in, of which the files tell more. Raises UnusableInput."""
    told, links = [Source.read(path) for path in devices], [Source.read(path) for path in matrices]
    return from_slurm(os.environ, told, links) if slurm else from_texts(told, links)


def from_texts(devices: Sequence[Source], matrices: Sequence[Source] = ()) -> Discovered:
    """The machines of texts of `nvidia-smi -L`; `matrices` of `nvidia-smi topo -m`, one for each machine or one for all.

    A machine is called as its lines say, else as its file where there are several files. Raises UnusableInput (PW722).
    """
    return _discovered(machines_of(devices, matrices))


def from_slurm(environment: Mapping[str, str], devices: Sequence[Source] = (), matrices: Sequence[Source] = ()) -> Discovered:
    """The machines of the Slurm job that this environment belongs to. Raises UnusableInput (PW722).

    Slurm tells the accelerators of this machine alone, so that all are taken for like it; texts of nvidia-smi from one
    machine tell more of them.
    """
    try:
        job = read_job(environment)
    except ValueError as problem:
        raise _unreadable(
            "", f"the environment tells of no machines: {problem}", "run it inside of a job, or paste what nvidia-smi prints"
        ) from None
    pasted = machines_of(devices, matrices)
    notes = []
    if len(job.hosts) > 1 and (job.gpus or pasted):
        message = f"Slurm tells the accelerators of one machine; all {len(job.hosts)} are taken for like it"
        notes.append(warning(CODE, "", message, help="where they differ, discover from Ray, or change the file"))
    return _discovered([_of_slurm(job, which, pasted) for which in range(len(job.hosts))], notes)


def machines_of(devices: Sequence[Source], matrices: Sequence[Source]) -> list[Machine]:
    """The machines of these texts. Raises UnusableInput (PW722)."""
    found: list[tuple[str, tuple[Device, ...]]] = []
    for source in devices:
        try:
            its = read_devices(source.text)
        except ValueError as problem:
            raise _unreadable(source.name, f"`{source.name}` is no output of `nvidia-smi -L`: {problem}") from None
        stem = source.name.replace("\\", "/").rpartition("/")[2].partition(".")[0]
        found += [(name or (stem if len(devices) > 1 and len(its) == 1 else ""), machine) for name, machine in its]
    if len(matrices) not in (0, 1, len(found)):
        message = f"{len(matrices)} texts of `nvidia-smi topo -m` for {len(found)} machines"
        raise _unreadable("", message, "give one for each machine, in the same order, or one for all")
    return [
        _with_matrix(Machine(name, its), matrices[min(rank, len(matrices) - 1)] if matrices else None)
        for rank, (name, its) in enumerate(found)
    ]


def _with_matrix(machine: Machine, source: Source | None) -> Machine:
    if source is None:
        return machine
    try:
        matrix = read_matrix(source.text)
    except ValueError as problem:
        raise _unreadable(source.name, f"`{source.name}` is no output of `nvidia-smi topo -m`: {problem}") from None
    return _near(machine, matrix, source)


def _near(machine: Machine, matrix: Matrix, source: Source) -> Machine:
    if len(matrix.numa) != len(machine.devices):
        has, there = len(matrix.numa), len(machine.devices)
        message = f"`{source.name}` has {has} {plural('GPU', has)}, the machine has {there} {plural('accelerator', there)}"
        raise _unreadable(source.name, message, "give the text of the same machine; instances of divided GPUs have no row there")
    devices = tuple(replace(device, numa=numa) for device, numa in zip(machine.devices, matrix.numa))
    return replace(machine, devices=devices, linked=matrix.linked)


def _of_slurm(job: SlurmJob, which: int, pasted: Sequence[Machine]) -> Machine:
    like = next((machine for machine in pasted if machine.name == job.hosts[which]), pasted[0] if pasted else None)
    if like is None:
        ids = job.ids or tuple(map(str, range(job.gpus)))
        like = Machine("", tuple(Device(id, job.model) if job.model else Device(id) for id in ids))
    elif job.gpus and len(like.devices) != job.gpus:
        message = f"Slurm gives {with_noun(job.gpus, 'GPU')} of a machine, nvidia-smi told of {len(like.devices)}"
        raise _unreadable("", message, "run nvidia-smi inside of the job")
    alone = len(job.hosts) == 1
    return replace(like, name=job.hosts[which], cpus=job.cpus[which], topology=job.topology if alone else {})


def _discovered(machines: Sequence[Machine], notes: Sequence[Finding] = ()) -> Discovered:
    cluster, more = cluster_of(machines)
    return Discovered(cluster, (*notes, *more))


def _unreadable(subject: str, message: str, help: str = "paste all that the command printed, as it is") -> UnusableInput:
    return UnusableInput([error(UNREADABLE, subject, message, help=help)])
