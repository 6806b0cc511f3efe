"""Control flow of a script: lists, `if`, `case`, loops, and merging of branches.

A loop is interpreted turn by turn if its turns are known, and once otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Callable, Iterator, Sequence

from ..record import dataclass
from .arithmetic import NotComputed
from .conditions import HOLDS, Truth, depends, evaluate_sum
from .expand import Expander
from .launch import Started
from .pieces import Place, WordText, merged
from .state import State
from .syntax import Script, Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node
    from typing_extensions import Self

MAX_TURNS = 100
"""Largest number of turns interpreted separately; longer loops have an unknown number."""
UNKNOWN = Truth(None, "it depends on how a command ends")
_Branch = tuple[Sequence["Node"], Sequence["Node"]]


@dataclass
class ControlFlow(ABC):
    """Interpreter of statements in a state.

    Attributes
    ----------
    script : text under interpretation.
    started : commands that it starts, in the order of interpretation.
    unread : places of commands that may set variables from unread texts.
    unsure : why it is unknown that the current statement is reached, for every enclosing branch.
    depends : inputs assumed unset that decided the enclosing branches.
    broken : True if it is unknown whether a loop was left.
    went_past : True if an exit was skipped that happens only because an input is unset.
    """

    script: Script
    state: State
    started: list[Started] = field(default_factory=list)
    unread: list[Place] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    depends: list[frozenset[str]] = field(default_factory=list)
    broken: bool = False
    depth: int = 0
    went_past: bool = False

    @abstractmethod
    def statement(self, node: Node) -> Truth:
        """Interpret a statement; return how it ends. Raises TooMuch or Unreadable."""

    def statements(self, nodes: Sequence[Node]) -> Truth:
        """Interpret statements up to an exit; return how the last statement ends."""
        truth = HOLDS
        for node, following in zip(nodes, [*nodes[1:], None]):
            if self.state.ended:
                break
            if node.is_named and node.type != "comment":
                background = following is not None and following.type == "&"
                truth = self._aside().statement(node) if background else self.statement(node)
                truth = HOLDS if background else truth
        return truth

    @property
    def _expander(self) -> Expander:
        return Expander(self.script, self.state)

    def _place(self, node: Node) -> Place:
        return self.script.origin.place(*self.script.range(node))

    # -- branches

    @contextmanager
    def _around(self, why: str = "", taken: frozenset[str] = frozenset()) -> Iterator[None]:
        """Interpret a branch that is uncertain (`why`) or due to unset inputs (`taken`)."""
        self.unsure.append(why)
        self.depends.append(taken)
        yield
        self.depends.pop()
        self.unsure.pop()

    def _aside(self) -> Self:
        """Return an interpreter for a subshell, whose variables are lost."""
        return replace(self, state=self.state.copy(), broken=False)

    def _either(self, why: str, place: Place, branch: Callable[[], Truth], alternative: Callable[[], Truth] | None = None) -> Truth:
        """Interpret one or two uncertain branches; different variables become unknown.

        Returns how the first branch ends.
        """
        before = self.state.copy()
        with self._around(why):
            truth = branch()
            first, self.state = self.state, before
            if alternative is not None:
                alternative()
        second, self.state = self.state, first
        ends = (first.ended, second.ended)
        self.broken = self.broken or "break" in ends or "continue" in ends
        if first.ended and not second.ended:
            self.state = second
        elif not first.ended and not second.ended:
            first.merge(second, place, why)
        return truth

    def _list(self, node: Node) -> Truth:
        """Interpret `a && b` or `a || b`."""
        nodes = [child for child in node.named_children if child.type != "comment"]
        both = next((child.type for child in node.children if child.type in ("&&", "||")), "&&") == "&&"
        truth = self.statement(nodes[0])
        if self.state.ended or len(nodes) < 2 or truth.value == (not both):
            return truth
        if truth.value is None:
            branch = lambda: self.statement(nodes[1])  # noqa: E731
            following = self._either(truth.why, self._place(nodes[1]), branch)
        else:
            with self._around(taken=truth.depends):
                following = self.statement(nodes[1])
        return truth.both(following) if both else truth.either(following)

    def _pipeline(self, node: Node) -> Truth:
        for child in node.named_children:
            self._aside().statement(child)
        return UNKNOWN

    def _negated(self, node: Node) -> Truth:
        return self.statement(node.named_children[-1]).negated()

    def _if(self, node: Node) -> Truth:
        branches, inner = list[_Branch](), ("elif_clause", "else_clause")
        for clause in [node, *(child for child in node.children if child.type in inner)]:
            kinds = [child.type for child in clause.children]
            at = kinds.index("then") if "then" in kinds else 0
            rest = clause.children[at + 1 :]
            body = [child for child in rest if child.type not in (*inner, "fi")]
            branches.append((clause.children[1:at], body))
        return self._branch(branches, self._place(node))

    def _branch(self, branches: Sequence[_Branch], place: Place) -> Truth:
        """Interpret the first branch with a true condition; no condition means `else`."""
        if not branches:
            return HOLDS
        (condition, body), rest = branches[0], branches[1:]
        truth = self.statements(condition)
        if self.state.ended:
            return truth
        if truth.value is None:
            self._either(truth.why, place, lambda: self.statements(body), lambda: self._branch(rest, place))
            return UNKNOWN
        with self._around(taken=truth.depends):
            if not truth.value:
                return self._branch(rest, place)
            self.went_past = False
            ended = self.statements(body)
            return self._branch(rest, place) if self.went_past else ended

    def _case(self, node: Node) -> Truth:
        """Interpret the first `case` arm with a matching pattern; all arms if unknown."""
        value, expander = node.child_by_field_name("value"), self._expander
        place = self.script.range(value) if value is not None else (0, 0)
        subject = expander.one(self.script.parts(*place))
        items = [child for child in node.children if child.type == "case_item"]
        try:
            if not subject.known or (self.state.doubting and subject.unset):
                shown = self.script.shown(place)
                why = f"it depends on `{shown}`, which is not known: {subject.why_unknown}"
                raise NotComputed(why)
            for item in items:
                patterns = [self.script.range(child) for child in item.children_by_field_name("value")]
                parts = [self.script.parts(*pattern) for pattern in patterns]
                if any(expander.pattern(pieces).matches(subject.plain) for pieces in parts):
                    if item.children[-1].type in (";&", ";;&"):
                        raise NotComputed("`;&` is not followed")
                    with self._around(taken=depends(subject)):
                        return self.statements(_arm(item))
        except NotComputed as problem:
            for item in items:
                branch = lambda: self.statements(_arm(item))  # noqa: B023, E731
                self._either(str(problem), self._place(node), branch)
            return UNKNOWN
        return HOLDS

    # -- loops

    def _loop(self, node: Node) -> Truth:
        """Interpret a loop turn by turn if its turns are known, else once."""
        old, outer = dict(self.state.variables), self.broken
        self.broken = False
        self._for(node) if node.type == "for_statement" else self._while(node)
        broken, self.broken = self.broken, outer
        if not broken:
            return HOLDS
        new, why = self.state.variables, "it depends on how often a loop was gone through"
        for name in old.keys() | new.keys():
            if old.get(name) != new.get(name):
                new[name] = merged(old.get(name), new.get(name), name, self._place(node), why)
        return UNKNOWN

    def _for(self, node: Node) -> None:
        name = self.script.written(node.named_children[0])
        kinds, place, body = [child.type for child in node.children], self._place(node), _body(node)
        words = self.state.elements("@", place)
        if "in" in kinds:
            at = kinds.index("in")
            stops = (";", "\n", "do_group", "compound_statement")
            end = next((child for child in node.children[at:] if child.type in stops), node)
            inside = self.script.range(node.children[at])[1], self.script.range(end)[0]
            words = self._expander.all_fields(list(self.script.words(*inside)))
        if len(words) > MAX_TURNS:
            words = [WordText.unknown(f"${name}", place, f"the loop has more than {MAX_TURNS} turns")]
        for word in words:
            if word.known:
                self.state.assign(name, word)
                self.statements(body)
            else:
                why = f"it depends on a loop over what is not known: {word.why_unknown}"
                self._once(body, place, why, (name, word))
            if self._left():
                break

    def _while(self, node: Node) -> None:
        sums = self._loop_sums(node) if node.type == "c_style_for_statement" else []
        body, place = _body(node), self._place(node)
        try:
            if sums:
                self._expander.number(sums[0], place)
            for _ in range(MAX_TURNS):
                before = dict(self.state.variables)
                truth = self._goes_on(node, sums)
                if truth.value is None:
                    return self._once(body, place, truth.why)
                if not truth.value or self.state.ended:
                    return None
                self.statements(body)
                if self._left():
                    return None
                if sums:
                    self._expander.number(sums[2], place)
                if before == self.state.variables:  # only an unknown value can end it
                    self.broken = True
                    return None
        except NotComputed as problem:
            why = f"it depends on a loop whose turns are not known: {problem}"
            return self._once(body, place, why)
        return self._once(body, place, f"it depends on a loop of more than {MAX_TURNS} turns")

    def _loop_sums(self, node: Node) -> list[Place]:
        """Return the places of the three sums of `for ((a; b; c))`."""
        signs = ("((", ";", "))")
        places = [self.script.range(child) for child in node.children if child.type in signs]
        if len(places) < 4:
            raise Unreadable("`for ((` needs three expressions", self.script.range(node)[0])
        return [(low[1], high[0]) for low, high in zip(places[:3], places[1:4])]

    def _goes_on(self, node: Node, sums: Sequence[Place]) -> Truth:
        """Return the truth of the loop condition."""
        if sums:
            shown = self.script.shown(sums[1])
            return evaluate_sum(sums[1], self._expander, shown) if shown else HOLDS
        truth = self.statements(node.children_by_field_name("condition"))
        return truth.negated() if node.children[0].type == "until" else truth

    def _once(self, body: Sequence[Node], place: Place, why: str, word: tuple[str, WordText] | None = None) -> None:
        """Interpret a loop body with an unknown number of turns."""
        before = self.state.variables.copy()

        def way() -> Truth:
            """Interpret a turn to any end."""
            if word:
                self.state.assign(*word)
            truth = self.statements(body)
            self._left()
            return truth

        self._either(why, place, way)
        variables = self.state.variables
        for name, array in variables.items():
            if isinstance(array, list) and before.get(name) != array:  # turns may add elements
                variables[name] = [*array, WordText.unknown(f"${name}", place, why)]

    def _left(self) -> bool:
        """Return True if the loop ends after this turn; `continue` begins the next turn."""
        ended = self.state.ended
        if ended in ("break", "continue"):
            self.state.ended = ""
        return ended not in ("", "continue")


def _body(node: Node) -> list[Node]:
    """Return the statements of a loop."""
    body = node.child_by_field_name("body")
    return list(body.children[1:-1]) if body is not None else []


def _arm(item: Node) -> list[Node]:
    """Return the statements of a `case` arm."""
    at = next((i for i, child in enumerate(item.children) if child.type == ")"), len(item.children))
    return [child for child in item.children[at + 1 :] if child.type not in (";;", ";&", ";;&")]
