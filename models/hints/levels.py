"""Which levels of the topology hints name."""

from __future__ import annotations

from ..machines.topology import LEVELS, NODE_LEVEL

DOMAINS = (*LEVELS, NODE_LEVEL)
"""The levels whose domains are nodes or made of nodes: what can fail at once."""
RACK = LEVELS[1]
"""The level that is meant where none is written."""
OVER_NODES = "keep: {tp: {level: node, required: false}}"
"""The hint that lets tensor parallel groups lie over nodes."""
LET_OVER_NODES = f"let its tp groups lie over nodes: `{OVER_NODES}`"
"""How that is told as a help."""
