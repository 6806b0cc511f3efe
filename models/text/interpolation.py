"""Interpolations, resolved on reading: `${a.b}`, `${.a}`, `${oc.env:NAME,default}`.

An unresolved interpolation keeps its text and is recorded as unchecked. A resolved value keeps two
places: `span` is the place of `${...}`, `origin` the place of the value itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Iterable, Mapping

from ..findings.finding import Finding, Unchecked, error
from ..findings.span import Span
from .environment import Environment, taken_as_not_set
from .interpolation_text import BadInterpolation
from .resolving import Path, Resolving, stands_for_another
from .tree import Entry, ListNode, MapNode, Scalar, Value
from .unresolved import UNRESOLVED, Impossible, Unknown, Unread

MAX_LEVELS = 64

if TYPE_CHECKING:
    from .document import Document


class Interpolator(Resolving):
    """Resolver of the interpolations of one configuration.

    Attributes
    ----------
    environment : the only readable variables.
    partial : True if a missing key may stand in an unread part: it is unknown, not impossible.
    findings, unchecked : collected results.
    followed : maps and lists reached by reference: their span, and the span of the reference.
    """

    def __init__(self, root: MapNode, environment: Environment | Mapping[str, str] | None = None, partial: bool = False) -> None:
        super().__init__(root, environment if isinstance(environment, Environment) else Environment(environment or {}), partial)
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []
        self.followed: list[tuple[Span, Span]] = []
        self._expanding: list[int] = []
        self._assumed: Mapping[Span, frozenset[str]] = {}

    @staticmethod
    def of(document: Document, names: Iterable[str] = (), unread: Iterable[str] = ()) -> Interpolator:
        """Return the resolver of a whole document.

        The variables `names` may be read besides those that the document allows. Below the keys
        `unread`, no variable is read: text there, such as a label, is shown wherever it is used.
        """
        resolver = Interpolator(document.root, document.environment.also(names), document.partial)
        resolver._unread = frozenset(unread)
        resolver._reasons, resolver._assumed = document.reasons, document.assumed
        return resolver

    def tree(self, value: Value, path: Path) -> Value:
        """Resolve all interpolations in a value; unknown ones become Scalars of tag UNRESOLVED."""
        return self._tree(value, path, 0)

    def target(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        """Return the target of a scalar, as written there, and its path.

        The scalar and its own path if the target is unknown.
        """
        try:
            return self._resolve(scalar, path)
        except (Unknown, Impossible, BadInterpolation):
            return scalar, path

    def _tree(self, value: Value, path: Path, level: int) -> Value:
        if isinstance(value, Scalar):
            notes = map(taken_as_not_set, sorted(self._assumed.get(value.span, ())))
            self.unchecked += [note for note in notes if note not in self.unchecked]
            return self._leaf(value, path, level) if stands_for_another(value) else value
        if isinstance(value, ListNode):
            items = tuple(self._tree(item, (*path, str(i)), level + 1) for i, item in enumerate(value.items))
            return value if all(new is old for new, old in zip(items, value.items)) else ListNode(items, value.span)
        values = [self._tree(entry.value, (*path, entry.key.text), level + 1) for entry in value]
        if all(new is entry.value for new, entry in zip(values, value)):
            return value
        return replace(value, entries=tuple(Entry(entry.key, new) for new, entry in zip(values, value)))

    def _leaf(self, scalar: Scalar, path: Path, level: int) -> Value:
        subject = ".".join(path)
        self._read, self._leaf_at = [], path
        try:
            target, target_path = self._resolve(scalar, path)
            if self._read:
                self.environment.places[scalar.span] = scalar.text
            if isinstance(target, Scalar):
                return target
            self.followed.append((target.span, scalar.span))
            self._spend(_size(target))
            if level > MAX_LEVELS or id(scalar) in self._expanding:
                raise Unknown("the map or list that it refers to holds itself, or is nested too deeply")
            self._expanding.append(id(scalar))
            try:
                return self._tree(target, target_path, level + 1)
            finally:
                self._expanding.pop()
        except Unknown as problem:
            self.unchecked.append(Unchecked("PW120", subject, self._reason(problem)))
        except (Impossible, BadInterpolation) as problem:
            help_ = "write the value, or refer to a key that this file has"
            message = f"`{scalar.text[:60]}` cannot be resolved: {self._reason(problem)}"
            self.findings.append(error("PW120", subject, message, scalar.span, help=help_))
        return Scalar(scalar.text, UNRESOLVED, scalar.span)

    def _reason(self, problem: Exception) -> str:
        """Return the message of a problem, unless it could show the value of a variable."""
        if isinstance(problem, Unread) or not self._read:
            return str(problem)
        return f"it depends on the environment variable `{self._read[-1][:60]}`, whose value is not shown"


def _size(value: Value) -> int:
    if isinstance(value, Scalar):
        return 1
    children = value.items if isinstance(value, ListNode) else [entry.value for entry in value]
    return 1 + sum(map(_size, children))
