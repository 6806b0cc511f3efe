"""The arguments of a program: options, and `key=value` settings with their places in the script.

Source of the options: Hydra, hydra/_internal/utils.py (get_args_parser).
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import Sequence

from ..composition.setting_text import Kind, Setting, read_setting
from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import Entry, Mapping, Scalar, Value
from ..text.tree import Sequence as Listed
from ..text.unresolved import UNRESOLVED
from .pieces import Lines, Piece, Place, Text
from .quoting import fitted, quoted

_WITH_VALUE = {
    "--config-path": "config-path", "-cp": "config-path", "--config-name": "config-name", "-cn": "config-name", "--config-dir": "config-dir",
    "-cd": "config-dir", "--config_path": "config-path", "--config_name": "config-name", "--cfg": "cfg", "-c": "cfg", "--package": "package", "-p": "package", "--experimental-rerun": "experimental-rerun",
}  # fmt: skip
_KEY = re.compile(r"[+~]{0,2}[A-Za-z0-9_.$@/-]*(?==)", re.ASCII)
_QUOTES = "bash takes quotes away: put the value in quotes within quotes, as in `\"key='a b'\"`"
MAX_LENGTH = 8_192
_PLACEHOLDER = re.compile(r"<[^<>]*>")


@dataclass
class Arguments:
    """What the words after a program say.

    Attributes
    ----------
    settings : in the order of the command line.
    options : its options, by their names without dashes; "" where the value is not known.
    positional : words that are neither, which only programs without Hydra take.
    reasons : why a value that is not known is not, by its place.
    assumed : which variables were taken as not set for a value, by its place.
    shell : True if they stand in a script.
    hydra : True if Hydra is known to read them; nothing is refused otherwise.
    """

    source: Source
    lines: Lines
    environment: Environment
    settings: list[Setting] = field(default_factory=list)
    options: dict[str, Text] = field(default_factory=dict)
    positional: list[Text] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    reasons: dict[Span, str] = field(default_factory=dict)
    assumed: dict[Span, frozenset[str]] = field(default_factory=dict)
    shell: bool = True
    hydra: bool = True

    def read(self, words: Sequence[Text]) -> None:
        """Reads all words."""
        position = 0
        while position < len(words):
            word, plain = words[position], words[position].plain
            position += 1
            if plain.startswith("-") and len(plain) > 1:
                name, equals, _ = plain.partition("=")
                if equals:
                    self.options[_WITH_VALUE.get(name, name.lstrip("-"))] = word.cut(len(name) + 1)
                elif name in _WITH_VALUE and position < len(words):
                    self.options[_WITH_VALUE[name]] = words[position]
                    position += 1
                else:
                    self.options[name.lstrip("-")] = Text()
            elif _KEY.match(plain) or plain.startswith("~"):
                self._setting(word)
            else:
                self.positional.append(word)

    def _setting(self, word: Text) -> None:
        plain, head = word.plain, _KEY.match(word.plain)
        length = head.end() if head else len(plain)
        key, value = word.cut(0, length), word.cut(length + 1)
        mapped = Mapped(word, length, self.lines, self.source.text, self.shell)
        if not key.known or key.secret or key.unset:
            why = key.why_unknown or "it depends on the environment"
            self.unchecked.append(
                Unchecked("PW122", "", f"a setting whose key is not known is left out: {why}", True, "Write its key in the script")
            )
            return
        open_ = not value.known or value.unset or (value.secret and not Environment.may_be_judged(value.plain))
        if len(plain) > MAX_LENGTH:
            why = f"the setting is longer than {MAX_LENGTH:,} characters"
            value, open_ = Text.unknown(value.plain[:80], value.pieces[0].frames[0], why), True
        if open_ and head:
            perhaps = any(piece.perhaps for piece in value.pieces)
            self._open(plain[:length], value, mapped, Kind.FORCE if perhaps else None)
            return
        try:
            setting = mapped.setting(read_setting(plain, Span("", 0, len(plain), 1, 1)))
        except UnusableInput as problem:
            if not self.hydra and head:
                why = "its program may read it in another way than Hydra does"
                self._open(plain[:length], Text.unknown(value.plain, value.pieces[0].frames[0], why), mapped)
            elif head and not value.secret and _PLACEHOLDER.fullmatch(value.plain):
                self._placeholder(plain[:length], value, mapped)
            elif value.secret:
                message = "a value from the environment, which is not shown, cannot be set: Hydra refuses it"
                self.findings.append(error("PW012", "", message, mapped.span(0, len(plain))))
            else:
                self.findings += map(mapped.finding, problem.findings)
            return
        if value.secret:
            written = self._written(setting.span)
            setting = replace(setting, text=written)
            if setting.value is not None:
                self.environment.places[setting.value.span] = written
        elif setting.value is not None and value.assumed:
            self.assumed[setting.value.span] = value.assumed
        self.settings.append(setting if self.hydra else replace(setting, kind=_free(setting.kind)))

    def _placeholder(self, key: str, value: Text, mapped: Mapped) -> None:
        """A value such as `<path>`, that is still to be filled in."""
        span = mapped.span(len(key) + 1, len(key) + 1 + len(value.plain))
        message = f"`{key}` is `{value.plain[:80]}`, which stands for what is still to be written; Hydra refuses it as it is"
        self.findings.append(warning("PW012", "", message, span, label="not filled in", help="write the value"))
        why = f"`{value.plain[:80]}` is still to be written"
        self._open(key, Text.unknown(value.plain, value.pieces[0].frames[0], why), mapped)

    def _open(self, key: str, value: Text, mapped: Mapped, kind: Kind | None = None) -> None:
        """A setting whose value is unknown."""
        start = len(key) + 1
        try:
            setting = mapped.setting(read_setting(f"{key}=", Span("", 0, start, 1, 1)))
        except UnusableInput as problem:
            self.findings += map(mapped.finding, problem.findings) if self.hydra else ()
            return
        span = mapped.span(start, start + max(1, len(value.plain)))
        shown = value.plain if value.plain and not value.secret else self._written(span)
        scalar = Scalar(shown, UNRESOLVED, span, mapped.origin(start, start + len(value.plain)))
        names = sorted(value.unset)
        self.reasons[span] = value.why_unknown or (
            "; ".join(_is_not_set(name) for name in names) or "it depends on the environment, whose text is not shown and so not judged"
        )
        kind = kind or (Kind(setting.kind) if self.hydra else _free(setting.kind))
        self.settings.append(replace(setting, kind=kind, value=scalar, text=f"{key}={self._written(span)}"))

    def _written(self, span: Span) -> str:
        return self.source.text[span.start : span.end][:80]

    def refuse_positional(self, program: str) -> None:
        """Words that Hydra refuses: neither settings nor options."""
        line_end = -1
        for word in self.positional:
            if not word.known or not word.plain:
                why = word.why_unknown or "; ".join(map(_is_not_set, sorted(word.unset))) or "it is empty"
                more = f"an argument that may hold more settings is not known: {why}"
                self.unchecked.append(Unchecked("PW122", "", more, not word.known, "Write its settings in the script"))
                continue
            if not self.hydra:
                continue
            mapped = Mapped(word, len(word.plain), self.lines, self.source.text, self.shell)
            span = mapped.span(0, len(word.plain))
            if span.start < line_end:
                continue
            if re.match(r"\\[ \t]", self.source.text[span.start : span.start + 2]):
                end = line_end = self.lines.end(span.start)
                message = f"the backslash is followed by a blank, so it is an argument of its own, which `{program}` refuses"
                edit = Edit(self.lines.span((span.start + 1, end)), "")
                span = self.lines.span((span.start, span.start + 1))
                help_ = "end the line right after the backslash"
                self.findings.append(error("PW012", "", message, span, label="this does not continue the line", help=help_, edit=edit))
                continue
            shown = self._written(span)
            message = f"`{shown}` is neither an option nor a setting, so `{program}` refuses it"
            self.findings.append(error("PW012", "", message, span, label="no `=` in it", help="a setting is `key=value`, or take it out"))


def _is_not_set(name: str) -> str:
    if name.startswith("$"):
        return f"`{name}` is an argument of the script, and none are given"
    return f"`{name}` is not set in the script; `--allow-env {name}` reads it"


def _free(kind: Kind) -> Kind:
    """The kind of a setting of which nothing is claimed: whether its key is there is not known."""
    return kind if kind is Kind.DELETE else Kind.FORCE


class Mapped:
    """One word. `key` is how many of its first characters name what is set.

    A word that a variable holds whole, key and all, stands where the variable's value is written. What comes through a
    variable into a word stands where the variable is named, with where its value is written as the origin. `shell`: is the text a
    script, where quotes are taken away before a program sees them?
    """

    def __init__(self, word: Text, key: int, lines: Lines, script: str, shell: bool = True) -> None:
        self.word, self._lines, self._script, self._shell = word, lines, script, shell
        keys = word.cut(0, max(key, 1)).pieces or word.pieces
        self._depth = min((len(piece.frames) - 1 for piece in keys), default=0)

    def span(self, start: int, end: int) -> Span:
        """The place of some of its characters."""
        places = [self._place(piece) for piece in self._covering(start, end)]
        return self._lines.span((places[0][0], max(place[1] for place in places)) if places else (0, 0))

    def origin(self, start: int, end: int) -> Span | None:
        """Where some of its characters really stand, if that is elsewhere."""
        for piece in self._covering(start, end):
            if len(piece.frames) - 1 > self._depth:
                return self._lines.span(piece.frames[-1])
        return None

    def _place(self, piece: Piece) -> Place:
        return piece.frames[min(self._depth, len(piece.frames) - 1)]

    def _covering(self, start: int, end: int) -> list[Piece]:
        """The pieces of these characters; of an empty stretch those at its edge."""
        return list(self.word.cut(start, max(start, end)).pieces) or list(self.word.cut(max(0, start - 1), start).pieces[-1:])

    # -- what was read of its plain text, whose spans count from 0

    def setting(self, setting: Setting) -> Setting:
        """A setting of the plain text, at its real places."""
        value = None if setting.value is None else self.value(setting.value)
        return replace(setting, value=value, span=self._moved(setting.span), key_span=self._moved(setting.key_span))

    def value(self, value: Value) -> Value:
        """A value of the plain text, at its real places."""
        span = self._moved(value.span)
        if isinstance(value, Scalar):
            return replace(value, span=span, origin=self.origin(value.span.start, value.span.end))
        if isinstance(value, Listed):
            return Listed(tuple(map(self.value, value.items)), span)
        entries = []
        for entry in value:
            key = replace(entry.key, span=self._moved(entry.key.span))
            entries.append(Entry(key, self.value(entry.value)))
        return Mapping(tuple(entries), span, value.flow)

    def finding(self, finding: Finding) -> Finding:
        """A finding about the plain text, at its real places; its edit in the quotes that it needs there."""
        span = None if finding.span is None else self._moved(finding.span)
        if finding.edit is None:
            wanted = self._shell and "in quotes" in finding.help
            return replace(finding, span=span, help=_QUOTES if wanted else finding.help)
        moved = Edit(self._moved(finding.edit.span), finding.edit.text)
        if self.origin(finding.edit.span.start, finding.edit.span.end) is not None:
            return replace(finding, span=span, edit=None, help=f"write `{quoted(moved.text)}` where the value comes from")
        edit = fitted(self._script, moved) if self._shell else moved
        return replace(finding, span=span, edit=edit, help=f"write `{edit.text}`")

    def _moved(self, span: Span) -> Span:
        moved = self.span(span.start, span.end)
        if span.end > span.start:
            return moved
        after = self.word.cut(0, span.start).pieces[-1:]
        position = self._place(after[0])[1] if after else moved.start
        return self._lines.span((position, position))
