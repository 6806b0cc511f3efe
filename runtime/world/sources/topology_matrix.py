"""The matrix that `nvidia-smi topo -m` prints: which GPUs NVLink connects, and to which NUMA domain each belongs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .nvidia_smi import without_escapes

_GPU = re.compile(r"GPU\d+")
_LINK = re.compile(r"(?:X|SYS|SOC|NODE|PHB|PXB|PIX|PSB|NV\d+)+")
"""What a cell says; where columns ran into each other, several stand together."""
_NVLINK = re.compile(r"NV\d+")


@dataclass(frozen=True, slots=True)
class Matrix:
    """The GPUs in their order: `numa` is the NUMA domain of each, "" where it is not told; `linked` are NVLink's groups, ascending."""

    numa: tuple[str, ...]
    linked: tuple[tuple[int, ...], ...]


def read_matrix(text: str) -> Matrix:
    """The matrix in a text. Rows of network cards, the legend and other lines are passed over.

    Where no NUMA domain is told, GPUs with the same CPUs count as of one. Raises ValueError with a sentence for a person.
    """
    rows = [line.split() for line in without_escapes(text).splitlines()]
    header = next((row for row in rows if len(row) > 1 and row[0] == "GPU0" and row[1] != "X"), None)
    if header is None:
        raise ValueError("no line begins with the columns `GPU0 GPU1 ...`")
    count = sum(bool(_GPU.fullmatch(word)) for word in header[: header.index("CPU") if "CPU" in header else None])
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
    """The words after the links: the CPUs, the NUMA domain, the memory domain of the GPU itself. The last two may lack."""
    told = "NUMA" in header
    domains = tuple(tail[1] if told and len(tail) > 1 else "N/A" for tail in tails)
    if "N/A" in domains:
        domains = tuple(tail[0] if tail else "N/A" for tail in tails)
    return ("",) * len(domains) if "N/A" in domains else domains


def _groups(links: list[list[str]]) -> tuple[tuple[int, ...], ...]:
    """GPUs that NVLink connects, directly or over others; those without any are groups of their own."""
    group = list(range(len(links)))
    for one, cells in enumerate(links):
        for other, cell in enumerate(cells):
            if _NVLINK.fullmatch(cell) and group[one] != group[other]:
                old, new = sorted((group[one], group[other]), reverse=True)
                group = [new if each == old else each for each in group]
    return tuple(tuple(which for which, each in enumerate(group) if each == first) for first in sorted(set(group)))
