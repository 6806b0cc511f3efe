"""A script followed from its first statement: what its variables become, and which commands it starts.

Nothing is executed. Where it is not known which way the script takes, both are followed, and what differs is not known after.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..syntax.commands import Case, Chain, Command, Compute, Condition, Count, For, Function, Group, If, List, Pipeline, Simple, While
from ..syntax.parts import Place, Word
from .arithmetic import NotComputed
from .builtins import BUILTINS, SURE, Builtin, Untold
from .conditions import Truth, computed, extended, test
from .expansion import Expander, Unfit
from .patterns import TooMuch as PatternTooMuch
from .state import MAX_CALLS, State, TooMuch
from .value import Text

MAX_TURNS = 1_000
_HOLDS, _UNKNOWN = Truth(True), Truth(None, "it depends on how a command ends")


@dataclass(frozen=True, slots=True)
class Started:
    """A command that the script starts.

    Attributes
    ----------
    words : its words, expanded.
    place : where it stands.
    cut : the comment that ends it although the line before goes on.
    condition : why it is not known that it is reached; "" where it is.
    """

    words: tuple[Text, ...]
    place: Place
    cut: Place | None = None
    condition: str = ""


@dataclass
class Follower:
    """Follows statements in a state; `started` collects commands, `untold` what other files or texts may have changed."""

    text: str
    state: State
    started: list[Started] = field(default_factory=list)
    untold: list[Untold] = field(default_factory=list)
    _unsure: list[str] = field(default_factory=list)
    _depends: list[frozenset[str]] = field(default_factory=list)
    _broken: bool = False

    def chain(self, chain: Chain) -> Truth:
        """Follows one statement; how it ends."""
        self.state.budget.spend()
        if chain.background:
            inner = self._aside()
            inner._all(chain)
            return _HOLDS
        return self._all(chain)

    def statements(self, body: List) -> Truth:
        """Follows statements as far as they are reached."""
        truth = _HOLDS
        for chain in body:
            if self.state.ended:
                break
            truth = self.chain(chain)
        return truth

    def _all(self, chain: Chain) -> Truth:
        truth = self._pipeline(chain.first)
        for operator, pipeline in chain.others:
            if self.state.ended:
                break
            if truth.value is None:
                truth = self._maybe(pipeline, truth, operator)
            elif truth.value == (operator == "&&"):
                self._depends.append(truth.depends)
                following = self._pipeline(pipeline)
                self._depends.pop()
                truth = replace(following, depends=following.depends | truth.depends)
        return truth

    def _maybe(self, pipeline: Pipeline, truth: Truth, operator: str) -> Truth:
        before = self.state.copy()
        self._unsure.append(truth.why)
        following = self._pipeline(pipeline)
        self._unsure.pop()
        self._rejoin(before, pipeline.commands[0].place, truth.why)
        return truth.both(following) if operator == "&&" else truth.either(following)

    def _rejoin(self, other: State, place: Place, why: str) -> None:
        """After a way that may not have been taken: what differs from the `other` way is not known."""
        ended, self.state.ended = self.state.ended, ""
        other_ended, other.ended = other.ended, ""
        self._broken = self._broken or "break" in (ended, other_ended) or "continue" in (ended, other_ended)
        if ended and other_ended:
            self.state.ended = ended
        elif ended:
            self.state.become(other)
        elif not other_ended:
            self.state.merge(other, place, why)

    def _pipeline(self, pipeline: Pipeline) -> Truth:
        if len(pipeline.commands) == 1:
            truth = self._command(pipeline.commands[0])
        else:
            for command in pipeline.commands:
                self._aside()._command(command)
            truth = _UNKNOWN
        return truth.negated() if pipeline.negated else truth

    def _aside(self) -> Follower:
        """Follows in a shell of its own, whose variables are lost."""
        return replace(self, state=self.state.copy(), _broken=False)

    def _command(self, command: Command) -> Truth:
        self.state.budget.spend()
        expander = Expander(self.text, self.state)
        if isinstance(command, Simple):
            return self._simple(command, expander)
        if isinstance(command, Condition):
            return extended(command.words, expander, self._shown(command.place), command.place)
        if isinstance(command, Compute):
            return computed(command.expression, expander, self._shown(command.place))
        if isinstance(command, If):
            return self._if(command, 0)
        if isinstance(command, (For, Count, While)):
            return self._loop(command)
        if isinstance(command, Case):
            return self._case(command, expander)
        if isinstance(command, Function):
            self.state.functions[command.name] = command.body
            return _HOLDS
        return self._group(command)

    def _group(self, command: Group) -> Truth:
        return self._aside().statements(command.body) if command.subshell else self.statements(command.body)

    # -- ways

    def _if(self, command: If, position: int) -> Truth:
        if position == len(command.branches):
            return self.statements(command.otherwise) if command.otherwise is not None else _HOLDS
        condition, body = command.branches[position]
        truth = self.statements(condition)
        if self.state.ended:
            return truth
        if truth.value is not None:
            self._depends.append(truth.depends)
            found = self.statements(body) if truth.value else self._if(command, position + 1)
            self._depends.pop()
            return found
        before = self.state.copy()
        self._unsure.append(truth.why)
        self.statements(body)
        self.state, taken = before, self.state
        self._if(command, position + 1)
        self._unsure.pop()
        self.state, other = taken, self.state
        self._rejoin(other, command.place, truth.why)
        return _UNKNOWN

    def _case(self, command: Case, expander: Expander) -> Truth:
        subject = expander.one(command.word.parts)
        fits = True
        if not subject.known:
            return self._any(command, f"it depends on `{self._shown(command.word.place)}`, which is not known: {subject.why_unknown}")
        falling = False
        for patterns, body, end in command.arms:
            if not falling:
                try:
                    fits = any(expander.pattern(pattern.parts).matches(subject.plain) for pattern in patterns)
                except Unfit as problem:
                    return self._any(command, str(problem))
                except PatternTooMuch:
                    return self._any(command, "matching its pattern takes too long")
            if fits or falling:
                self._depends.append(subject.unset | subject.assumed)
                truth = self.statements(body)
                self._depends.pop()
                if end == ";;" or not end or self.state.ended:
                    return truth
                falling = end == ";&"
        return _HOLDS

    def _any(self, command: Case, why: str) -> Truth:
        """Any of the arms, or none."""
        self._unsure.append(why)
        for _, body, _ in command.arms:
            before = self.state.copy()
            self.statements(body)
            self._rejoin(before, command.place, why)
        self._unsure.pop()
        return _UNKNOWN

    def _loop(self, command: For | Count | While) -> Truth:
        before, broken = dict(self.state.variables), self._broken
        self._broken = False
        if isinstance(command, For):
            self._for(command)
        else:
            self._while(command)
        if self._broken:  # which turns were made is not known
            held = self.state.variables
            changed = {name for name in before.keys() | held.keys() if before.get(name) != held.get(name)}
            self.state.unsure(changed, command.place, "it depends on how often a loop was gone through")
        self._broken = broken
        return _HOLDS if not self._broken else _UNKNOWN

    def _for(self, command: For) -> None:
        expander = Expander(self.text, self.state)
        words = (
            self.state.elements("@", command.place)
            if command.words is None
            else [t for word in command.words for t in expander.fields(word)]
        )
        for word in words:
            if not word.known:
                self._once(
                    command.body, command.place, f"it depends on a loop over what is not known: {word.why_unknown}", (command.name, word)
                )
            else:
                self.state.assign(command.name, word)
                self.statements(command.body)
            if self._left():
                break

    def _while(self, command: Count | While) -> None:
        expander = Expander(self.text, self.state)
        try:
            if isinstance(command, Count):
                expander.number(command.start.parts, command.place)
            for _ in range(MAX_TURNS):
                truth = self._goes_on(command, Expander(self.text, self.state))
                if truth.value is None:
                    self._once(command.body, command.place, truth.why)
                    return
                if not truth.value or self.state.ended:
                    return
                self.statements(command.body)
                if self._left():
                    return
                if isinstance(command, Count):
                    Expander(self.text, self.state).number(command.step.parts, command.place)
        except NotComputed as problem:
            self._once(command.body, command.place, f"it depends on a loop whose turns are not known: {problem}")
            return
        raise TooMuch(f"a loop takes more than {MAX_TURNS:,} turns")

    def _goes_on(self, command: Count | While, expander: Expander) -> Truth:
        if isinstance(command, Count):
            if not command.condition.parts:
                return _HOLDS
            return computed(command.condition, expander, self._shown(command.condition.place))
        truth = self.statements(command.condition)
        return truth.negated() if command.until else truth

    def _once(self, body: List, place: Place, why: str, given: tuple[str, Text] | None = None) -> None:
        """The body of a loop of which nobody knows how often it is gone through."""
        before = self.state.copy()
        if given:
            self.state.assign(*given)
        self._unsure.append(why)
        self.statements(body)
        self.state.ended = "" if self.state.ended in ("break", "continue") else self.state.ended
        again = {name for name, held in self.state.variables.items() if before.variables.get(name) != held}
        self._unsure.pop()
        self._rejoin(before, place, why)
        self.state.unsure(again, place, why)

    def _left(self) -> bool:
        """Is the loop left after this turn? A `continue` begins the next one."""
        ended = self.state.ended
        if ended in ("break", "continue"):
            self.state.ended = ""
        return ended not in ("", "continue")

    # -- simple commands

    def _simple(self, command: Simple, expander: Expander) -> Truth:
        words: list[Text] = []
        builtin = Builtin(self.state, expander, self.untold)
        name = ""
        for word in command.words:
            if isinstance(word, Word):
                words += expander.fields(word)
            name = name or (words[0].plain if words and words[0].known else "")
        if not words:
            for assignment in command.assignments:
                builtin.assign(assignment)
            return _HOLDS
        if name in self.state.functions:
            return self._call(self.state.functions[name], words)
        if name == "[" or name == "test":
            inner = words[1:-1] if name == "[" and words[-1].plain == "]" else words[1:]
            return test(inner, self._shown(command.place), command.place)
        if name in ("exit", "return", "break", "continue"):
            return self._end(name, command)
        if name in BUILTINS:
            return builtin.run(name, words, command)
        if (name == "exec" and len(words) > 1) or (
            name in ("command", "builtin") and len(words) > 1 and not words[1].plain.startswith("-")
        ):
            words = words[1:]
        why = next((why for why in self._unsure if why), "")
        self.started.append(Started(tuple(words), command.place, command.cut, why))
        if name == "exec" and words:
            self.state.ended = "exit" if not self._unsure else ""
        return _HOLDS if name in SURE else Truth(None, f"it depends on how `{self._shown(command.place)}` ends")

    def _call(self, body: Command, words: list[Text]) -> Truth:
        if self.state.calls >= MAX_CALLS:
            raise TooMuch(f"functions call each other more than {MAX_CALLS} levels deep")
        arguments, open_, outer = self.state.arguments, self.state.open_arguments, self.state.outer
        self.state.arguments, self.state.open_arguments, self.state.outer = tuple(words[1:]), "", {}
        self.state.calls += 1
        truth = self._command(body)
        self.state.calls -= 1
        self.state.leave()
        self.state.arguments, self.state.open_arguments, self.state.outer = arguments, open_, outer
        if self.state.ended == "return":
            self.state.ended = ""
        return truth

    def _end(self, name: str, command: Simple) -> Truth:
        """`exit` and its kin. An exit that only comes because something was not given is gone past: it will be given."""
        depends = frozenset(each for names in self._depends for each in names)
        if name == "exit" and depends and not self._unsure:
            for each in sorted(depends):
                if each.startswith("$"):
                    self.state.open_arguments = "the script ends early without its arguments, so it will be given some"
                else:
                    why = f"the script ends early where `{each}` is not set, so it will be set"
                    self.state.variables[each] = Text.unknown(f"${each}", command.place, why)
        else:
            self.state.ended = name
        return _HOLDS

    def _shown(self, place: Place) -> str:
        return " ".join(self.text[place[0] : place[1]].split())[:60]
