"""Expansion of words: parameters, arithmetic, quote removal and field splitting.

Source: the Bash Reference Manual, 3.5. File names are not expanded: `*` stays as written. Of
braces, only `{1..3}` as a whole word is expanded. The rest is unknown.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from fnmatch import translate
from typing import TYPE_CHECKING, Sequence

from ..record import dataclass
from .arithmetic import NotComputed, calculated
from .pieces import Place, WordPiece, WordText, bounded, derived, joined
from .state import State
from .syntax import Inner, Literal, Parameter, Part, Script, Word

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_REFERENCES = 16
MAX_WORDS = 4_096
MAX_WORK = 2_000_000
_NUMBERS = re.compile(r"\{(0|[1-9][0-9]{0,8})\.\.(0|[1-9][0-9]{0,8})\}", re.ASCII)
_BRACES = re.compile(r"\{[^{}]*(?:,|\.\.)[^{}]*\}")
_EXTENDED = re.compile(r"[?*+@!]\(")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\s*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)", re.ASCII)
_STRETCH = re.compile(r"[ \t\n]+|[^ \t\n]+")


class Fields:
    """Fields of one word, split at blanks (3.5.7, Word Splitting)."""

    def __init__(self) -> None:
        self._finished, self._pieces, self._begun = list[WordText](), list[WordPiece](), False

    def add(self, text: WordText, vanishing: bool = False) -> None:
        """Add unsplit text; an empty `vanishing` text makes no field alone."""
        self._pieces += text.pieces
        self._begun = self._begun or not vanishing or bool(text.plain) or not text.known

    def split(self, text: WordText) -> None:
        """Add text, split at blanks."""
        for piece in text.pieces:
            if piece.unknown or not piece.text:
                argument = any(name[0] == "$" for name in piece.unset)
                self.add(WordText((piece,)), vanishing=not argument)
                continue
            for match in _STRETCH.finditer(piece.text):
                if match[0][0] in " \t\n":
                    self.next()
                else:
                    self.add(WordText((piece.cut(*match.span()),)))

    def next(self) -> None:
        """End the current field, if any."""
        if self._begun:
            self._finished.append(WordText(tuple(self._pieces)))
            self._pieces, self._begun = [], False

    def all(self) -> list[WordText]:
        """Return all fields."""
        self.next()
        return self._finished


@dataclass
class Expander:
    """Expander of words in a state; `sources` are the inputs of the last number."""

    script: Script
    state: State
    sources: list[WordText] = field(default_factory=list)

    def place(self, place: Place) -> Place:
        """Return a place of this script in the file."""
        return self.script.origin.place(*place)

    def fields(self, word: Word) -> list[WordText]:
        """Expand a word of a command into fields."""
        place, fields = self.place(word.place), Fields()
        self.state.budget.spend(1 + len(word.parts) // 2)
        try:
            plain = "".join(map(_unquoted, word.parts))
            if match := _NUMBERS.fullmatch(plain):
                return [WordText((WordPiece(str(number), (place,)),)) for number in _counted(match)]
            if _BRACES.search(plain):
                raise NotComputed("braces that make several words are not followed")
        except NotComputed as problem:
            return [WordText.unknown(self.script.shown(word.place), place, str(problem))]
        self._into(fields, word.parts)
        texts = fields.all()
        self.state.budget.spend(len(texts) // 50 + sum(map(_cost, texts)))
        return [bounded(text, place) for text in texts]

    def all_fields(self, words: Sequence[Word]) -> list[WordText]:
        """Expand several words of a command into fields."""
        return [text for word in words for text in self.fields(word)]

    def one(self, parts: Sequence[Part]) -> WordText:
        """Expand parts without splitting, as in an assignment."""
        place = self.place(parts[0].place) if parts else (0, 0)
        whole = joined([self._text(part) for part in parts], place=place)
        self.state.budget.spend(1 + _cost(whole))
        return whole

    def pattern(self, parts: Sequence[Part]) -> Pattern:
        """Build the pattern of parts; quoted text matches literally. Raises NotComputed."""
        letters, active = "", list[bool]()
        for part in parts:
            text = self._text(part)
            if not text.known:
                raise NotComputed(text.why_unknown)
            letters += text.plain
            active += [not part.quoted] * len(text.plain)
        return Pattern(letters, active)

    # -- parts of a word

    def _into(self, fields: Fields, parts: Sequence[Part], split: bool = False) -> None:
        """Add the parts of a word; `split`: unquoted literals are split too."""
        for part in parts:
            try:
                texts, splits = self._texts_of_part(part, split)
            except NotComputed as problem:
                texts, splits = [self._unknown(part, str(problem))], False
            for position, text in enumerate(texts):
                if position:
                    fields.next()
                fields.split(text) if splits else fields.add(text)

    def _texts_of_part(self, part: Part, split: bool) -> tuple[list[WordText], bool]:
        """Return the texts of a part, and whether to split them at blanks. Raises NotComputed."""
        place, splits = self.place(part.place), not part.quoted
        if isinstance(part, Literal):
            return [self._text(part)], split and splits
        if splits and "IFS" in self.state.variables:
            raise NotComputed("splitting at other signs than blanks is not followed")
        if isinstance(part, Parameter) and part.is_list:
            texts = self._elements(part)
            if part.quoted and "*" in (part.name, part.index):
                return [joined(texts, self._between, place)], False
            return texts, splits
        if splits and isinstance(part, Parameter) and part.takes_default:
            value, use_default = self._chosen(part)
            if not use_default:
                return [value], True
            inner = Fields()
            self._into(inner, part.arguments[0], split=True)
            names = self._assumed_unset(part)
            return [text.used_at(place).assuming(names, place) for text in inner.all()], False
        return [self._text(part)], splits

    def _text(self, part: Part) -> WordText:
        whole = self.script.origin.cut(*part.place)
        if any(piece.unknown for piece in whole.pieces):
            return whole
        if isinstance(part, Literal):
            if part.exact or not part.text:
                return whole if part.text else WordText()
            return WordText((WordPiece(part.text, (self.place(part.place),)),))
        try:
            return self._parameter(part) if isinstance(part, Parameter) else self._inner(part)
        except NotComputed as problem:
            return self._unknown(part, str(problem))

    def _unknown(self, part: Part, why: str, path: str = "") -> WordText:
        written = self.script.text[slice(*part.place)]
        return WordText.unknown(written, self.place(part.place), why, path)

    def _inner(self, part: Inner) -> WordText:
        """Expand a sum, a command or a home folder. Raises NotComputed."""
        place, shown = self.place(part.place), self.script.shown(part.place)
        if part.kind == "tilde":
            raise NotComputed("`~` is a folder of the machine where the script runs")
        if part.kind == "sum":
            try:
                return derived(str(self.number(part.inside, place)), self.sources, place)
            except NotComputed as problem:
                raise NotComputed(f"`{shown}` is not known: {problem}") from problem
        text, path = None, ""
        if part.kind == "command":
            written = self.script.text[slice(*part.inside)]
            inner = Script(written, self.script.origin.cut(*part.inside))
            text, path = Expander(inner, self.state)._command_text(inner, place)
        why = f"`{shown}` is a command, which is not run"
        return text if text is not None else self._unknown(part, why, path)

    # -- commands that only split paths

    def _command_text(self, inner: Script, place: Place) -> tuple[WordText | None, str]:
        """Return the output of path commands such as `$(dirname X)`: a text, or the path alone."""
        folder = self.state.folder
        for node in _commands(inner.root) or ():
            texts = self.all_fields(inner.command_words(node))
            name = texts[0].plain if texts and texts[0].known else ""
            words = [text for text in texts[1:] if not text.plain.startswith("-")]
            if name == "cd" and len(words) == 1:
                folder = self.state.absolute(words[0].path)
            elif name == "pwd":
                return None, folder
            elif name in ("realpath", "readlink") and words:
                return None, self.state.absolute(words[0].path.rstrip("/"))
            elif name in ("dirname", "basename") and words:
                return _split_path(name, words, place)
            else:
                break
        return None, ""

    # -- sums

    def number(self, inside: Place, place: Place) -> int:
        """Compute the sum between two offsets. Raises NotComputed."""
        return self.calculate(self.one(self.script.parts(*inside, True)), place)

    def calculate(self, text: WordText, place: Place) -> int:
        """Compute the sum written in a text. Raises NotComputed."""
        self.sources = [text]
        try:
            return self._compute(text, place, 0)
        except NotComputed:
            why = f"`{text.plain[:40]}` is not followed"
            self.state.unsure(set(_ASSIGNED.findall(text.plain)), place, why)
            raise

    def _compute(self, text: WordText, place: Place, depth: int) -> int:
        if not text.known or depth > MAX_REFERENCES:
            raise NotComputed(text.why_unknown or "variables refer to each other without end")

        def lookup(name: str) -> int:
            """Return the number of a variable; its text is computed as a sum again."""
            self.state.budget.spend()
            variable = self.state.scalar(name, place)
            self.sources.append(variable or WordText((WordPiece("", (place,), unset=frozenset({name})),)))
            return self._compute(variable, place, depth + 1) if variable is not None else 0

        def store(name: str, value: int) -> None:
            self.state.assign(name, derived(str(value), self.sources, place))

        self.state.budget.spend(1 + len(text.plain) // 50)
        return calculated(text.plain, lookup, store)

    # -- parameters

    def _parameter(self, part: Parameter) -> WordText:
        """Expand a parameter. Raises NotComputed."""
        place = self.place(part.place)
        if not part.name:
            shown = self.script.shown(part.place)
            raise NotComputed(f"`{shown}` is of a form that is not followed")
        if part.length and (part.index in ("@", "*") or part.name in "@*"):
            texts = self.state.elements(part.name, place)
            if any(not text.known for text in texts):
                raise NotComputed("how many elements there are is not known")
            return derived(str(len(texts)), texts, place)
        if part.length:
            raise NotComputed("the length of a text is not followed")
        if part.is_list:
            return joined(self._elements(part), self._between if "*" in (part.name, part.index) else " ", place)
        if part.takes_default:
            chosen, use_default = self._chosen(part)
            if not use_default:
                return chosen
            text = self.one(part.arguments[0]).used_at(place)
            return text.assuming(self._assumed_unset(part), place)
        value, names = self._value(part)
        if value is None:
            return WordText((WordPiece("", (place,), unset=names),))
        return self._apply_operator(value, part) if part.operator else value

    def _value(self, part: Parameter) -> tuple[WordText | None, frozenset[str]]:
        """Return the value of a parameter; None and the name if it is not set."""
        name, place, nothing = part.name, self.place(part.place), frozenset[str]()
        if isinstance(part.index, tuple) and name != "BASH_SOURCE":
            entry, index = self.state.variables.get(name), self.calculate(self.one(part.index), place)
            elements = entry if isinstance(entry, list) else [entry] if entry is not None else []
            if isinstance(entry, WordText) and not entry.known:
                index = 0
            index += len(elements) if index < 0 else 0
            exists = 0 <= index < len(elements)
            return (elements[index].used_at(place) if exists else None), nothing
        value = self.state.scalar(name, place)
        if value is not None or name in self.state.variables:
            return value, nothing
        return None, frozenset({f"${name}" if name.isdecimal() else name})

    def _chosen(self, part: Parameter) -> tuple[WordText, bool]:
        """Evaluate `${X:-default}` and similar: the value, and True if the default replaces it."""
        value, names = self._value(part)
        if value is not None and not value.known and ":" in part.operator:
            return value, False
        is_set = value is not None and (":" not in part.operator or bool(value.plain))
        kind, place = part.operator[-1], self.place(part.place)
        if kind == "+":
            return WordText(() if is_set else (WordPiece("", (place,), assumed=names),)), is_set
        if is_set and value is not None:
            return value, False
        if kind == "?":
            raise NotComputed(f"`{part.name}` must be set, or the script ends here")
        if kind == "=":
            text = self.one(part.arguments[0]).assuming(names, place)
            self.state.assign(part.name, text)
        return WordText(), True

    def _assumed_unset(self, part: Parameter) -> frozenset[str]:
        """Return the variables assumed unset when a default is used."""
        value, names = self._value(part)
        return names if value is None else value.unset | value.assumed

    def _apply_operator(self, value: WordText, part: Parameter) -> WordText:
        """Apply the operator of a parameter to a value. Raises NotComputed."""
        sign, arguments, place = part.operator, part.arguments, self.place(part.place)
        if not value.known:
            raise NotComputed(value.why_unknown)
        self.state.budget.spend(1 + len(value.plain) // 100)
        if sign[0] in "#%":
            left = self.pattern(arguments[0]).without(value.plain, sign)
            return value.cut(*left)
        if sign[0] == "/":
            target = self.one(arguments[0])
            signs = any(letter in target.plain for letter in "*?[\\") or target.plain.startswith(("#", "%"))
            if signs or not target.known or value.plain.count(target.plain) > MAX_WORDS:
                raise NotComputed("replacing what a pattern fits is not followed")
            new = self.one(arguments[1]) if len(arguments) > 1 else WordText()
            if not new.known:
                raise NotComputed(new.why_unknown)
            text = value.plain.replace(target.plain, new.plain, 1 if sign == "/" else -1)
            return bounded(derived(text, [value, new], place) if target.plain else value, place)
        if sign[0] not in "^," or arguments[0]:
            shown = self.script.shown(part.place)
            raise NotComputed(f"`{shown}` is of a form that is not followed")
        end = 1 if len(sign) == 1 else None
        first = value.plain[:end].upper() if sign[0] == "^" else value.plain[:end].lower()
        return derived(first + (value.plain[1:] if end else ""), [value], place)

    def _range(self, part: Parameter, size: int) -> tuple[int, int]:
        """Return the range of elements of `${@:offset:length}`. Raises NotComputed."""
        place = self.place(part.place)
        numbers = [self.calculate(self.one(argument), place) for argument in part.arguments]
        start = numbers[0] - (part.name in "@*")  # arguments count from 1
        if start < 0 or min(numbers) < 0:
            raise NotComputed("a part that counts from the end is not followed")
        return start, size if len(numbers) < 2 else start + numbers[1]

    def _elements(self, part: Parameter) -> list[WordText]:
        """Return the elements of a list after its operator. Raises NotComputed."""
        texts = self.state.elements(part.name, self.place(part.place))
        if part.operator == ":":
            return texts[slice(*self._range(part, len(texts)))]
        if part.operator:
            raise NotComputed("changing each element is not followed")
        return texts

    @property
    def _between(self) -> str:
        """Separator of the elements of `${X[*]}`: the first character of `IFS`."""
        separators = self.state.variables.get("IFS")
        return separators.plain[:1] if isinstance(separators, WordText) and separators.known else " "


def _commands(node: Node) -> list[Node] | None:
    """Return the simple commands of `a; b && c`; None for any other statement."""
    if node.type == "command":
        return [node]
    if node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        return _commands(body) if body is not None else None
    if node.type not in ("program", "list") or any(child.type == "||" for child in node.children):
        return None
    inner = [_commands(child) for child in node.named_children if child.type != "comment"]
    return [command for group in inner for command in group or ()] if all(inner) else None


def _split_path(name: str, words: Sequence[WordText], place: Place) -> tuple[WordText | None, str]:
    """Return the result of `dirname` or `basename`; the path alone if the text is unknown."""
    text = words[0]
    known = text.known and not text.unset and not text.secret
    path = (text.plain if known else text.path).rstrip("/")
    ending = words[1].plain if len(words) > 1 and words[1].known else ""
    if name == "dirname":
        result = os.path.dirname(path)
        result = result or ("/" if known and text.plain[:1] == "/" else "." if known else "")
    else:
        result = os.path.basename(path).removesuffix(ending)
    return (derived(result, words, place), "") if known else (None, result)


def _cost(text: WordText) -> int:
    return len(text.pieces) // 8 + len(text.plain) // 200


# -- patterns and braces


class Pattern:
    """Glob pattern; only the `active` (unquoted) letters are special."""

    def __init__(self, letters: str, active: Sequence[bool]) -> None:
        """Compile the pattern. Raises NotComputed."""
        if any(active[match.start()] for match in _EXTENDED.finditer(letters)):
            raise NotComputed("extended patterns are not followed")
        escaped = [letter if on or letter not in "*?[" else f"[{letter}]" for letter, on in zip(letters, active)]
        self._matcher = re.compile(translate("".join(escaped).replace("[^", "[!")))
        self._cost = 1 + letters.count("*")

    def matches(self, text: str, tries: int = 1) -> bool:
        """Return True if the pattern matches the whole text.

        `tries` is the number of matches planned, for the limit on work. Raises NotComputed.
        """
        if len(text) * self._cost * tries > MAX_WORK:
            raise NotComputed("matching its pattern takes too long")
        return self._matcher.match(text) is not None

    def without(self, text: str, sign: str) -> tuple[int, int]:
        """Return the range left by `${X#pattern}`, `##`, `%` or `%%`. Raises NotComputed."""
        size, prefix = len(text), sign[0] == "#"
        ends = range(size + 1) if prefix == (len(sign) == 1) else range(size, -1, -1)
        for end in ends:
            if self.matches(text[:end] if prefix else text[end:], size):
                return (end, size) if prefix else (0, end)
        return 0, size


def _unquoted(part: Part) -> str:
    """Return the letters of a part that may be special; a NUL for quoted parts."""
    return part.text if isinstance(part, Literal) and not part.quoted else "\0"


def _counted(match: re.Match[str]) -> range:
    """Return the numbers of `{1..3}`. Raises NotComputed if there are too many."""
    first, last = int(match[1]), int(match[2])
    if abs(last - first) >= MAX_WORDS:
        raise NotComputed(f"the braces make more than {MAX_WORDS:,} words")
    step = 1 if first <= last else -1
    return range(first, last + step, step)
