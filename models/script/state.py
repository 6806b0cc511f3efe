"""State of a script at one point: variables, functions and arguments."""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

from ..record import dataclass
from . import facts
from .pieces import Place, VariableValue, WordPiece, WordText, derive, have_same_value, join, merge_values

if TYPE_CHECKING:
    from tree_sitter import Node

    from .syntax import Script

MAX_STEPS = 20_000
_SHELL = facts("shell")
_ALWAYS_SET = frozenset(_SHELL["always_set"])
"""Variables that bash or the login always sets: never assumed unset."""
_PRESET: Mapping[str, str] = _SHELL["preset"]
"""Variables with the values that bash gives them."""
_LETTERS = {"errexit": "e", "nounset": "u", "allexport": "a"}
INPUT, OUTPUT = "<", ">"
"""Names of the input of a command, and of the output that `$(...)` takes up."""
MAX_NUMBERS = 4_096
_NUMBER = re.compile(r"-?[1-9][0-9]{0,8}|0", re.ASCII)
_PATH = "it is a path of the machine where the script runs"


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


_EXPRESSION = re.compile(r"(?!.*(?:[*+?}][*+?]|\)[*+{]|\[[:=.]))[\w^$*+?|() \[\]./:,=@{}-]{1,80}", re.ASCII)
"""Expressions that mean the same in Python, without repeated groups: these may take too long."""
_SUBJECT, _MOST_REPEATED, _MATCHES = re.compile(r"[^\n]{0,400}"), 3, "BASH_REMATCH"


@dataclass
class State:
    """Variables and functions of a script, with the arguments as the array `@`.

    Attributes
    ----------
    script, source : path of the script itself, and of the file under interpretation.
    variables : values by name; an empty list for an unset variable. `@` has the arguments of the
        script or of the called function, `<` the input, `>` the output, `/FILE` the text that the
        script itself writes into a file.
    given : True if more arguments are not possible; False for a script that is read without any.
    outer : values of the function's local variables before its call.
    folder : folder that the script went to; "" if unknown.
    elsewhere : why variables that the script does not set may be set; "" if they may not.
    unread_files : places of sourced files that may set any variable again.
    doubting : True if a condition on an unset variable is unknown.
    flags : options that are set: `e` after `set -e`, or a name without a letter, such as `pipefail`.
    calls : number of functions and texts that enclose the statement.
    within : words of the command that starts the text under interpretation.
    ended : ``exit``, ``return``, ``break`` or ``continue`` if the next statement is not reached.
    """

    script: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    variables: dict[str, VariableValue] = field(default_factory=dict)
    functions: dict[str, tuple[Script, Node]] = field(default_factory=dict)
    given: bool = False
    exported: set[str] = field(default_factory=set)
    outer: dict[str, VariableValue | None] = field(default_factory=dict)
    folder: str = ""
    elsewhere: str = ""
    unread_files: tuple[Place, ...] = ()
    doubting: bool = False
    readable: tuple[str, ...] = ()
    vendors: frozenset[str] = frozenset()
    source: str = ""
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)
    flags: frozenset[str] = frozenset()
    calls: int = 0
    within: tuple[WordText, ...] = ()
    ended: str = ""

    def copy(self) -> State:
        """Return a copy with the same budget."""
        self.budget.spend(1 + len(self.variables) // 16)
        names = ("variables", "functions", "exported", "outer")
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    def scalar(self, name: str, place: Place) -> WordText | None:
        """Return the text of a variable or argument at a place, or None if unset."""
        if not name.isidentifier():
            return self._special(name, place)
        value = self.variables.get(name)
        if value is not None:
            text = value if isinstance(value, WordText) else value[0] if value else None
            return text.use_at(place) if text is not None else None
        if name in self.environment:
            return WordText((WordPiece(self.environment[name], (place,), secret=True),))
        if name in _PRESET:
            return WordText.of(_PRESET[name], place)
        if name == "BASH_SOURCE":
            return WordText.unknown(f"${name}", place, "it is known only where the script runs", self.source or self.script)
        if name in _ALWAYS_SET or name.startswith("BASH"):
            path = self.folder if name == "PWD" else ""
            return WordText.unknown(f"${name}", place, f"`{name}` is what it is where the script runs", path)
        return WordText.unknown(f"${name}", place, self.elsewhere) if self.elsewhere else None

    def match(self, subject: WordText, pattern: WordText) -> bool | None:
        """Evaluate `subject =~ pattern`, which sets `BASH_REMATCH`; None if it is not followed."""
        place = subject.place(0, 1)
        self.variables[_MATCHES] = WordText.unknown(f"${_MATCHES}", place, "`=~` is not followed")
        is_simple = _EXPRESSION.fullmatch(pattern.plain) and len(re.findall(r"[*+{]", pattern.plain)) <= _MOST_REPEATED
        if not (is_simple and _SUBJECT.fullmatch(subject.plain)):
            return None
        try:
            match = re.search(pattern.plain, subject.plain)
        except re.error:
            return None
        if match is None or "|" not in pattern.plain:  # of alternatives, bash takes the longest
            texts = (match[0], *match.groups("")) if match else ()
            self.variables[_MATCHES] = [derive(text, [subject, pattern], place) for text in texts]
        return match is not None

    @property
    def arguments(self) -> list[WordText]:
        """Arguments of the script or function; a `perhaps` one stands for any number."""
        value = self.variables.get("@")
        return value if isinstance(value, list) else []

    def call(self, arguments: Sequence[WordText]) -> None:
        """Set the arguments."""
        self.variables["@"], self.given = list(arguments), True

    def set_flags(self, words: Iterable[str]) -> None:
        """Set or reset options, as `set` does with the words before its operands."""
        rest = iter(words)
        for word in rest:
            if not re.fullmatch("[-+][A-Za-z]+", word):
                break
            letters = {_LETTERS.get(name := next(rest, ""), name) if letter == "o" else letter for letter in word[1:]}
            self.flags = self.flags - letters if word[0] == "+" else self.flags | letters

    def shift(self, count: int) -> bool:
        """Drop arguments; return False if there are fewer."""
        if count > len(self.arguments) and not any(text.perhaps for text in self.arguments):
            return False
        self.variables["@"] = self.arguments[count:]
        return True

    def _special(self, name: str, place: Place) -> WordText | None:
        arguments = self.arguments
        why = next((text.why_unknown for text in arguments[: int(name[:6]) if name.isdecimal() else None] if text.perhaps), "")
        if why and name != "0" and (name.isdecimal() or name == "#"):
            return WordText.unknown(f"${name}", place, why)
        if name == "#":
            return WordText.of(str(len(arguments)), place, assumed=frozenset[str]() if self.given else frozenset({"$#"}))
        if name.isdecimal() and name != "0":
            index = int(name[:6]) - 1
            return arguments[index].use_at(place) if index < len(arguments) else None
        path = self.script if name == "0" else ""
        return WordText.unknown(f"${name}", place, f"`${name}` is known only where the script runs", path)

    def elements(self, name: str, place: Place) -> list[WordText]:
        """Return the elements of an array at a place, or all arguments."""
        value = self.arguments if name in "@*" else self.variables.get(name)
        if isinstance(value, list):
            return [text.use_at(place) for text in value]
        text = self.scalar(name, place)
        return [] if text is None else [text]

    def assign(self, name: str, value: VariableValue) -> None:
        """Assign a variable; a text assigned to an array replaces the first element."""
        self.exported |= {name} if "a" in self.flags else set()
        old = self.variables.get(name)
        self.variables[name] = [value, *old[1:]] if isinstance(old, list) and old and isinstance(value, WordText) else value

    def absolute(self, path: str) -> str:
        """Resolve a path from the current folder of the script."""
        return os.path.normpath(os.path.join(self.folder, path)) if path else ""

    def text_of(self, name: str) -> WordText | None:
        """Return the text of `INPUT`, `OUTPUT` or a written file; None if there is none."""
        value = self.variables.get(name)
        return value if isinstance(value, WordText) else None

    def put(self, name: str, value: VariableValue | None) -> None:
        """Give a variable a value, or none."""
        self.variables.pop(name, None)
        if value is not None:
            self.variables[name] = value

    def file(self, file: WordText) -> str:
        """Return the name of a file among the variables; "" if unknown."""
        return f"/{os.path.normpath(file.plain)}" if file.known and file.plain else ""

    def find_written(self, file: WordText) -> WordText | None:
        """Return the text that the script itself writes into a file, or None."""
        return self.text_of(self.file(file)) if file.known and file.plain else None

    @property
    def written_texts(self) -> dict[str, str]:
        """Path -> text of the files that the script writes, without unknown parts."""
        files = ((name, text) for name, text in self.variables.items() if name[0] == "/" and isinstance(text, WordText))
        return {name: text.plain for name, text in files if text.known and text.certain and not text.assumed}

    def print_output(self, name: str, words: Sequence[WordText], place: Place) -> WordText | None:
        """Return what a command prints; None if only running it tells. Source: the manual of GNU coreutils."""
        stdin, end = self.text_of(INPUT), WordText.of("\n", place)
        plain, operands = [word.plain for word in words], [word for word in words if word.plain[:1] != "-"]
        if name == "echo":
            is_open = plain[:1] == ["-n"]
            text = join(words[is_open:], " ", place)
            return None if text.plain.startswith("-") else text if is_open else join([text, end])
        if name == "cat":
            texts = [text for text in (map(self.find_written, words) if words else [stdin]) if text is not None]
            return join(texts) if len(texts) == max(len(words), 1) else None
        if name in ("pwd", "realpath", "readlink"):
            path = self.folder if name == "pwd" else self.absolute(operands[0].path.rstrip("/")) if operands else ""
            return WordText.unknown(name, place, _PATH, path)
        if name in ("dirname", "basename") and operands:
            part = _part_of_path(name, operands)
            return join([derive(part, operands, place), end]) if operands[0].certain else WordText.unknown(name, place, _PATH, part)
        if not all(word.known for word in words):
            return None
        if name == "seq":
            numbers = _count_up(plain)
            return None if numbers is None else join([derive(numbers, words, place), end] if numbers else [])
        if stdin is None or not stdin.known:
            return None
        if name == "tr" and len(words) == 2:
            old, new = (plain[1], "") if plain[0] == "-d" else (plain[0], plain[1].replace("\\n", "\n"))
            return derive(stdin.plain.replace(old, new), [stdin], place) if len(old) == 1 and len(new) < 2 else None
        return None

    def become_child(self, inherits: bool, why: str) -> None:
        """Keep what a program is given: exported variables if it `inherits` them, and files."""
        names = self.exported if inherits else set[str]()
        self.variables = {name: value for name, value in self.variables.items() if name in names or not name.isidentifier()}
        self.functions = {name: body for name, body in self.functions.items() if name in names}
        self.outer, self.flags, self.elsewhere = {}, frozenset(), self.elsewhere if inherits else why

    def save(self, *names: str) -> dict[str, VariableValue | None]:
        """Return the values of variables, for `restore`."""
        return {name: self.variables.get(name) for name in names}

    def restore(self, values: Mapping[str, VariableValue | None]) -> None:
        """Give variables the values that they had."""
        for name, value in values.items():
            self.put(name, value)

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
            elif not have_same_value(current, incoming):
                self.variables[name] = merge_values(incoming, current, name, place, why)
        self.exported &= branch.exported
        self.outer = {**branch.outer, **self.outer}
        self.functions = {**branch.functions, **self.functions}
        self.elsewhere = self.elsewhere or branch.elsewhere
        self.unread_files = tuple(dict.fromkeys((*self.unread_files, *branch.unread_files)))
        self.folder = self.folder if self.folder == branch.folder else ""
        self.given = self.given and branch.given
        self.flags &= branch.flags


def _part_of_path(name: str, operands: Sequence[WordText]) -> str:
    """Return the result of `dirname` or `basename`; of an unknown text, that of its path."""
    text, *endings = operands
    path = (text.plain if text.certain else text.path).rstrip("/")
    if name == "dirname":
        return os.path.dirname(path) or (("/" if text.plain[:1] == "/" else ".") if text.certain else "")
    return os.path.basename(path).removesuffix(endings[0].plain if endings and endings[0].known else "")


def _count_up(plain: list[str]) -> str | None:
    """Return the numbers of `seq`; None unless its arguments are plain numbers."""
    between = "\n"
    if plain and plain[0].startswith("-s"):
        option, *plain = plain
        between, plain = (option[2:], plain) if option[2:] else (plain[0] if plain else "", plain[1:])
    if not 1 <= len(plain) <= 3 or not all(map(_NUMBER.fullmatch, plain)) or (len(plain) == 3 and plain[1] == "0"):
        return None
    first, last, step = int((plain[:-1] or ["1"])[0]), int(plain[-1]), int(plain[1]) if len(plain) == 3 else 1
    numbers = range(first, last + (1 if step > 0 else -1), step)
    return between.join(map(str, numbers)) if len(numbers) <= MAX_NUMBERS else None
