"""Machines that a text names: a shorthand, or the path of a cluster file."""

from __future__ import annotations

from .cluster import Cluster
from .shorthand import DeclaredNodes, looks_like_shorthand, read_shorthand


def read_machines(text: str) -> Cluster | DeclaredNodes:
    """Return the machines of a shorthand, like ``2x8xH100``, or of a cluster file.

    Raises ValueError for an unreadable shorthand, UnusableInput for an unreadable file.
    """
    if looks_like_shorthand(text):
        return read_shorthand(text)
    from .cluster_file import read_cluster

    return read_cluster(text)
