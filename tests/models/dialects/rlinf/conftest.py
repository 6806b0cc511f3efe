"""Short ways to read RLinf text in these tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

import pytest
from placewright.models.dialects import rlinf
from placewright.models.findings.finding import Severity
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import DeclaredNodes, read_shorthand
from placewright.models.reading import Reading
from placewright.models.releases.choice import state_release
from placewright.models.releases.release import read_releases
from placewright.models.report import Report
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify

NEWEST = state_release(read_releases(rlinf.RELEASES), read_releases(rlinf.RELEASES).newest)
"""Release of these tests; those of older ones state theirs (see test_releases.py)."""
Read = Callable[..., Reading]
Judge = Callable[..., Report]
Codes = Callable[..., str]


@pytest.fixture
def read() -> Read:
    """Read a text, with machines in shorthand (default: 8 accelerators on each node) or None."""

    def reading(text: str, machines: str | Cluster | DeclaredNodes | None = "x8") -> Reading:
        document = replace(Document.of(Source("run.yaml", text)), release=NEWEST)
        return rlinf.read(document, read_shorthand(machines) if isinstance(machines, str) else machines, "placement")

    return reading


@pytest.fixture
def placed(read: Read) -> Read:
    """Read one placement: the value of the component `actor` on 2 nodes of 8, with more lines of `cluster` if given."""

    def reading(placement: str, more: str = "") -> Reading:
        return read(f"cluster:\n  num_nodes: 2\n{more}  component_placement:\n    actor: {placement}\n")

    return reading


@pytest.fixture
def judged(read: Read) -> Judge:
    """The verdict on a text; arguments as for `read`."""
    return lambda *arguments: verify(read(*arguments))


@pytest.fixture
def codes(judged: Judge) -> Codes:
    """The errors of a text, and its warnings as `(PW118)`, in the order of their places; arguments as for `read`.

    What is merely unused or idle (PW8..) is left out.
    """

    def found(*arguments: object) -> str:
        findings = [each for each in judged(*arguments).findings if each.severity is not Severity.NOTE and each.code < "PW8"]
        return " ".join(each.code if each.severity is Severity.ERROR else f"({each.code})" for each in findings)

    return found
