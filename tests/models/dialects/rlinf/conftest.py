"""Short ways to read RLinf text in these tests."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.cluster import Cluster
from placewright.models.dialects import rlinf
from placewright.models.reading import Reading
from placewright.models.shorthand import AsDeclared, read_shorthand
from placewright.models.text.document import Document
from placewright.models.text.source import Source

Read = Callable[..., Reading]


@pytest.fixture
def read() -> Read:
    """Read a text, with machines in shorthand (default: 8 accelerators on each node) or None."""

    def reading(text: str, machines: str | Cluster | AsDeclared | None = "x8") -> Reading:
        return rlinf.read(Document.of(Source("run.yaml", text)), read_shorthand(machines) if isinstance(machines, str) else machines)

    return reading


@pytest.fixture
def placed(read: Read) -> Read:
    """Read one placement: the value of the component `actor` on 2 nodes of 8, with more lines of `cluster` if given."""

    def reading(placement: str, more: str = "") -> Reading:
        return read(f"cluster:\n  num_nodes: 2\n{more}  component_placement:\n    actor: {placement}\n")

    return reading
