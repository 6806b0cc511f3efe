"""Output of `nvidia-smi -L` and `nvidia-smi topo -m`, and the names of models in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...models.machines.node import GENERIC, memory_of
from .machine import Device

_DATA_CENTRE = re.compile(
    r"\b(GB300|GB200|GH200|B300|B200|H200|H100|H800|H20|A100|A800|L40S|L40|L20|L4|L2|A6000|A5000|A4000|A40|A30|A16|A10G|A10|A2"
    r"|V100S?|P100|P40|P4|T4|K80)\b"
)
_CONSUMER = re.compile(r"\b([RG]TX) ?(\d{4})(?: ?(Ti Super|Ti|Super|D)\b)?", re.IGNORECASE)
_PROFESSIONAL = re.compile(r"\bRTX PRO (\d{4})\b")
_AMD = re.compile(r"\bMI ?(\d{3}[AX]?)")
_ASCEND = re.compile(r"\b(?:Ascend ?)?(910[BC])\d?\b", re.IGNORECASE)
_MEMORY = re.compile(r"\b(\d+) ?GB\b")
_BESIDE = ("GH200", "GB200", "GB300")
"""Models whose names state the memory of the processor beside them."""
# Makers' sizes, in GiB, of variants whose names do not state them.
_VARIANTS = {"H100 NVL": 94, "H20 3e": 141}
SLACK = 0.08
"""Share of the stated memory that a driver may reserve.

A sixteenth is for error correction; the rest is a margin.
"""


def model_of(name: str) -> str:
    """Return the model of a product name; ``GPU`` for an empty name.

    ``NVIDIA H100 80GB HBM3`` gives ``H100``, ``NVIDIA GeForce RTX 4090`` gives ``RTX4090``. An
    unknown name is kept, without its maker and with hyphens for blanks.
    """
    words = " ".join(re.sub(r"[-_/]", " ", name).split())
    if match := _AMD.search(words):
        return f"MI{match[1]}"
    if match := _ASCEND.search(words):
        return match[1].upper()
    if match := _PROFESSIONAL.search(words):
        return f"RTX-PRO-{match[1]}"
    if match := _CONSUMER.search(words):
        return f"{match[1].upper()}{match[2]}{(match[3] or '').replace(' ', '')}"
    if match := _DATA_CENTRE.search(words):
        short = f"{match[1]}-40GB"
        return short if stated_memory(name, match[1]) == 40 * 1024 and memory_of(short) else match[1]
    bare = re.sub(r"^(NVIDIA|AMD|Intel|Tesla|Quadro) ", "", words, flags=re.IGNORECASE)
    bare = re.sub(r"[^A-Za-z0-9.]+", "-", bare).strip("-.")[:64]
    return bare if bare[:1].isalpha() or bare.isdecimal() else f"{GENERIC}-{bare}" if bare else GENERIC


def stated_memory(name: str, model: str = "") -> int | None:
    """Return the MiB that a product name states, or None."""
    words = re.sub(r"[-_/]", " ", name)
    for variant, gibibytes in _VARIANTS.items():
        if variant in words:
            return gibibytes * 1024
    match = _MEMORY.search(words)
    return int(match[1]) * 1024 if match and (model or model_of(name)) not in _BESIDE else None


def same_model(one: str, other: str) -> bool:
    """Return True if both may name one model: sizes do not count, unknown matches any."""
    first, second = (re.sub(r"-\d+GB$", "", model_of(name.rpartition(":")[2])).upper() for name in (one, other))
    return GENERIC in (first, second) or first == second or f"RTX{first}" == second or first == f"RTX{second}"


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
    # of a divided GPU only the instances can be used
    return [(hosts[key], tuple(device for group in groups for device in group[1:] or group)) for key, groups in machines.items()]


def _divide(machine: list[list[Device]] | None, profile: str, uuid: str) -> None:
    if machine is None:
        raise ValueError(f"the instance `{uuid}` is below no GPU")
    whole, memory = machine[-1][0], _PROFILE_MEMORY.search(profile)
    model = f"{whole.model}-{profile.replace('+', '-')}"
    machine[-1].append(Device(uuid, model, int(memory[1]) * 1024 if memory else None, uuid))


_GPU_NAME = re.compile(r"GPU\d+")
_LINK = re.compile(r"(?:X|SYS|SOC|NODE|PHB|PXB|PIX|PSB|NV\d+)+")
"""Content of a cell, repeated where columns touch."""
_NVLINK = re.compile(r"NV\d+")


@dataclass(frozen=True, slots=True)
class Matrix:
    """NUMA domains by GPU ("": unknown) and ascending NVLink groups."""

    numa: tuple[str, ...]
    linked: tuple[tuple[int, ...], ...]


def read_matrix(text: str) -> Matrix:
    """Read the matrix; rows of network cards, the legend and other lines are ignored.

    Without NUMA domains, GPUs with the same CPUs count as a domain. Raises ValueError with a
    message for the user.
    """
    rows = [line.split() for line in without_escapes(text).splitlines()]
    header = next((row for row in rows if len(row) > 1 and row[0] == "GPU0" and row[1] != "X"), None)
    if header is None:
        raise ValueError("no line begins with the columns `GPU0 GPU1 ...`")
    count = sum(bool(_GPU_NAME.fullmatch(word)) for word in header[: header.index("CPU") if "CPU" in header else None])
    links: list[list[str]] = []
    tails: list[list[str]] = []
    for row in rows:
        if row and row[0] == f"GPU{len(links)}" and row is not header:
            cells = row[1 : 1 + count]
            if len(cells) < count or not all(_LINK.fullmatch(cell) for cell in cells):
                raise ValueError(f"the row `{row[0]}` does not have {count} columns of GPUs")
            links.append(cells)
            tails.append([word for word in row[1 + count :] if not _LINK.fullmatch(word)])
    if len(links) != count:
        raise ValueError(f"the matrix has {count} columns of GPUs and {len(links)} of their rows")
    return Matrix(_numa(header, tails), _groups(links))


def _numa(header: list[str], tails: list[list[str]]) -> tuple[str, ...]:
    """Read CPUs, NUMA domain and memory domain after the links; the last two may lack."""
    has_numa = "NUMA" in header
    domains = tuple(tail[1] if has_numa and len(tail) > 1 else "N/A" for tail in tails)
    if "N/A" in domains:
        domains = tuple(tail[0] if tail else "N/A" for tail in tails)
    return ("",) * len(domains) if "N/A" in domains else domains


def _groups(links: list[list[str]]) -> tuple[tuple[int, ...], ...]:
    """Group GPUs that NVLink connects, directly or indirectly; a GPU without links is a group."""
    group = list(range(len(links)))
    for row, cells in enumerate(links):
        for column, cell in enumerate(cells):
            if _NVLINK.fullmatch(cell) and group[row] != group[column]:
                old, new = sorted((group[row], group[column]), reverse=True)
                group = [new if number == old else number for number in group]
    return tuple(tuple(position for position, number in enumerate(group) if number == first) for first in sorted(set(group)))
