"""Machines of a Slurm job, from the variables that Slurm sets in it.

Source: sbatch(1) and srun(1), "OUTPUT ENVIRONMENT VARIABLES".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Mapping

from ...models.machines.shorthand import MAX_NODES
from .nvidia_smi import model_of

_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")


def expand(text: str) -> tuple[str, ...]:
    """Expand to host names, in order; leading zeros stay. Raises ValueError for the user."""
    hosts: list[str] = []
    for part in _parts(text):
        if len(hosts) + _size(part, text) > MAX_NODES:
            raise ValueError(f"`{text[:80]}` names more than {MAX_NODES:,} hosts")
        hosts += ("".join(pieces) for pieces in product(*(_texts(piece, text) for piece in part)))
    if not hosts:
        raise ValueError("it names no host")
    if len(set(hosts)) < len(hosts):
        raise ValueError(f"`{text[:80]}` names a host twice")
    return tuple(hosts)


def _parts(text: str) -> list[list[tuple[str, str]]]:
    """Split at commas outside brackets into pieces (inside of brackets, plain text)."""
    parts: list[list[tuple[str, str]]] = [[]]
    position = 0
    while position < len(text):
        if text[position] in ", \n\t":
            parts.append([])
            position += 1
            continue
        match = _PIECE.match(text, position)
        if not match:
            raise ValueError(f"`{text[:80]}` is not a list of hosts: there is a bracket without its other")
        parts[-1].append((match[1] or "", match[2] or ""))
        position = match.end()
    return [part for part in parts if part]


def _size(part: list[tuple[str, str]], text: str) -> int:
    size = 1
    for brackets, plain in part:
        if not plain:
            size *= sum(last - first + 1 for first, last, _ in _ranges(brackets, text))
    return size


def _texts(piece: tuple[str, str], text: str) -> list[str]:
    brackets, plain = piece
    if plain:
        return [plain]
    return [f"{number:0{width}d}" for first, last, width in _ranges(brackets, text) for number in range(first, last + 1)]


def _ranges(brackets: str, text: str) -> list[tuple[int, int, int]]:
    """Return (first, last, digits) of every range in brackets."""
    ranges = []
    for part in brackets.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match or (match[2] and int(match[2]) < int(match[1])):
            raise ValueError(f"`{text[:80]}` is not a list of hosts: `[{brackets[:40]}]` holds no ranges such as `001-003,007`")
        ranges.append((int(match[1]), int(match[2] or match[1]), len(match[1])))
    return ranges


TOPOLOGY_ADDRESS, TOPOLOGY_PATTERN = "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN"
_GPUS = re.compile(r"(?:gpu:)?(?:(?P<model>[A-Za-z][\w.-]*)[:=])?(?P<count>\d{1,4})(?:\(.*\))?")
_REPEATED = re.compile(r"(\d{1,6})(?:\(x(\d{1,6})\))?")


@dataclass(frozen=True)
class SlurmJob:
    """Slurm's description of a job's machines.

    `hosts`: in Slurm's order; `gpus`: number per host, as counted on this machine, of `model` ("":
    unspecified); `ids`: those of this machine, if known; `cpus`: per host; `topology`: of this machine.
    """

    hosts: tuple[str, ...]
    gpus: int
    model: str
    ids: tuple[str, ...]
    cpus: tuple[int | None, ...]
    topology: Mapping[str, str]


def read_job(environment: Mapping[str, str]) -> SlurmJob:
    """Read the job of this environment. Raises ValueError with a message for the user."""
    nodelist = environment.get("SLURM_JOB_NODELIST") or environment.get("SLURM_NODELIST")
    if not nodelist:
        raise ValueError("`SLURM_JOB_NODELIST` is not set: this is not inside a Slurm job")
    hosts = expand(nodelist)
    count, model = _gpus(environment)
    ids = tuple(filter(None, environment.get("CUDA_VISIBLE_DEVICES", "").split(","))) if len(hosts) == 1 else ()
    return SlurmJob(hosts, count, model, ids if len(ids) == count else (), _cpus(environment, len(hosts)), topology(environment))


def topology(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the topology levels of this machine.

    The innermost switch is the rack and the outermost, if different, the zone; a block, which
    Slurm's block topology gives to machines of an NVLink fabric, is the NVLink domain.
    """
    names = environment.get(TOPOLOGY_ADDRESS, "").split(".")
    kinds = environment.get(TOPOLOGY_PATTERN, "").split(".")
    if len(names) != len(kinds):
        return {}
    switches = [name for name, kind in zip(names, kinds) if kind == "switch" and name]
    blocks = [name for name, kind in zip(names, kinds) if kind == "block" and name]
    levels = {"zone": switches[0]} if len(switches) > 1 else {}
    if switches:
        levels["rack"] = switches[-1]
    if blocks:
        levels["nvlink_domain"] = blocks[-1]
    return levels


def _gpus(environment: Mapping[str, str]) -> tuple[int, str]:
    """Return (GPUs per machine, model); the model only if the job requested it by name."""
    model = ""
    counts = []
    for name in ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE"):
        if text := environment.get(name):
            match = _GPUS.fullmatch(text)
            if not match:
                raise ValueError(f"`{name}` is `{text[:40]}`, which is not a number of GPUs")
            counts.append(int(match["count"]))
            model = model or model_of((match["model"] or "").upper())
    if not counts:
        counts.append(len(list(filter(None, environment.get("SLURM_JOB_GPUS", "").split(",")))))
    return counts[0], model


def _cpus(environment: Mapping[str, str], hosts: int) -> tuple[int | None, ...]:
    """Parse `SLURM_JOB_CPUS_PER_NODE`, such as `72(x2),36`."""
    counts: list[int | None] = []
    for part in filter(None, environment.get("SLURM_JOB_CPUS_PER_NODE", "").split(",")):
        match = _REPEATED.fullmatch(part)
        if not match:
            raise ValueError(f"`SLURM_JOB_CPUS_PER_NODE` holds `{part[:40]}`, which is not a number of CPUs")
        counts += [int(match[1])] * min(int(match[2] or 1), hosts + 1)
    own_count = environment.get("SLURM_CPUS_ON_NODE", "")
    if not counts and own_count.isdecimal():
        counts = [int(own_count)] * hosts
    if counts and len(counts) != hosts:
        raise ValueError(f"`SLURM_JOB_CPUS_PER_NODE` names {len(counts)} machines, `SLURM_JOB_NODELIST` of {hosts}")
    return tuple(counts) if counts else (None,) * hosts
