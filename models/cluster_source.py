"""A cluster file, read: every fault a Finding at its place in the text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .finding import UnusableInput, error
from .source import Source

if TYPE_CHECKING:
    from .cluster import Cluster

CODE = "PW011"
_HELP = "a cluster file is `nodes: [{repeat: 2, accelerators: {count: 8, model: H100}}]`"


def read_cluster(path: str | Path) -> Cluster:
    """The cluster that a YAML or JSON file describes. Raises UnusableInput with every fault of the file."""
    return cluster_of(Source.read(path))


def cluster_of(source: Source) -> Cluster:
    """The cluster that a text describes. Raises UnusableInput with every fault of the text."""
    from .cluster_file import ClusterForm
    from .forms import fill

    root = source.root
    try:
        form = fill(ClusterForm, root, "", "a cluster file")
    except UnusableInput as problem:
        # without a cluster nothing can be judged: each fault makes the whole input unusable
        raise UnusableInput(replace(finding, code=CODE) for finding in problem.findings) from None
    try:
        return form.build()
    except ValueError as problem:
        raise UnusableInput([error(CODE, "", f"the cluster cannot be: {problem}", source.whole(), help=_HELP)]) from None
