"""Cluster shorthands: `2x8xH100`, `4x8`, `2x8xH100+1x0`, `x8`."""

from __future__ import annotations

import re
from typing import Callable, Sequence

from ..findings.wording import with_noun
from ..ranks import without
from ..record import dataclass
from .cluster import Cluster
from .node import GENERIC, EqualNodes, Node, Nodes, accelerators, memory_of, numbered_nodes

MAX_NODES = 131_072
MAX_ACCELERATORS_PER_NODE = 1_024
MAX_PARTS = 4
"""Maximum number of parts in a name; clusters of more parts are named by sums."""
_FILES = (".yaml", ".yml", ".json")
_OTHER = r"(?![A-Za-z0-9_.:-]*x[0-9]{1,3}(?![A-Za-z0-9_.:-]))"
"""Lookahead that refuses models ending in `x3`: `2x8xH100x3` would be ambiguous."""
_MODEL = rf"(?:x{_OTHER}([A-Za-z][A-Za-z0-9_.:-]{{0,63}}|[0-9]{{3,5}}(?:[A-Za-z]{{1,8}}[0-9]?)?))?"
_PART = re.compile(r"([0-9]{1,6})x([0-9]{1,6})" + _MODEL)
_AS_DECLARED = re.compile(r"x([0-9]{1,6})" + _MODEL)
SHORTHAND_PATTERN = rf"^\s*{_PART.pattern}(\s*\+\s*{_PART.pattern})*\s*$"
"""Pattern of a whole cluster in `read_shorthand`, for JSON Schema."""


@dataclass(frozen=True, slots=True)
class DeclaredNodes:
    """Shorthand `x8`: declared nodes with `count` accelerators, unless with other hardware only."""

    count: int
    model: str = GENERIC

    def nodes(self, count: int, bare: Sequence[range] = ()) -> Nodes:
        """Return `count` nodes; those of the ranks `bare` have no accelerators."""
        devices, with_devices = accelerators(self.count, self.model), without((range(count),), bare)
        intervals = sorted((*bare, *with_devices), key=lambda ranks: ranks.start)
        return Nodes([numbered_nodes(Node(ranks.start, "", devices if ranks in with_devices else ()), len(ranks)) for ranks in intervals])


def looks_like_shorthand(text: str) -> bool:
    """Return True if the text looks like a shorthand rather than a file name."""
    if text.lower().endswith(_FILES):
        return False
    return bool(_AS_DECLARED.fullmatch(text)) or all(re.match(r"[0-9]+x[0-9]", part.strip()) for part in text.split("+"))


def correct_shorthand(text: str) -> str | None:
    """Return the shorthand that was probably meant, such as `1x8xH100` for `8xH100`; else None."""
    candidate_text = re.sub(r"\s*[*X\u00d7]\s*|\s+x\s*|\s*x\s+", "x", text.strip())
    if candidate_text.isdecimal():
        candidate_text = f"1x{candidate_text}"
    elif (match := re.fullmatch(r"(.*[^\d].*)x(\d+)", candidate_text)) and memory_of(match[1]):  # `H100x8`
        candidate_text = f"{match[2]}x{match[1]}"
    return (
        next((candidate for candidate in (candidate_text, f"1x{candidate_text}") if re.fullmatch(SHORTHAND_PATTERN, candidate)), None)
        if "x" in candidate_text and not text.lower().endswith(("xx", *_FILES))
        else None
    )


def read_shorthand(text: str) -> Cluster | DeclaredNodes:
    """Return the cluster of a shorthand. Raises ValueError with a sentence for a person."""
    if match := _AS_DECLARED.fullmatch(text.strip()):
        return DeclaredNodes(_check_count(int(match[1])), match[2] or GENERIC)
    nodes: list[EqualNodes] = []
    rank = 0
    for part in text.split("+"):
        match = _PART.fullmatch(part.strip())
        if not match:
            raise ValueError(f"`{part}` is not NODESxACCELERATORS or NODESxACCELERATORSxMODEL, such as `2x8xH100`")
        count = int(match[1])
        if count < 1 or rank + count > MAX_NODES:
            raise ValueError(f"`{text}` has {rank + count:,} nodes; 1 to {MAX_NODES:,} are possible")
        if not match[3] and int(match[2]) > MAX_ACCELERATORS_PER_NODE and count <= MAX_ACCELERATORS_PER_NODE:
            raise ValueError(
                f"{int(match[2]):,} accelerators on one node are too many; write `1x{part.strip()}` for {count} of the model {match[2]}"
            )
        model, colon, _ = (match[3] or "").partition(":")
        if colon and memory_of(model):
            raise ValueError(f"`{match[3]}` is not a model: write `{match[1]}x{match[2]}x{model}`; a cluster file states another memory")
        devices = accelerators(_check_count(int(match[2])), match[3] or GENERIC)
        nodes.append(numbered_nodes(Node(rank, "", devices), count))
        rank += count
    return Cluster(Nodes(nodes))


def parts_of(cluster: Cluster, model_of: Callable[[Node], str]) -> list[tuple[int, int, str]]:
    """Return (nodes, accelerators per node, model) of neighbouring nodes with equal accelerators."""
    parts: list[tuple[int, int, str]] = []
    for stretch in cluster.alike:
        count, model = len(stretch.node.accelerators), model_of(stretch.node)
        if parts and parts[-1][1:] == (count, model):
            parts[-1] = (parts[-1][0] + stretch.count, count, model)
        else:
            parts.append((stretch.count, count, model))
    return parts


def write_shorthand(parts: list[tuple[int, int, str]]) -> str:
    """Return the shorthand of parts; a generic model is left out."""
    return "+".join(f"{nodes}x{count}" + (f"x{model}" if model not in ("", GENERIC) else "") for nodes, count, model in parts)


def shorten(cluster: Cluster) -> str:
    """Return a shorthand; ``12 nodes, 90 accelerators`` if it had more than `MAX_PARTS` parts."""
    parts = parts_of(cluster, lambda node: node.accelerator_model or GENERIC)
    if len(parts) > MAX_PARTS:
        return f"{with_noun(len(cluster.nodes), 'node', ',')}, {with_noun(cluster.total(), 'accelerator', ',')}"
    return write_shorthand(parts)


def _check_count(count: int) -> int:
    if count > MAX_ACCELERATORS_PER_NODE:
        raise ValueError(f"{count:,} accelerators on one node are more than {MAX_ACCELERATORS_PER_NODE:,}")
    return count
