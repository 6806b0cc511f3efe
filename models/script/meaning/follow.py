"""A script followed from its first statement: what its variables become, and which commands it starts.

Nothing is executed. Where it is not known which way the script takes, both are followed, and what differs is not known after.
"""

from __future__ import annotations

from dataclasses import replace

from ..expanding.expansion import Expander
from ..holding.state import MAX_CALLS, TooMuch
from ..holding.value import Text
from ..syntax.commands import Case, Chain, Command, Compute, Condition, Count, For, Function, Group, If, List, Pipeline, Simple, While
from ..syntax.parts import Word
from .builtins import BUILTINS, SURE, Builtin
from .conditions import computed, extended, test
from .loops import Loops
from .started import Started
from .truth import Truth
from .ways import HOLDS, UNKNOWN

_LEAVING = ("exit", "return", "break", "continue")


class Follower(Loops):
    """Follows the statements of a script."""

    def statements(self, body: List) -> Truth:
        """Follows statements as far as they are reached; how the last one ends."""
        truth = HOLDS
        for chain in body:
            if self.state.ended:
                break
            truth = self.chain(chain)
        return truth

    def chain(self, chain: Chain) -> Truth:
        """Follows one statement; how it ends. What runs in the background changes nothing. Raises TooMuch."""
        self.state.budget.spend()
        if chain.background:
            self._aside()._all(chain)
            return HOLDS
        return self._all(chain)

    def _all(self, chain: Chain) -> Truth:
        truth = self._pipeline(chain.first)
        for operator, pipeline in chain.others:
            if self.state.ended:
                break
            if truth.value is None:
                truth = self._maybe(pipeline, truth, operator)
            elif truth.value == (operator == "&&"):
                with self.deciding(truth.depends):
                    following = self._pipeline(pipeline)
                truth = replace(following, depends=following.depends | truth.depends)
        return truth

    def _maybe(self, pipeline: Pipeline, truth: Truth, operator: str) -> Truth:
        before = self.state.copy()
        with self.doubting(truth.why):
            following = self._pipeline(pipeline)
        self.rejoin(before, pipeline.commands[0].place, truth.why)
        return truth.both(following) if operator == "&&" else truth.either(following)

    def _pipeline(self, pipeline: Pipeline) -> Truth:
        if len(pipeline.commands) == 1:
            truth = self._command(pipeline.commands[0])
        else:
            for command in pipeline.commands:
                self._aside()._command(command)
            truth = UNKNOWN
        return truth.negated() if pipeline.negated else truth

    def _aside(self) -> Follower:
        """Follows in a shell of its own, whose variables are lost."""
        return replace(self, state=self.state.copy(), broken=False)

    def _command(self, command: Command) -> Truth:
        self.state.budget.spend()
        if isinstance(command, Simple):
            return self._simple(command)
        if isinstance(command, If):
            return self.if_(command)
        if isinstance(command, (For, Count, While)):
            return self.loop(command)
        if isinstance(command, Case):
            return self.case(command)
        if isinstance(command, Group):
            return self._aside().statements(command.body) if command.subshell else self.statements(command.body)
        if isinstance(command, Function):
            self.state.functions[command.name] = command.body
            return HOLDS
        expander = Expander(self.text, self.state)
        if isinstance(command, Condition):
            return extended(command.words, expander, expander.shown(command.place), command.place)
        return self._computed(command, expander)

    def _computed(self, command: Compute, expander: Expander) -> Truth:
        return computed(command.expression, expander, expander.shown(command.place))

    def _simple(self, command: Simple) -> Truth:
        expander = Expander(self.text, self.state)
        builtin = Builtin(self.state, expander, self.untold)
        words: list[Text] = [text for word in command.words if isinstance(word, Word) for text in expander.fields(word)]
        if not words:
            for assignment in command.assignments:
                builtin.assign(assignment)
            return HOLDS
        name, shown = words[0].plain if words[0].known else "", expander.shown(command.place)
        if name in ("command", "builtin") and len(words) > 1 and not words[1].plain.startswith("-"):
            words = words[1:]
            name = words[0].plain if words[0].known else ""
        elif name in self.state.functions:
            return self._call(self.state.functions[name], words)
        if name in ("[", "test"):
            return test(words[1:-1] if name == "[" and words[-1].plain == "]" else words[1:], shown, command.place)
        if name in _LEAVING:
            return self._leave(name, command)
        if name in BUILTINS:
            return builtin.run(name, words, command)
        replaces = name == "exec" and len(words) > 1
        why = next((why for why in self.unsure if why), "")
        self.started.append(Started(tuple(words[replaces:]), command.place, command.cut, why))
        if replaces:
            self.state.ended = "exit"
        return HOLDS if name in SURE else Truth(None, f"it depends on how `{shown}` ends")

    def _call(self, body: Command, words: list[Text]) -> Truth:
        """A function of the script."""
        state = self.state
        if state.calls >= MAX_CALLS:
            raise TooMuch(f"functions call each other more than {MAX_CALLS} levels deep")
        arguments, open_, outer = state.arguments, state.open_arguments, state.outer
        state.arguments, state.open_arguments, state.outer = tuple(words[1:]), "", {}
        state.calls += 1
        truth = self._command(body)
        self.state.calls -= 1
        self.state.leave()
        self.state.arguments, self.state.open_arguments, self.state.outer = arguments, open_, outer
        if self.state.ended == "return":
            self.state.ended = ""
        return truth

    def _leave(self, name: str, command: Simple) -> Truth:
        """`exit` and its kin. An exit that comes only because something was not given is gone past: it will be given."""
        depends = frozenset(each for names in self.depends for each in names)
        if name != "exit" or not depends or self.unsure:
            self.state.ended = name
            return HOLDS
        for each in sorted(depends):
            if each.startswith("$"):
                self.state.open_arguments = "the script ends early without its arguments, so it will be given some"
            else:
                why = f"the script ends early where `{each}` is not set, so it will be set; `--allow-env {each}` reads it"
                self.state.variables[each] = Text.unknown(f"${each}", command.place, why)
        return HOLDS
