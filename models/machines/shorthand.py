"""Clusters in one word: `2x8xH100`, `4x8`, `2x8xH100+1x0`, `x8`."""

from __future__ import annotations

import re

from ..findings.wording import with_noun
from ..record import dataclass
from .accelerators import GENERIC, accelerators
from .cluster import Cluster
from .node import Node
from .nodes import Alike, Nodes, numbered_nodes

MAX_NODES = 131_072
MAX_ACCELERATORS_PER_NODE = 1_024
MAX_PARTS = 4
"""Machines of more parts are named by their sum."""
_FILES = (".yaml", ".yml", ".json")
_OTHER = r"(?![A-Za-z0-9_.:-]*x[0-9]+(?![A-Za-z0-9_.:-]))"
"""No model ends in `x3`: of `2x8xH100x3` nobody knows what the last number says."""
_MODEL = rf"(?:x{_OTHER}([A-Za-z][A-Za-z0-9_.:-]{{0,63}}|[0-9]{{3,5}}[A-Za-z]{{0,8}}))?"
_PART = re.compile(r"([0-9]{1,6})x([0-9]{1,6})" + _MODEL)
_AS_DECLARED = re.compile(r"x([0-9]{1,6})" + _MODEL)
SHORTHAND_PATTERN = rf"^\s*{_PART.pattern}(\s*\+\s*{_PART.pattern})*\s*$"
"""What `read_shorthand` takes for a whole cluster, as JSON Schema says it."""


@dataclass(frozen=True, slots=True)
class AsDeclared:
    """`x8`: as many nodes as the file declares, `count` accelerators on each that does not carry other hardware only."""

    count: int
    model: str = GENERIC


def looks_like_shorthand(text: str) -> bool:
    """Is this meant as a shorthand rather than as a file name?"""
    if text.lower().endswith(_FILES):
        return False
    return bool(_AS_DECLARED.fullmatch(text)) or all(re.match(r"[0-9]+x[0-9]", part.strip()) for part in text.split("+"))


def meant(text: str) -> str | None:
    """The shorthand that was probably meant: `1x8xH100` by `8xH100`, `2x8` by `2*8`, `2x8xH100` by `2 x 8 x H100`; None where nothing says it."""
    joined = re.sub(r"\s*[*X\u00d7]\s*|\s+x\s*|\s*x\s+", "x", text.strip())
    return next((each for each in (joined, f"1x{joined}") if re.fullmatch(SHORTHAND_PATTERN, each)), None) if "x" in joined else None


def read_shorthand(text: str) -> Cluster | AsDeclared:
    """The cluster that a shorthand describes. Raises ValueError with a sentence for a person."""
    if match := _AS_DECLARED.fullmatch(text.strip()):
        return AsDeclared(_bounded(int(match[1])), match[2] or GENERIC)
    nodes: list[Alike] = []
    rank = 0
    for part in text.split("+"):
        match = _PART.fullmatch(part.strip())
        if not match:
            raise ValueError(f"`{part}` is not NODESxACCELERATORS or NODESxACCELERATORSxMODEL, such as `2x8xH100`")
        count = int(match[1])
        if count < 1 or rank + count > MAX_NODES:
            raise ValueError(f"`{text}` has {rank + count:,} nodes; 1 to {MAX_NODES:,} are possible")
        devices = accelerators(_bounded(int(match[2])), match[3] or GENERIC)
        nodes.append(numbered_nodes(Node(rank, "", devices), count))
        rank += count
    return Cluster(Nodes(nodes))


def in_one_word(cluster: Cluster) -> str:
    """Machines as a shorthand, such as ``2x8xH100+1x0``; ``12 nodes, 90 accelerators`` where they differ too often."""
    parts: list[tuple[int, int, str]] = []
    for alike in cluster.alike:
        devices = alike.node.accelerators
        count, model = len(devices), devices[0].model if devices else GENERIC
        if parts and parts[-1][1:] == (count, model):
            parts[-1] = (parts[-1][0] + alike.count, count, model)
        else:
            parts.append((alike.count, count, model))
    if len(parts) > MAX_PARTS:
        return f"{with_noun(len(cluster.nodes), 'node', ',')}, {with_noun(cluster.total(), 'accelerator', ',')}"
    return "+".join(f"{nodes}x{count}" + (f"x{model}" if model != GENERIC else "") for nodes, count, model in parts)


def _bounded(count: int) -> int:
    if count > MAX_ACCELERATORS_PER_NODE:
        raise ValueError(f"{count:,} accelerators on one node are more than {MAX_ACCELERATORS_PER_NODE:,}")
    return count
