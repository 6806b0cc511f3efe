"""Ways that a script may take: lists, `if`, `case`, loops, and how two ways come together again.

A loop is followed turn by turn if its turns are known, and once if they are not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Iterator, Sequence

from ..record import dataclass
from .conditions import HOLDS, Truth, computed
from .expand import Expander, Unfit
from .launch import Started
from .patterns import Slow
from .pieces import Place, Text, merged
from .state import State, TooMuch
from .sums import NotComputed
from .syntax import Script, Unreadable

if TYPE_CHECKING:
    from tree_sitter import Node
    from typing_extensions import Self

MAX_TURNS = 1_000
UNKNOWN = Truth(None, "it depends on how a command ends")


@dataclass
class Ways(ABC):
    """Follows statements in a state.

    Attributes
    ----------
    script : the text that is followed at present.
    started : the commands that it starts, in the order of following.
    untold : places and names of commands that may set variables from what is not read.
    unsure : why it is unknown that the present statement is reached, of every way around it.
    depends : the variables and arguments, taken as not given, that decided the ways around the present statement.
    broken : True if a loop was left where it is unknown whether it is left.
    went_past : True if an exit was gone past that comes only because something was not given.
    """

    script: Script
    state: State
    started: list[Started] = field(default_factory=list)
    untold: list[tuple[Place, str]] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    depends: list[frozenset[str]] = field(default_factory=list)
    broken: bool = False
    depth: int = 0
    went_past: bool = False

    @abstractmethod
    def statement(self, node: Node) -> Truth:
        """Follow one statement; how it ends. Raises TooMuch or Unreadable."""

    def statements(self, nodes: Sequence[Node]) -> Truth:
        """Follow statements as far as they are reached; how the last one ends."""
        truth = HOLDS
        for position, node in enumerate(nodes):
            if self.state.ended:
                break
            if node.is_named and node.type != "comment":
                truth = self._one_of(nodes, position)
        return truth

    def _one_of(self, nodes: Sequence[Node], position: int) -> Truth:
        """One statement; what runs in the background changes nothing."""
        background = position + 1 < len(nodes) and nodes[position + 1].type == "&"
        if background:
            self._aside().statement(nodes[position])
            return HOLDS
        return self.statement(nodes[position])

    @property
    def _expander(self) -> Expander:
        return Expander(self.script, self.state)

    def _place(self, node: Node) -> Place:
        return self.script.origin.place(*self.script.range(node))

    # -- ways that a script may take

    @contextmanager
    def _deciding(self, depends: frozenset[str]) -> Iterator[None]:
        """Follow a way that was taken because these were not given."""
        self.depends.append(depends)
        yield
        self.depends.pop()

    @contextmanager
    def _doubting(self, why: str) -> Iterator[None]:
        """Follow a way of which it is unknown whether it is taken."""
        self.unsure.append(why)
        yield
        self.unsure.pop()

    def _aside(self) -> Self:
        """Follow in a shell of its own, whose variables are lost."""
        return replace(self, state=self.state.copy(), broken=False)

    def _rejoin(self, other: State, place: Place, why: str) -> None:
        """After one of two ways: what differs from the `other` one is unknown; a way that ended goes no further."""
        ended, self.state.ended = self.state.ended, ""
        other_ended, other.ended = other.ended, ""
        self.broken = self.broken or not {"break", "continue"}.isdisjoint((ended, other_ended))
        if ended and other_ended:
            self.state.ended = ended
        elif ended:
            self.state.become(other)
        elif not other_ended:
            self.state.merge(other, place, why)

    def _list(self, node: Node) -> Truth:
        """`a && b`, `a || b`."""
        nodes = [child for child in node.named_children if child.type != "comment"]
        operator = next((child.type for child in node.children if child.type in ("&&", "||")), "&&")
        truth = self.statement(nodes[0])
        if self.state.ended or len(nodes) < 2:
            return truth
        if truth.value is None:
            before = self.state.copy()
            with self._doubting(truth.why):
                following = self.statement(nodes[1])
            self._rejoin(before, self._place(nodes[1]), truth.why)
            return truth.both(following) if operator == "&&" else truth.either(following)
        if truth.value == (operator == "&&"):
            with self._deciding(truth.depends):
                following = self.statement(nodes[1])
            return replace(following, depends=following.depends | truth.depends)
        return truth

    def _pipeline(self, node: Node) -> Truth:
        nodes = [child for child in node.named_children if child.type != "comment"]
        if len(nodes) == 1:
            return self.statement(nodes[0])
        for child in nodes:
            self._aside().statement(child)
        return UNKNOWN

    def _negated(self, node: Node) -> Truth:
        return self.statement(node.named_children[-1]).negated()

    def _if(self, node: Node) -> Truth:
        branches: list[tuple[list[Node], list[Node]]] = [([], [])]
        current = 0
        for child in node.children[1:]:
            if child.type in ("then", "elif_clause", "else_clause", "fi"):
                current = 1
            else:
                branches[0][current].append(child)
        for clause in node.children:
            if clause.type == "elif_clause":
                at = next((i for i, child in enumerate(clause.children) if child.type == "then"), 1)
                branches.append((clause.children[1:at], clause.children[at + 1 :]))
            elif clause.type == "else_clause":
                branches.append(([], clause.children[1:]))
        return self._branch(branches, self._place(node))

    def _branch(self, branches: Sequence[tuple[list[Node], list[Node]]], place: Place) -> Truth:
        """The first branch whose condition holds; one without a condition is `else`."""
        if not branches:
            return HOLDS
        condition, body = branches[0]
        truth = self.statements(condition)
        if self.state.ended:
            return truth
        if truth.value is not None:
            with self._deciding(truth.depends):
                if not truth.value:
                    return self._branch(branches[1:], place)
                self.went_past = False
                ended = self.statements(body)
                return self._branch(branches[1:], place) if self.went_past else ended
        other = self.state.copy()
        with self._doubting(truth.why):
            self.statements(body)
            self.state, other = other, self.state
            self._branch(branches[1:], place)
            self.state, other = other, self.state
        self._rejoin(other, place, truth.why)
        return UNKNOWN

    def _case(self, node: Node) -> Truth:
        """`case`: the first arm with a pattern that fits."""
        expander = self._expander
        value = node.child_by_field_name("value")
        place = self.script.range(value) if value is not None else (0, 0)
        subject = expander.one(self.script.parts(*place))
        items = [child for child in node.children if child.type == "case_item"]
        if not subject.known:
            why = f"it depends on `{expander.shown(place)}`, which is not known: {subject.why_unknown}"
            return self._any_arm(items, node, why)
        for item in items:
            try:
                patterns = [self.script.range(pattern) for pattern in item.children_by_field_name("value")]
                fits = any(expander.pattern(self.script.parts(*each)).matches(subject.plain) for each in patterns)
            except Unfit as problem:
                return self._any_arm(items, node, str(problem))
            except Slow:
                return self._any_arm(items, node, "matching its pattern takes too long")
            if fits and item.children[-1].type in (";&", ";;&"):
                return self._any_arm(items, node, "`;&` is not followed")
            if fits:
                with self._deciding(subject.unset | subject.assumed):
                    return self.statements(_arm(item))
        return HOLDS

    def _any_arm(self, items: Sequence[Node], node: Node, why: str) -> Truth:
        """Any of the arms, or none."""
        for item in items:
            before = self.state.copy()
            with self._doubting(why):
                self.statements(_arm(item))
            self._rejoin(before, self._place(node), why)
        return UNKNOWN

    # -- loops

    def _loop(self, node: Node) -> Truth:
        """A loop, turn by turn if that is known, once if not. Raises TooMuch."""
        before, outer = dict(self.state.variables), self.broken
        self.broken = False
        self._for(node) if node.type == "for_statement" else self._while(node)
        broken, self.broken = self.broken, outer
        if not broken:
            return HOLDS
        held, why = self.state.variables, "it depends on how often a loop was gone through"
        for name in before.keys() | held.keys():
            if before.get(name) != held.get(name):
                held[name] = merged(before.get(name), held.get(name), name, self._place(node), why)
        return UNKNOWN

    def _for(self, node: Node) -> None:
        expander = self._expander
        name = self.script.written(node.named_children[0])
        kinds = [child.type for child in node.children]
        if "in" in kinds:
            inside, at = self.script.range(node.children[kinds.index("in")])[1], kinds.index("in") + 1
            ends = [child for child in node.children[at:] if child.type in (";", "\n", "do_group", "compound_statement")]
            end = self.script.range(ends[0])[0] if ends else inside
            words = [text for word in self.script.words(inside, end) for text in expander.fields(word)]
        else:
            words = self.state.elements("@", self._place(node))
        body = _body(node)
        for word in words:
            if word.known:
                self.state.assign(name, word)
                self.statements(body)
            else:
                why = f"it depends on a loop over what is not known: {word.why_unknown}"
                self._once(body, self._place(node), why, (name, word))
            if self._left():
                break

    def _while(self, node: Node) -> None:
        sums = self._three_sums(node) if node.type == "c_style_for_statement" else []
        body = _body(node)
        try:
            if sums:
                self._expander.number(sums[0], self._place(node))
            for _ in range(MAX_TURNS):
                before = dict(self.state.variables)
                truth = self._goes_on(node, sums)
                if truth.value is None:
                    self._once(body, self._place(node), truth.why)
                    return
                if not truth.value or self.state.ended:
                    return
                self.statements(body)
                if self._left():
                    return
                if sums:
                    self._expander.number(sums[2], self._place(node))
                if before == self.state.variables:  # each turn is like the last: only what is unknown here can end it
                    self.broken = True
                    return
        except NotComputed as problem:
            self._once(body, self._place(node), f"it depends on a loop whose turns are not known: {problem}")
            return
        raise TooMuch(f"a loop takes more than {MAX_TURNS:,} turns")

    def _three_sums(self, node: Node) -> list[Place]:
        """Where the three sums of `for ((a; b; c))` stand."""
        signs = [self.script.range(child) for child in node.children if child.type in ("((", ";", "))")]
        if len(signs) < 4:
            raise Unreadable("`for ((` needs three expressions", self.script.range(node)[0])
        return [(low[1], high[0]) for low, high in zip(signs[:3], signs[1:4])]

    def _goes_on(self, node: Node, sums: Sequence[Place]) -> Truth:
        if sums:
            shown = self._expander.shown(sums[1])
            return computed(sums[1], self._expander, shown) if shown else HOLDS
        truth = self.statements(node.children_by_field_name("condition"))
        return truth.negated() if node.children[0].type == "until" else truth

    def _once(self, body: Sequence[Node], place: Place, why: str, given: tuple[str, Text] | None = None) -> None:
        """The body of a loop of which it is unknown how often it is gone through."""
        before = self.state.copy()
        if given:
            self.state.assign(*given)
        with self._doubting(why):
            self.statements(body)
        self.state.ended = "" if self.state.ended in ("break", "continue") else self.state.ended
        changed = {name for name, held in self.state.variables.items() if before.variables.get(name) != held}
        first = {name: before.variables.get(name) for name in changed}
        self._rejoin(before, place, why)
        for name in changed:
            held = merged(first[name], self.state.variables.get(name), name, place, why)
            if isinstance(held, list):
                held = [*held, Text.unknown(f"${name}", place, why)]
            self.state.variables[name] = held

    def _left(self) -> bool:
        """True if the loop is left after this turn; a `continue` begins the next one."""
        ended = self.state.ended
        if ended in ("break", "continue"):
            self.state.ended = ""
        return ended not in ("", "continue")


def _body(node: Node) -> list[Node]:
    """The statements of a loop."""
    body = node.child_by_field_name("body")
    return list(body.children[1:-1]) if body is not None else []


def _arm(item: Node) -> list[Node]:
    """The statements of an arm of `case`."""
    at = next((i for i, child in enumerate(item.children) if child.type == ")"), len(item.children))
    return [child for child in item.children[at + 1 :] if child.type not in (";;", ";&", ";;&")]
