"""Hints in a native file, read."""

from __future__ import annotations

from placewright.models.dialects.load import read
from placewright.models.findings.finding import Finding
from placewright.models.problem import Problem
from placewright.models.reading import Reading
from placewright.models.text.source import Source

HEAD = """cluster:
  nodes:
    - {repeat: 4, accelerators: {count: 8, model: H100, numa: 2}, topology: {zone: a, rack: r1, nvlink_domain: n1}}
    - {name: gpu-, repeat: 4, accelerators: {count: 8, model: H100}, topology: {zone: a, rack: r2, nvlink_domain: n2}}
components:
"""
"""Nodes node-0 to node-3, and gpu-0 to gpu-3, which are the nodes 4-7."""


def reading(components: str, rest: str = "") -> Reading:
    return read(Source("job.yaml", f"{HEAD}{components}{rest}"))


def problem(components: str, rest: str = "") -> Problem:
    found = reading(components, rest)
    assert found.findings == ()
    assert found.problem is not None
    return found.problem


def only(components: str, rest: str = "") -> Finding:
    (finding,) = reading(components, rest).findings
    assert finding.help
    return finding


def under(finding: Finding, components: str, rest: str = "") -> str:
    assert finding.span is not None
    return f"{HEAD}{components}{rest}"[finding.span.start : finding.span.end]
