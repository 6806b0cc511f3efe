"""A file with other degrees of its roles, judged in all respects, each choice once: alone, and together with those of other roles."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable, Iterator, Mapping, Union

from ....component import Parallel
from ....findings.finding import Finding, Severity
from ....job import Job
from ....machines.cluster import Cluster
from ....machines.shorthand import AsDeclared
from ....problem import Problem
from ....reading import Reading
from ....share import Share
from ....text.document import Document
from ...dialect import TRAINING
from .keys import numbers, with_numbers

Read = Callable[[Document, Union[Cluster, AsDeclared, None], str], Reading]
Found = tuple[Union[Problem, None], str]
"""The problem with other degrees, and why these cannot be; "" where they can."""


@dataclass(frozen=True)
class Chosen:
    """The file `opened` on a cluster; `judged` is it as it stands, with all that ROLL refuses of it already."""

    read: Read
    opened: Document
    cluster: Cluster
    judged: Reading
    _known: dict[frozenset[tuple[str, Parallel]], Found] = field(default_factory=dict, repr=False)

    @property
    def shares(self) -> tuple[Share, ...]:
        """The work that ranks divide among themselves, of the file as it stands."""
        return self.judged.problem.job.shares if self.judged.problem is not None else ()

    def says(self, name: str, parallel: Parallel) -> bool:
        """Has the strategy of a role keys for these degrees?"""
        return numbers(self.opened.root, name, parallel) is not None

    def problem(self, degrees: Mapping[str, Parallel], refused_too: bool = False) -> Problem | str:
        """The problem with these degrees of roles; why, where a strategy cannot say them, or ROLL refuses them, if these are not asked for too."""
        found, why = self._with(degrees)
        return found if found is not None and (refused_too or not why) else why

    def job(self, degrees: Mapping[str, Parallel]) -> Job | str:
        """Its job; why, where these degrees cannot be."""
        found, why = self._with(degrees)
        return found.job if found is not None and not why else why

    def _with(self, degrees: Mapping[str, Parallel]) -> Found:
        key = frozenset(degrees.items())
        if key not in self._known:
            self._known[key] = self._anew(degrees)
        return self._known[key]

    def _anew(self, degrees: Mapping[str, Parallel]) -> Found:
        """Some of the degrees may be refused without the others, so that all are judged together."""
        file = self.opened
        for name, parallel in degrees.items():
            values = numbers(file.root, name, parallel)
            if values is None:
                return None, f"the strategy of `{name}` cannot say them"
            file = replace(file, root=with_numbers(file.root, name, values))
        found, before = self.read(file, self.cluster, TRAINING), {_key(each) for each in _errors(self.judged)}
        worse = next((each.message for each in _errors(found) if _key(each) not in before), "")
        return found.problem, worse or ("" if found.problem is not None else "the file cannot be read")


def _errors(reading: Reading) -> Iterator[Finding]:
    return (each for each in reading.findings if each.severity is Severity.ERROR)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.subject
