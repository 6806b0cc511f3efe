"""Matrix of `nvidia-smi topo -m`: NVLink connections and NUMA domains of GPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .nvidia_smi import without_escapes

_GPU = re.compile(r"GPU\d+")
_LINK = re.compile(r"(?:X|SYS|SOC|NODE|PHB|PXB|PIX|PSB|NV\d+)+")
"""Content of a cell, repeated where columns touch."""
_NVLINK = re.compile(r"NV\d+")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Matrix in GPU order: `numa`: NUMA domains ("": unknown), `linked`: NVLink groups.

    Members and groups ascend.
    """

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
    """Read the words after the links: CPUs, NUMA domain, memory domain of the GPU.

    The last two may lack.
    """
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
