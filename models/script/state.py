"""State of a script at one point: variables, functions and arguments."""

from __future__ import annotations

import os
from dataclasses import field, replace
from typing import TYPE_CHECKING, Mapping, Sequence

from ..record import dataclass
from .pieces import Place, VariableValue, WordPiece, WordText, alike, merged

if TYPE_CHECKING:
    from tree_sitter import Node

    from .syntax import Script

MAX_STEPS = 20_000
_ALWAYS_SET = {
    "HOME", "USER", "LOGNAME", "PATH", "PWD", "OLDPWD", "SHELL", "TERM", "LANG", "HOSTNAME", "RANDOM",
    "SRANDOM", "SECONDS", "UID", "EUID", "PPID", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "OSTYPE",
    "MACHTYPE", "HOSTTYPE", "GROUPS", "DIRSTACK", "FUNCNAME", "SHLVL", "PIPESTATUS", "REPLY",
    "COLUMNS", "LINES",
}  # fmt: skip
"""Variables that bash or the login always sets: never assumed unset."""

_INITIAL = {"IFS": " \t\n", "OPTIND": "1"}


class LimitExceeded(Exception):
    """Interpretation exceeds a limit; the message is a sentence for users."""


@dataclass
class ExpansionBudget:
    """Number of remaining steps, for all branches together."""

    steps: int = MAX_STEPS

    def spend(self, amount: int = 1) -> None:
        """Take steps. Raises LimitExceeded if none are left."""
        self.steps -= amount
        if self.steps < 0:
            raise LimitExceeded(f"the script takes more than {MAX_STEPS:,} steps")


@dataclass(frozen=True, slots=True)
class Positional:
    """Arguments `$1` and so on of the script, or of the called function.

    Attributes
    ----------
    why_unknown : why all are unknown; "" if known.
    shifted : True after a shift of unknown arguments: none are assumed to remain.
    given : True if more arguments are not possible; False for a script that is read without any.
    """

    words: tuple[WordText, ...] = ()
    why_unknown: str = ""
    shifted: bool = False
    given: bool = False

    @staticmethod
    def of(words: Sequence[WordText]) -> Positional:
        """Build the arguments of a call."""
        return Positional(tuple(words), given=True)

    def shift(self, count: WordText) -> Positional | None:
        """Return the arguments after `shift`; None if there are fewer."""
        if not count.known or not count.plain.isdecimal():
            return replace(self, why_unknown=count.why_unknown or "`shift` is without a number")
        number = int(count.plain[:6])
        shifted = replace(self, words=self.words[number:], shifted=True)
        return shifted if self.why_unknown or number <= len(self.words) else None


@dataclass
class State:
    """Variables, functions, and arguments of the script or of the called function.

    Attributes
    ----------
    script : path of the script itself.
    environment : readable environment variables.
    variables : values by name; an empty list for an unset variable.
    exported : variables visible to programs.
    outer : values of the function's local variables before its call.
    folder : folder that the script went to; "" if unknown.
    elsewhere : why variables that the script does not set may be set; "" if they may not.
    doubting : True if a condition on an unset variable is unknown.
    files : texts that the script itself writes into files, by file name.
    readable : real folders with files that `source` may read.
    source : path of the file under interpretation.
    needs_all : True after `set -u`: the script ends at a variable that is not set.
    calls : number of functions and texts that enclose the statement.
    within : words of the command that starts the text under interpretation.
    ended : ``exit``, ``return``, ``break`` or ``continue`` if the next statement is not reached;
        else "".
    """

    script: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    variables: dict[str, VariableValue] = field(default_factory=dict)
    functions: dict[str, tuple[Script, Node]] = field(default_factory=dict)
    arguments: Positional = Positional()
    exported: set[str] = field(default_factory=set)
    outer: dict[str, VariableValue | None] = field(default_factory=dict)
    folder: str = ""
    elsewhere: str = ""
    doubting: bool = False
    files: dict[str, WordText] = field(default_factory=dict)
    readable: tuple[str, ...] = ()
    source: str = ""
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)
    needs_all: bool = False
    calls: int = 0
    within: tuple[WordText, ...] = ()
    ended: str = ""

    def copy(self) -> State:
        """Return a copy with the same budget."""
        self.budget.spend(1 + len(self.variables) // 16)
        names = ("variables", "functions", "exported", "outer", "files")
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    def scalar(self, name: str, place: Place) -> WordText | None:
        """Return the text of a variable or argument at a place, or None if unset."""
        if not name.isidentifier():
            return self._special(name, place)
        value = self.variables.get(name)
        if value is not None:
            text = value if isinstance(value, WordText) else value[0] if value else None
            return text.used_at(place) if text is not None else None
        if name in self.environment:
            return WordText((WordPiece(self.environment[name], (place,), secret=True),))
        if name == "BASH_SOURCE":
            return WordText.unknown(f"${name}", place, "it is known only where the script runs", self.source or self.script)
        if name in _ALWAYS_SET or name.startswith("BASH"):
            path = self.folder if name == "PWD" else ""
            return WordText.unknown(f"${name}", place, f"`{name}` is what it is where the script runs", path)
        if name in _INITIAL:
            return WordText.of(_INITIAL[name], place)
        return WordText.unknown(f"${name}", place, self.elsewhere) if self.elsewhere else None

    def _special(self, name: str, place: Place) -> WordText | None:
        """Return the text of `$0`, `$1`, `$#` and similar parameters."""
        is_argument, arguments = name.isdecimal() and name != "0", self.arguments
        if arguments.why_unknown and (is_argument or name == "#"):
            return WordText.unknown(f"${name}", place, arguments.why_unknown)
        if name == "#":
            return WordText.of(str(len(arguments.words)), place, assumed=frozenset[str]() if arguments.given else frozenset({"$#"}))
        if is_argument:
            index = int(name[:6]) - 1
            return arguments.words[index].used_at(place) if index < len(arguments.words) else None
        path = self.script if name == "0" else ""
        return WordText.unknown(f"${name}", place, f"`${name}` is known only where the script runs", path)

    def elements(self, name: str, place: Place) -> list[WordText]:
        """Return the elements of an array at a place, or all arguments."""
        arguments = self.arguments
        value = list(arguments.words) if name in "@*" else self.variables.get(name)
        if name in "@*" and arguments.why_unknown and not arguments.shifted:
            return [WordText.unknown(f"${name}", place, arguments.why_unknown)]
        if isinstance(value, list):
            return [text.used_at(place) for text in value]
        text = self.scalar(name, place)
        return [] if text is None else [text]

    def assign(self, name: str, value: VariableValue) -> None:
        """Assign a variable; a text assigned to an array replaces the first element."""
        old = self.variables.get(name)
        self.variables[name] = [value, *old[1:]] if isinstance(old, list) and old and isinstance(value, WordText) else value

    def absolute(self, path: str) -> str:
        """Resolve a path from the current folder of the script."""
        return os.path.normpath(os.path.join(self.folder, path)) if path else ""

    def leave(self) -> None:
        """End a function: restore the variables that were local."""
        for name, value in self.outer.items():
            self.variables.pop(name, None)
            if value is not None:
                self.variables[name] = value

    def unsure(self, names: set[str], place: Place, why: str) -> None:
        """Make variables unknown."""
        for name in names:
            self.variables[name] = WordText.unknown(f"${name}", place, why)

    def merge(self, branch: State, place: Place, why: str) -> None:
        """Merge the state of another branch: different values become unknown."""
        self.budget.spend(1 + len(self.variables) // 16)
        for name in self.variables.keys() | branch.variables.keys():
            current, incoming = self.variables.get(name), branch.variables.get(name)
            # unset in one branch, from the environment in the other
            if (current, incoming) in ((None, []), ([], None)):
                self.unsure({name}, place, why)
            elif not alike(current, incoming):
                self.variables[name] = merged(incoming, current, name, place, why)
        self.exported &= branch.exported
        self.outer = {**branch.outer, **self.outer}
        self.functions = {**branch.functions, **self.functions}
        self.elsewhere = self.elsewhere or branch.elsewhere
        self.folder = self.folder if self.folder == branch.folder else ""
        if self.arguments != branch.arguments:
            self.arguments = replace(self.arguments, why_unknown=self.arguments.why_unknown or branch.arguments.why_unknown or why)
