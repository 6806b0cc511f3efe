"""Control flow of a script: conditions, lists, `if`, `case`, loops, and merging of branches.

A loop over known words or with a known condition is interpreted turn by turn, any other loop once.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Callable, Iterator, Mapping, Sequence

from ..record import dataclass
from .expand import Expander, NotComputed, fits, names_assigned
from .launch import StartedCommand
from .pieces import Place, VariableValue, WordText, join, merge_values
from .state import INPUT, OUTPUT, LimitExceeded
from .syntax import Part

if TYPE_CHECKING:
    from tree_sitter import Node
    from typing_extensions import Self

MAX_TURNS = 100
"""Largest number of turns of a loop, or of branches of a condition."""
_LEAVING = ("break", "continue")
_NO_VALUES: Mapping[str, WordText] = {}
_OFTEN = "it depends on how often a loop was gone through"
_ENDING = ("command", "test_command", "subshell", "pipeline", "variable_assignment", "variable_assignments")
_Branch = tuple[Callable[[], "Truth"], Sequence["Node"]]
MAX_WORDS = 400
_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt,
    "-le": operator.le, "-gt": operator.gt, "-ge": operator.ge,
}  # fmt: skip
_COMPARING = (*_NUMBERS, "=", "==", "!=", "<", ">", "=~", "-nt", "-ot", "-ef")


@dataclass(frozen=True, slots=True)
class Truth:
    """Truth of a condition: true, false or unknown.

    Attributes
    ----------
    value : None if unknown; `why` is the reason, as a sentence or its end.
    depends : variables and arguments assumed unset.
    """

    value: bool | None
    why: str = ""
    depends: frozenset[str] = frozenset()

    @staticmethod
    def of(value: bool | None, *texts: WordText, why: str = "") -> Truth:
        """Build a truth that depends on texts."""
        return Truth(value, why, frozenset(name for text in texts for name in text.unset | text.assumed))

    def negate(self) -> Truth:
        """Return the negation."""
        return Truth(None if self.value is None else not self.value, self.why, self.depends)

    def both(self, following: Truth) -> Truth:
        """Return the conjunction."""
        values = (self.value, following.value)
        value = False if False in values else None if None in values else True
        return Truth(value, self.why or following.why, self.depends | following.depends)

    def either(self, following: Truth) -> Truth:
        """Return the disjunction."""
        return self.negate().both(following.negate()).negate()


HOLDS = Truth(True)
UNKNOWN = Truth(None, "it depends on how a command ends")


@dataclass(frozen=True, slots=True)
class Operand:
    """Word of a condition: how it is written, its text, and its parts in `[[ ... ]]`."""

    sign: str
    text: WordText
    parts: tuple[Part, ...] | None = None


@dataclass
class ControlFlow(Expander):
    """Interpreter of statements in a state.

    Attributes
    ----------
    unread : places of commands that may set variables from unread texts.
    branches : conditions of the enclosing branches.
    broken : True if it is unknown whether a loop was left.
    returned : True if it is unknown whether, or where, a function returned.
    went_past : True if an exit was skipped that happens only because an input is unset.
    exit_place : place of the last command that ended the script; None before any.
    tested : True within a condition, where `set -e` ends nothing.
    captured : how the last `$(...)` ends, if it is known to fail.
    """

    started: list[StartedCommand] = field(default_factory=list)
    unread: list[Place] = field(default_factory=list)
    branches: list[Truth] = field(default_factory=list)
    broken: bool = False
    returned: bool = False
    depth: int = 0
    went_past: bool = False
    exit_place: Place | None = None
    tested: bool = False
    captured: Truth = HOLDS

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
                self.fork().statement(node)
                truth = HOLDS
            elif node.is_named and node.type != "comment":
                truth = self.statement(node)
        return truth

    def test(self, nodes: Sequence[Node], is_tested: bool = True) -> Truth:
        """Interpret the statements of a condition; return how it ends."""
        outer, self.tested = self.tested, self.tested or is_tested
        truth = self.statements(nodes)
        self.tested = outer
        return truth

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
        self.branches.append(truth)
        yield
        self.branches.pop()

    def fork(self) -> Self:
        """Return an interpreter for a subshell, whose variables are lost."""
        return replace(self, state=self.state.copy(), broken=False)

    def print(self, text: WordText) -> None:
        """Add to what is read by the enclosing `$(...)`, pipe or file, if any."""
        before = self.state.text_of(OUTPUT)
        if before is not None and text.pieces:
            self.state.variables[OUTPUT] = join([before, text])

    def _run_either(self, why: str, place: Place, branch: Callable[[], Truth], alternative: Callable[[], Truth] = lambda: HOLDS) -> Truth:
        """Interpret two uncertain branches; different variables become unknown.

        Returns how the first branch ends.
        """
        before = self.state.copy()
        with self._within(Truth(None, why)):
            truth = branch()
            first, self.state = self.state, before
            alternative()
        states = (first, self.state)
        self.returned = self.returned or any(state.ended == "return" for state in states)
        self.broken = self.broken or any(state.ended.startswith(_LEAVING) for state in states)
        following = [state for state in states if state.ended not in ("exit", "return")] or [first]
        self.state = following[0]
        if len(following) > 1:
            if first.ended != following[1].ended:
                first.ended = ""  # a loop that may be left is followed on
            first.merge(following[1], place, why)
        return truth

    def _visit_list(self, node: Node) -> Truth:
        nodes = [child for child in node.named_children if child.type != "comment"]
        truth = self.test(nodes[:1], len(nodes) > 1)
        return self._continue(truth, "||" not in [child.type for child in node.children], nodes[1]) if len(nodes) > 1 else truth

    def _continue(self, truth: Truth, is_and: bool, node: Node) -> Truth:
        """Interpret what follows `&&` or `||`."""
        if self.state.ended:
            return truth
        if truth.value == (not is_and):
            self._assume(truth, [node], self.script.place(node))
            return truth
        if truth.value is None:
            following = self._run_either(truth.why, self.script.place(node), lambda: self.statement(node))
        else:
            with self._within(truth):
                following = self.statement(node)
        return truth.both(following) if is_and else truth.either(following)

    def _assume(self, truth: Truth, bodies: Sequence[Node], place: Place) -> None:
        """Mark variables of skipped statements as decided by unset inputs."""
        nodes = [*bodies] if truth.depends else []
        while nodes:
            node = nodes.pop()
            nodes += node.children
            name = self.script.read(node.children[0]).partition("[")[0] if node.type == "variable_assignment" else ""
            if isinstance(value := self.state.variables.get(name), WordText):
                self.state.variables[name] = value.assuming(truth.depends, place)

    def _visit_pipeline(self, node: Node) -> Truth:
        """Interpret `a | b`: each command in a subshell, which reads what the one before prints."""
        text = self.state.text_of(INPUT)
        truth = HOLDS
        for child in node.named_children:
            shell = self.fork()
            shell.state.put(INPUT, text)
            shell.state.put(OUTPUT, WordText())
            outcome = shell.statement(child)
            truth = truth.both(outcome) if "pipefail" in self.state.flags else outcome
            text = shell.state.text_of(OUTPUT)
        self.print(text or WordText())
        return truth

    def _visit_negated_command(self, node: Node) -> Truth:
        return self.test(node.named_children[-1:]).negate()

    def _visit_if_statement(self, node: Node) -> Truth:
        branches, inner = list[_Branch](), ("elif_clause", "else_clause")
        for clause in [node, *(child for child in node.children if child.type in inner)]:
            kinds = [child.type for child in clause.children]
            at = kinds.index("then") if "then" in kinds else 0
            body = [child for child in clause.children[at + 1 :] if child.type not in (*inner, "fi")]
            branches.append((partial(self.test, clause.children[1:at]), body))
        return self._branch(branches, self.script.place(node))

    def _branch(self, branches: Sequence[_Branch], place: Place) -> Truth:
        if not branches:
            return HOLDS
        if len(branches) > MAX_TURNS:
            raise LimitExceeded(f"a condition has more than {MAX_TURNS} branches")
        (condition, body), rest = branches[0], branches[1:]
        truth = condition()
        if self.state.ended:
            return truth
        if truth.value is None:
            self._run_either(truth.why, place, lambda: self.statements(body), lambda: self._branch(rest, place))
            return UNKNOWN
        with self._within(truth):
            if truth.value:
                self.went_past = False
                outcome = self.statements(body)
            if not truth.value or self.went_past:
                outcome = self._branch(rest, place)
        self._assume(truth, [node for _, nodes in branches for node in nodes], place)
        return outcome

    def _visit_case_statement(self, node: Node) -> Truth:
        branches, place = list[_Branch](), self.script.place(node)
        items = [child for child in node.children if child.type == "case_item"]
        for item in items:
            kinds = [child.type for child in item.children]
            start, end = kinds.index(")") + 1 if ")" in kinds else len(kinds), len(kinds) - kinds[-1].startswith(";")
            branches.append((partial(self._fits, node, item), item.children[start:end]))
        if not any(item.children[-1].type in (";&", ";;&") for item in items):
            return self._branch(branches, place)
        for _, arm in branches:
            self._run_either("`;&` is not followed", place, partial(self.statements, arm))
        return UNKNOWN

    def _fits(self, node: Node, item: Node) -> Truth:
        """Return whether a pattern of a `case` arm matches."""
        value = node.child_by_field_name("value")
        place = self.script.range(value) if value is not None else (0, 0)
        subject, why = self.text(self.script.parts(*place)), f"it depends on `{self.script.show(place)}`, which is not known"
        if not subject.known or (self.state.doubting and subject.unset):
            return Truth(None, f"{why}: {subject.why_unknown}")
        try:
            patterns = (self.script.range(pattern) for pattern in item.children_by_field_name("value"))
            matches = any(fits(subject.plain, self.pattern(self.script.parts(*pattern))) for pattern in patterns)
        except NotComputed as problem:
            return Truth(None, str(problem))
        return Truth.of(matches, subject)

    # -- conditions
    # Source: the Bash Reference Manual, 6.4 (Bash Conditional Expressions). Parentheses are out of scope.

    def sum_of(self, text: WordText, place: Place, excerpt: str) -> Truth:
        """Evaluate `(( sum ))`: true if the sum is not 0."""
        try:
            total = self.calculate(text, place)
        except NotComputed as problem:
            return Truth(None, f"`{excerpt}` is not known: {problem}")
        return _unless_unset(total.plain != "0", total)

    def _sum_at(self, body: Place, default: bool = False) -> Truth:
        """Evaluate the sum at a place, with a default for an empty one."""
        text = self.text(self.script.parts(*body, True))
        return self.sum_of(text, self.script.origin.place(*body), self.script.show(body)) if text.pieces else Truth(default)

    def evaluate(self, operands: Sequence[Operand], excerpt: str) -> Truth:
        """Evaluate `[[ operands ]]` or `[ operands ]`; files and commands are not looked at."""
        if not operands:
            return Truth(False)
        disjunction, conjunction = ("-o", "-a") if operands[0].parts is None else ("||", "&&")
        try:
            if len(operands) > MAX_WORDS:
                raise NotComputed("")
            tests = [[self._single(test) for test in _split(group, conjunction)] for group in _split(operands, disjunction)]
            truth = reduce(Truth.either, [reduce(Truth.both, group) for group in tests])
        except NotComputed as problem:
            why = f": {problem}" if str(problem) else ""
            return Truth(None, f"`{excerpt}` is not a condition that is followed{why}")
        if truth.value is not None:
            return truth
        return Truth(None, f"it depends on whether `{excerpt}` holds: {truth.why}", truth.depends)

    def _single(self, test: Sequence[Operand]) -> Truth:
        """Evaluate `! test`, `a = b`, `-n a` or `a`. Raises NotComputed."""
        if len(test) > 1 and test[0].sign == "!":
            return self._single(test[1:]).negate()
        if test and test[0].parts and test[0].sign[0] == "(":
            raise NotComputed("parentheses are not followed")
        match test:
            case [operand] | [Operand(sign="-n"), operand]:
                return _nonempty(operand.text)
            case [Operand(sign="-z"), operand]:
                return _nonempty(operand.text).negate()
            case [Operand(sign="-v"), operand] if operand.text.known and operand.text.plain.isidentifier():
                return self._has_value(operand.text.plain, operand.text.place(0, 1))
            case [Operand(sign=sign), operand] if len(sign) == 2 and sign[0] == "-":
                return Truth.of(None, operand.text, why=f"`{sign}` is not followed" if sign in ("-o", "-v") else "files are not looked at")
            case [left, Operand(sign=sign), right] if sign in _COMPARING:
                return self._compare(left.text, sign, right)
        raise NotComputed("")

    def _compare(self, left: WordText, sign: str, operand: Operand) -> Truth:
        right = operand.text
        if not left.known or not right.known:
            return Truth.of(None, left, right, why=left.why_unknown or right.why_unknown)
        if sign in _NUMBERS:
            numbers = [int(self.calculate(text, text.place(0, 1)).plain) for text in (left, right)]
            return _unless_unset(_NUMBERS[sign](*numbers), left, right)
        if sign == "=~" and not {*operand.sign} & {*"'\"\\"} and (matches := self.state.match(left, right)) is not None:
            return _unless_unset(matches, left, right)
        if sign not in ("=", "==", "!="):
            return Truth.of(None, left, right, why=f"`{sign}` is not followed")
        same = left.plain == right.plain if operand.parts is None else fits(left.plain, self.pattern(operand.parts))
        truth = _unless_unset if self.state.doubting else Truth.of
        return truth(same == (sign != "!="), left, right)

    def _has_value(self, name: str, place: Place) -> Truth:
        """Evaluate `-v name`."""
        value = self.state.scalar(name, place)
        if value is None:
            return Truth(False, depends=frozenset({name} - self.state.variables.keys()))
        return Truth.of(True if value.known else None, value, why=value.why_unknown)

    # -- loops

    def _visit_for_statement(self, node: Node) -> Truth:
        before, outer, place = self.state.copy(), self.broken, self.script.place(node)
        self.broken, body = False, node.child_by_field_name("body")
        interpret = self._for_each if node.type == "for_statement" else self._while
        truth = interpret(node, body.children[1:-1] if body is not None else [], place)
        broken, self.broken = self.broken, outer
        if broken and not self.state.ended:
            self._unsettle(before.variables, place, _OFTEN)
            self.state.merge(before, place, _OFTEN)
        return UNKNOWN if broken else truth if truth.value is False else HOLDS

    _visit_while_statement = _visit_c_style_for_statement = _visit_for_statement

    def _for_each(self, node: Node, body: Sequence[Node], place: Place) -> Truth:
        """Interpret the body for each known word, and once for an unknown word."""
        truth = HOLDS
        name, kinds = self.script.read(node.named_children[0]), [child.type for child in node.children]
        words = self.state.elements("@", place)
        if "in" in kinds:
            at = kinds.index("in")
            stops = (";", "\n", "do_group", "compound_statement")
            end = next((child for child in node.children[at:] if child.type in stops), node)
            words = self.fields(self.script.words(node.children[at].end_byte, end.start_byte))
        if kinds[0] == "select":
            words = [WordText.unknown(f"${name}", place, "`select` asks for it")]
        if len(words) > MAX_TURNS:
            words = [WordText.unknown(f"${name}", place, f"the loop has more than {MAX_TURNS} turns")]
        for word in words:
            if word.known:
                self.state.assign(name, word)
                truth = self.statements(body)
            else:
                why = f"it depends on a loop over what is not known: {word.why_unknown}"
                self._run_loop_once(body, place, why, {name: word})
            if self._has_left():
                break
        return truth

    def _while(self, node: Node, body: Sequence[Node], place: Place) -> Truth:
        """Interpret `while`, `until` or `for ((` turn by turn while the condition is known."""
        outcome, header = HOLDS, list[Place]()
        if node.type == "c_style_for_statement":
            signs = [self.script.range(child) for child in node.children if child.type in ("((", ";", "))")][:4]
            header = [(start, end) for (_, start), (end, _) in zip(signs, signs[1:])]
            self._sum_at(header[0])
        for _ in range(MAX_TURNS):
            before = dict(self.state.variables)
            truth = self.test(node.children_by_field_name("condition")) if not header else self._sum_at(header[1], True)
            truth = truth.negate() if node.children[0].type == "until" else truth
            if self.state.ended or not truth.value:
                break
            with self._within(truth):
                outcome = self.statements(body)
                has_left = self._has_left()
                if header and not has_left:
                    self._sum_at(header[2])
            if has_left or self.broken or before == self.state.variables:
                return outcome
        if truth.value is not False and not self.state.ended:
            why = truth.why or f"the loop has more than {MAX_TURNS} turns"
            names = names_assigned("".join(self.script.text[slice(*part)] for part in header))
            self._run_loop_once(body, place, why, {name: WordText.unknown(f"${name}", place, why) for name in names})
        return outcome

    def _run_loop_once(self, body: Sequence[Node], place: Place, why: str, values: Mapping[str, WordText] = _NO_VALUES) -> None:
        """Interpret a loop body with an unknown number of turns, with values set at first."""
        before = dict(self.state.variables)

        def turn() -> Truth:
            for name, value in values.items():
                self.state.assign(name, value)
            truth = self.statements(body)
            self._has_left()
            return truth

        self._run_either(why, place, turn)
        self._unsettle(before, place, why)

    def _unsettle(self, before: Mapping[str, VariableValue], place: Place, why: str) -> None:
        """Make what a loop changed unknown: further turns may set it again, or add elements."""
        variables = self.state.variables
        for name in before.keys() | variables.keys():
            if before.get(name) != variables.get(name):
                value = merge_values(before.get(name), variables.get(name), name, place, why)
                variables[name] = [*value, WordText.unknown(f"${name}", place, why, perhaps=True)] if isinstance(value, list) else value

    def _has_left(self) -> bool:
        """Return True if the loop ends after this turn; `continue` begins the next turn."""
        end_word = self.state.ended
        if end_word.startswith(_LEAVING):  # `continue 2` ends this loop and begins a turn of the next one
            self.state.ended = end_word.removesuffix("+") if end_word[-1] == "+" else ""
        return end_word not in ("", "continue")


def _split(operands: Sequence[Operand], separator: str) -> list[list[Operand]]:
    """Split at a joining sign; after a comparing sign it is an operand itself."""
    groups, previous = [list[Operand]()], ""
    for operand in operands:
        if operand.sign == separator and previous not in _COMPARING:
            groups.append([])
        else:
            groups[-1].append(operand)
        previous = operand.sign
    return groups


def _unless_unset(value: bool, *texts: WordText) -> Truth:
    """Return a truth computed from texts; unknown if the environment may provide them.

    An unset variable is not a number.
    """
    names = sorted(name for text in texts for name in text.unset if name[0] != "$")
    return Truth.of(None, *texts, why=f"`{names[0]}` is not set in the script") if names else Truth.of(value, *texts)


def _nonempty(text: WordText) -> Truth:
    if text.known or any(piece.text for piece in text.pieces if not piece.unknown):
        return Truth.of(bool(text.plain), text)
    return Truth.of(None, text, why=text.why_unknown)


def may_end(node: Node) -> bool:
    """Return True if `set -e` ends the script where the statement fails."""
    return node.type in _ENDING or node.children[0].type == "(("
