"""Interpolations resolved where values are read: `${a.b}`, `${.a}`, `${oc.env:NAME,default}`, a few computed ones.

What cannot be resolved stays as it is written and is said to be unchecked. A value that came through an
interpolation keeps both places: `span` is where `${...}` is written, `origin` where the value really stands.
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
    """Resolves the interpolations of one configuration.

    `environment` holds the variables that may be read, and no others. Where the tree is `partial`, a missing key may
    stand in what could not be read, and is unknown rather than impossible. `findings` and `unchecked` collect what was met,
    `followed` the maps and lists that were found elsewhere: where they stand, and where they are referred to.
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
        """Of a whole document; the variables `names` may be read besides those that the document allows.

        Below the keys `unread` no variable is read: what stands there is shown wherever it is used, such as a label.
        """
        found = Interpolator(document.root, document.environment.also(names), document.partial)
        found._unread = frozenset(unread)
        found._reasons, found._assumed = document.reasons, document.assumed
        return found

    def tree(self, value: Value, path: Path) -> Value:
        """The value with all interpolations in it resolved; each unknown one is a Scalar with the tag UNRESOLVED."""
        return self._tree(value, path, 0)

    def target(self, scalar: Scalar, path: Path) -> tuple[Value, Path]:
        """What a scalar at a path refers to, as it is written there, and where that is; itself where that is not known."""
        try:
            return self._resolve(scalar, path)
        except (Unknown, Impossible, BadInterpolation):
            return scalar, path

    def _tree(self, value: Value, path: Path, level: int) -> Value:
        if isinstance(value, Scalar):
            told = map(taken_as_not_set, sorted(self._assumed.get(value.span, ())))
            self.unchecked += [each for each in told if each not in self.unchecked]
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
            found, where = self._resolve(scalar, path)
            if self._read:
                self.environment.places[scalar.span] = scalar.text
            if isinstance(found, Scalar):
                return found
            self.followed.append((found.span, scalar.span))
            self._spend(_size(found))
            if level > MAX_LEVELS or id(scalar) in self._expanding:
                raise Unknown("the map or list that it refers to holds itself, or is nested too deeply")
            self._expanding.append(id(scalar))
            try:
                return self._tree(found, where, level + 1)
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
        """What a problem says, unless it could tell what a variable holds."""
        if isinstance(problem, Unread) or not self._read:
            return str(problem)
        return f"it depends on the environment variable `{self._read[-1][:60]}`, whose value is not shown"


def _size(value: Value) -> int:
    if isinstance(value, Scalar):
        return 1
    children = value.items if isinstance(value, ListNode) else [entry.value for entry in value]
    return 1 + sum(map(_size, children))
