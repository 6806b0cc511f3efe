"""A cluster file, read: every fault a Finding at its place in the text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..findings.finding import UnusableInput, error
from ..text.source import Source

if TYPE_CHECKING:
    from .cluster import Cluster

_HELP = "a cluster file is `nodes: [{repeat: 2, accelerators: {count: 8, model: H100}}]`"


def read_cluster(path: str | Path) -> Cluster:
    """The cluster that a YAML or JSON file describes. Raises UnusableInput with every fault of the file."""
    return cluster_of(Source.read(path))


def cluster_of(source: Source) -> Cluster:
    """The cluster that a text describes. Raises UnusableInput with every fault of the text."""
    from ..text.forms import fill
    from .cluster_file import ClusterForm

    form = fill(ClusterForm, source.root, "", "a cluster file", "PW011")
    try:
        return form.build()
    except ValueError as problem:
        raise UnusableInput([error("PW011", "", f"the cluster cannot be: {problem}", source.whole(), help=_HELP)]) from None
