"""Scripts in YAML: the `run:` block of a SkyPilot task, and what the task says of its machines.

Source: SkyPilot, the task YAML specification and its environment variables (SKYPILOT_NUM_NODES and its kin).
"""

from __future__ import annotations

import re

from ..findings.span import Span
from ..record import dataclass
from ..text.program import Machine
from ..text.source import Source
from ..text.tree import Mapping, Scalar, find
from .pieces import Held, Piece, Text
from .syntax import Script

_COUNTED = re.compile(r"\s*[\w.-]+\s*:\s*(\d{1,4})\s*")


@dataclass(frozen=True)
class Block:
    """A script that stands in a YAML file.

    Attributes
    ----------
    variables : what the file itself sets for the script.
    accelerators : number of accelerators of a node, and where that is written.
    """

    script: Script
    variables: dict[str, Held]
    accelerators: tuple[int, Span] | None = None

    def machine(self, source: Source) -> Machine | None:
        """What the task says of each node."""
        return Machine(*self.accelerators) if self.accelerators else None


def block_of(source: Source) -> Block | None:
    """The `run:` block of a YAML file; None if the file is no task of this kind."""
    if not source.name.endswith((".yaml", ".yml")):
        return None
    run = find(source.root, "run")
    if not isinstance(run, Scalar) or not isinstance(run.value, str):
        return None
    variables: dict[str, Held] = {}
    for section in ("envs", "secrets"):
        values = find(source.root, section)
        for entry in values if isinstance(values, Mapping) else ():
            if isinstance(entry.value, Scalar) and entry.value.value is not None:
                variables[entry.key.text] = _text(entry.value, entry.value.text)
    nodes, accelerators = find(source.root, "num_nodes"), _accelerators(source.root)
    if isinstance(nodes, Scalar) or nodes is None:
        written = nodes.text if isinstance(nodes, Scalar) else "1"
        variables["SKYPILOT_NUM_NODES"] = _text(nodes if isinstance(nodes, Scalar) else run, written)
    variables["SKYPILOT_NODE_RANK"] = _text(run, "0")  # the head node starts the program
    if accelerators is not None:
        variables["SKYPILOT_NUM_GPUS_PER_NODE"] = _text(accelerators[1], str(accelerators[0]))
    counted = (accelerators[0], accelerators[1].span) if accelerators else None
    return Block(_script(source, run), variables, counted)


def _text(value: Scalar, text: str) -> Text:
    return Text((Piece(text, ((value.span.start, value.span.end),)),))


def _accelerators(root: Mapping) -> tuple[int, Scalar] | None:
    """`resources: {accelerators: H100:8}`, or `{H100: 8}`."""
    value = find(root, "resources.accelerators")
    if isinstance(value, Mapping) and len(value.entries) == 1:
        inner = value.entries[0].value
        number = inner.value if isinstance(inner, Scalar) else None
        return (number, inner) if isinstance(number, int) and isinstance(inner, Scalar) else None
    if isinstance(value, Scalar) and isinstance(value.value, str):
        match = _COUNTED.fullmatch(value.value)
        return (int(match[1]), value) if match else (1, value) if re.fullmatch(r"[\w.-]+", value.value) else None
    return None


def _script(source: Source, run: Scalar) -> Script:
    """The text of the block, each line with its place in the file."""
    written, pieces, position = source.text, list[Piece](), run.span.start
    for line in str(run.value).splitlines(keepends=True):
        bare = line.strip("\n")
        at = written.find(bare, position, run.span.end) if bare else position
        if at < 0:
            return Script(str(run.value), Text((Piece(str(run.value), ((run.span.start, run.span.end),)),)))
        end = min(at + len(line), run.span.end)
        exact = written[at:end] == line
        pieces.append(Piece(line, ((at, end),), exact))
        position = end if bare else position
    text = "".join(piece.text for piece in pieces)
    return Script(text, Text(tuple(pieces)))
