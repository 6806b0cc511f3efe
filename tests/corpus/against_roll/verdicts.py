"""What placewright says of a configuration."""

from __future__ import annotations

from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.findings.finding import Severity
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.text.source import Source
from placewright.solver.verify import findings_of

from .configurations import NODES, PER_NODE, Question

CLUSTER = Cluster(tuple(Node(rank, f"node-{rank}", accelerators(PER_NODE)) for rank in range(NODES)))
RELEASE = Composer(frameworks=("roll==8eb27cc2",))


def codes(question: Question, level: str) -> set[str]:
    """The codes of all errors."""
    found = findings_of(read(Source("train.yaml", question.text), CLUSTER, "roll", level, RELEASE))
    return {finding.code for finding in found if finding.severity is Severity.ERROR}
