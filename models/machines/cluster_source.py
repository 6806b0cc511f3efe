"""A cluster file, read: every fault a Finding at its place in the text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..findings.finding import UnusableInput, error
from ..text.source import Source

if TYPE_CHECKING:
    from .cluster import Cluster

_ADVICE = "name a cluster file, or write nodes x accelerators, such as `2x8xH100` or `x8`"
_OF_JOBS = ("components", "cluster", "actor_rollout_ref", "actor_train", "actor_infer", "rollout", "trainer", "defaults", "placewright")
"""Keys of files that say what runs, and not on which machines."""
_HELP = "a cluster file is `nodes: [{repeat: 2, accelerators: {count: 8, model: H100}}]`"


def read_cluster(path: str | Path) -> Cluster:
    """The cluster that a YAML or JSON file describes. Raises UnusableInput with every fault of the file."""
    if not Path(path).exists():
        raise UnusableInput([error("PW001", "", f"`{path}` is no shorthand, and there is no file of this name", help=_ADVICE)])
    return cluster_of(Source.read(path))


def cluster_of(source: Source) -> Cluster:
    """The cluster that a text describes. Raises UnusableInput with every fault of the text."""
    from ..text.forms import fill
    from .cluster_file import ClusterForm

    job = next((entry.key for entry in source.root if entry.key.text in _OF_JOBS), None)
    if job is not None and source.root.get("nodes") is None:
        message = f"`{source.name}` is a configuration of a job, not a cluster file: it has `{job.text}`"
        raise UnusableInput([error("PW011", "", message, job.span, label="says what runs", help=f"{_ADVICE}; {_HELP}")])
    form = fill(ClusterForm, source.root, "", "a cluster file", "PW011")
    try:
        return form.build()
    except ValueError as problem:
        raise UnusableInput([error("PW011", "", f"the cluster cannot be: {problem}", source.whole(), help=_HELP)]) from None
