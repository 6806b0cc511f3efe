"""A file whose own degrees are refused, where hints leave others open: it is planned with those that ROLL takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Iterator

from ....findings.finding import Finding, Severity, warning
from ....hints.said import timed_names
from ....machines.cluster import Cluster
from ....reading import Reading
from ....text.document import Document
from ...following import MOST_READ
from ..recognise import HINTS
from .chosen import Read
from .keys import numbers, opened_root, with_numbers


def mended(read: Read, document: Document, cluster: Cluster, level: str, found: Reading) -> Document | None:
    """The file with the first choice of open degrees with which nothing is refused; None where there is none, or nothing is refused.

    `found` is what is read of it with its own degrees, without the devices of roles with times.
    """
    problem = found.problem
    choices = {name: its for name, its in problem.job.choices.items() if its} if problem is not None and found.failed else {}
    if not choices or prod(map(len, choices.values())) > MOST_READ:
        return None
    timed = timed_names(document.root.get(HINTS))
    for chosen in product(*choices.values()):
        root = document.root
        for name, parallel in zip(choices, chosen):
            values = numbers(root, name, parallel)
            if values is None:
                break
            root = with_numbers(root, name, values)
        else:
            its = replace(document, root=root)
            if not read(replace(its, root=opened_root(root, timed)), cluster, level).failed:
                return its
    return None


def of_the_file(found: Reading) -> Iterator[Finding]:
    """What is refused of the file with its own degrees, where it is planned with others."""
    for each in found.findings:
        if each.severity is Severity.ERROR:
            message = f"the file's own degrees are refused, and others are planned: {each.message}"
            yield warning(each.code, each.subject, message, each.span)
