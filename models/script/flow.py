"""Control flow of a script: lists, `if`, `case`, loops, and merging of branches.

A loop over known words or with a known condition is interpreted turn by turn, any other loop once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, Callable, Iterator, Mapping, Sequence

from ..record import dataclass
from .arithmetic import NotComputed
from .conditions import HOLDS, Truth, evaluate_sum
from .expand import Expander, fits
from .launch import Started
from .pieces import Place, VariableValue, WordText, merged
from .state import State
from .syntax import Script

if TYPE_CHECKING:
    from tree_sitter import Node
    from typing_extensions import Self

MAX_TURNS = 100
"""Largest number of turns interpreted one by one."""
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
    branches : conditions of the enclosing branches.
    broken : True if it is unknown whether a loop was left.
    returned : True if it is unknown whether, or where, a function returned.
    went_past : True if an exit was skipped that happens only because an input is unset.
    """

    script: Script
    state: State
    started: list[Started] = field(default_factory=list)
    unread: list[Place] = field(default_factory=list)
    branches: list[Truth] = field(default_factory=list)
    broken: bool = False
    returned: bool = False
    depth: int = 0
    went_past: bool = False

    @abstractmethod
    def statement(self, node: Node) -> Truth:
        """Interpret a statement; return how it ends. Raises LimitExceeded or Unreadable."""

    def statements(self, nodes: Sequence[Node]) -> Truth:
        """Interpret statements up to an exit; return how the last statement ends."""
        truth = HOLDS
        for node, following in zip(nodes, [*nodes[1:], None]):
            if self.state.ended:
                break
            self.script.check(node)
            if following is not None and following.type == "&":
                self.aside().statement(node)
                truth = HOLDS
            elif node.is_named and node.type != "comment":
                truth = self.statement(node)
        return truth

    @property
    def expander(self) -> Expander:
        """Expander of words in the current state."""
        return Expander(self.script, self.state)

    # -- branches

    @property
    def why_unsure(self) -> str:
        """Reason why it is unknown that the statement is reached; "" if it is reached."""
        return next((truth.why for truth in self.branches if truth.value is None), "")

    @property
    def assumed(self) -> frozenset[str]:
        """Inputs assumed unset that decided the enclosing branches."""
        return frozenset(name for truth in self.branches if truth.value is not None for name in truth.depends)

    @contextmanager
    def _within(self, truth: Truth) -> Iterator[None]:
        """Interpret a branch of a condition."""
        self.branches.append(truth)
        yield
        self.branches.pop()

    def aside(self) -> Self:
        """Return an interpreter for a subshell, whose variables are lost."""
        return replace(self, state=self.state.copy(), broken=False)

    def _either(self, why: str, place: Place, branch: Callable[[], Truth], alternative: Callable[[], Truth] = lambda: HOLDS) -> Truth:
        """Interpret two uncertain branches; different variables become unknown.

        Returns how the first branch ends.
        """
        before = self.state.copy()
        with self._within(Truth(None, why)):
            truth = branch()
            first, self.state = self.state, before
            alternative()
        second, self.state = self.state, first
        ends = (first.ended, second.ended)
        self.broken = self.broken or "break" in ends or "continue" in ends
        self.returned = self.returned or "return" in ends
        if first.ended and not second.ended:
            self.state = second
        elif not first.ended and not second.ended:
            first.merge(second, place, why)
        return truth

    def _list(self, node: Node) -> Truth:
        """Interpret `a && b` or `a || b`."""
        nodes = [child for child in node.named_children if child.type != "comment"]
        is_and = "||" not in [child.type for child in node.children]
        truth = self.statement(nodes[0])
        if self.state.ended or len(nodes) < 2 or truth.value == (not is_and):
            return truth
        if truth.value is None:
            following = self._either(truth.why, self.script.place(nodes[1]), lambda: self.statement(nodes[1]))
        else:
            with self._within(truth):
                following = self.statement(nodes[1])
        return truth.both(following) if is_and else truth.either(following)

    def _pipeline(self, node: Node) -> Truth:
        """Interpret `a | b`: each command in a subshell."""
        for child in node.named_children:
            self.aside().statement(child)
        return UNKNOWN

    def _negated(self, node: Node) -> Truth:
        """Interpret `! a`."""
        return self.statement(node.named_children[-1]).negated()

    def _if(self, node: Node) -> Truth:
        """Interpret `if` with all further conditions."""
        branches, inner = list[_Branch](), ("elif_clause", "else_clause")
        for clause in [node, *(child for child in node.children if child.type in inner)]:
            kinds = [child.type for child in clause.children]
            at = kinds.index("then") if "then" in kinds else 0
            body = [child for child in clause.children[at + 1 :] if child.type not in (*inner, "fi")]
            branches.append((clause.children[1:at], body))
        return self._branch(branches, self.script.place(node))

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
        with self._within(truth):
            if not truth.value:
                return self._branch(rest, place)
            self.went_past = False
            ended = self.statements(body)
            return self._branch(rest, place) if self.went_past else ended

    def _case(self, node: Node) -> Truth:
        """Interpret the first `case` arm with a matching pattern; all arms if unknown."""
        items = [child for child in node.children if child.type == "case_item"]
        try:
            item, truth = self._matching(node, items)
        except NotComputed as problem:
            for item in items:
                self._either(str(problem), self.script.place(node), lambda: self.statements(_arm(item)))  # noqa: B023
            return UNKNOWN
        with self._within(truth):
            return self.statements(_arm(item)) if item is not None else HOLDS

    def _matching(self, node: Node, items: Sequence[Node]) -> tuple[Node | None, Truth]:
        """Return the arm that matches, and on what that depends. Raises NotComputed."""
        value, expander = node.child_by_field_name("value"), self.expander
        place = self.script.range(value) if value is not None else (0, 0)
        subject = expander.text(self.script.parts(*place))
        if not subject.known or (self.state.doubting and subject.unset):
            shown = self.script.shown(place)
            raise NotComputed(f"it depends on `{shown}`, which is not known: {subject.why_unknown}")
        for item in items:
            for pattern in item.children_by_field_name("value"):
                if fits(subject.plain, expander.pattern(self.script.parts(*self.script.range(pattern)))):
                    if item.children[-1].type in (";&", ";;&"):
                        raise NotComputed("`;&` is not followed")
                    return item, Truth.of(True, subject)
        return None, HOLDS

    # -- loops

    def _loop(self, node: Node) -> Truth:
        """Interpret a loop; return how it ends."""
        before, outer = dict(self.state.variables), self.broken
        self.broken = False
        body, place = node.child_by_field_name("body"), self.script.place(node)
        statements = body.children[1:-1] if body is not None else []
        if node.type == "for_statement":
            self._for(node, statements, place)
        else:
            self._while(node, statements, place)
        broken, self.broken = self.broken, outer
        if not broken:
            return HOLDS
        after, why = self.state.variables, "it depends on how often a loop was gone through"
        for name in before.keys() | after.keys():
            if before.get(name) != after.get(name):
                after[name] = merged(before.get(name), after.get(name), name, place, why)
        return UNKNOWN

    def _for(self, node: Node, body: Sequence[Node], place: Place) -> None:
        """Interpret the body for each known word, and once for an unknown word."""
        name, kinds = self.script.written(node.named_children[0]), [child.type for child in node.children]
        words = self.state.elements("@", place)
        if "in" in kinds:
            at = kinds.index("in")
            stops = (";", "\n", "do_group", "compound_statement")
            end = next((child for child in node.children[at:] if child.type in stops), node)
            words = self.expander.fields(self.script.words(node.children[at].end_byte, end.start_byte))
        if len(words) > MAX_TURNS:
            words = [WordText.unknown(f"${name}", place, f"the loop has more than {MAX_TURNS} turns")]
        for word in words:
            if word.known:
                self.state.assign(name, word)
                self.statements(body)
            else:
                why = f"it depends on a loop over what is not known: {word.why_unknown}"
                self._once(body, place, why, lambda: self.state.assign(name, word))  # noqa: B023
            if self._left():
                break

    def _while(self, node: Node, body: Sequence[Node], place: Place) -> None:
        """Interpret `while`, `until` or `for ((`, turn by turn as long as the condition is known."""
        for _ in range(MAX_TURNS):
            before = dict(self.state.variables), self.state.arguments
            truth = self._loop_condition(node)
            if self.state.ended or not truth.value:
                break
            with self._within(truth):
                self.statements(body)
            if self._left() or before == (self.state.variables, self.state.arguments):
                return
            if self.broken:
                self._open_arrays(before[0], place, "it depends on how often a loop was gone through")
                return
        if truth.value is not False and not self.state.ended:
            self._once(body, place, truth.why or f"the loop has more than {MAX_TURNS} turns")

    def _loop_condition(self, node: Node) -> Truth:
        """Evaluate the condition of a loop."""
        if node.type == "c_style_for_statement":
            signs = [child for child in node.children if child.type in ("((", "))")]
            header = signs[0].end_byte, signs[-1].start_byte
            return evaluate_sum(header, self.expander, self.script.shown(header))
        truth = self.statements(node.children_by_field_name("condition"))
        return truth.negated() if node.children[0].type == "until" else truth

    def _once(self, body: Sequence[Node], place: Place, why: str, begin: Callable[[], None] = lambda: None) -> None:
        """Interpret a loop body with an unknown number of turns."""
        before = self.state.variables.copy()

        def turn() -> Truth:
            """Interpret a turn to any end."""
            begin()
            truth = self.statements(body)
            self._left()
            return truth

        self._either(why, place, turn)
        self._open_arrays(before, place, why)

    def _open_arrays(self, before: Mapping[str, VariableValue], place: Place, why: str) -> None:
        """Make the ends of changed arrays unknown: further turns may add elements."""
        variables = self.state.variables
        for name, array in variables.items():
            if isinstance(array, list) and before.get(name) != array:
                variables[name] = [*array, WordText.unknown(f"${name}", place, why)]

    def _left(self) -> bool:
        """Return True if the loop ends after this turn; `continue` begins the next turn."""
        ended = self.state.ended
        if ended in ("break", "continue"):
            self.state.ended = ""
        return ended not in ("", "continue")


def _arm(item: Node) -> list[Node]:
    """Return the statements of a `case` arm."""
    at = next((i for i, child in enumerate(item.children) if child.type == ")"), len(item.children))
    return [child for child in item.children[at + 1 :] if child.type not in (";;", ";&", ";;&")]
