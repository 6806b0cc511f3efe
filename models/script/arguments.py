"""Arguments of a program: options, and `key=value` settings with their places in the script.

Source of the options: Hydra, hydra/_internal/utils.py (get_args_parser).
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import Sequence

from ..composition.setting import read_setting
from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.document import DocumentKind, Setting
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import UNRESOLVED, Entry, ListNode, MapNode, Scalar, Value
from .pieces import Lines, Place, WordPiece, WordText
from .syntax import Script

_WITH_VALUE = {
    "--config-path": "config-path", "-cp": "config-path", "--config_path": "config-path",
    "--config-name": "config-name", "-cn": "config-name", "--config_name": "config-name",
    "--config-dir": "config-dir", "-cd": "config-dir", "--cfg": "cfg", "-c": "cfg",
    "--package": "package", "-p": "package", "--experimental-rerun": "experimental-rerun",
}  # fmt: skip
_HYDRA = (
    "--help", "--hydra-help", "--version", "--cfg", "--resolve", "--package", "--run", "--multirun", "--shell-completion",
    "--config-path", "--config-name", "--config-dir", "--experimental-rerun", "--info",
)  # fmt: skip
"""Long options of Hydra, which takes unambiguous beginnings too. Source: Hydra, hydra/_internal/utils.py (get_args_parser)."""
_MULTIRUN = ("--multirun", "-m", "hydra.mode=MULTIRUN")
_KEY = re.compile(r"[+~]{0,2}[A-Za-z0-9_.$@/-]*(?==)", re.ASCII)
_QUOTES = "bash takes quotes away: put the value in quotes within quotes, as in `\"key='a b'\"`"
MAX_LENGTH = 8_192
_PLACEHOLDER = re.compile(r"<[^<>]*>")
_PLAIN = re.compile(r"[A-Za-z0-9_./:+=,@%~^-]*", re.ASCII)
NONE, SINGLE, DOUBLE = "", "'", '"'
_SPECIAL = re.compile(r'([\\$`"])')


@dataclass
class Arguments:
    """Parsed words after a program.

    Attributes
    ----------
    settings : settings in the order of the command line.
    options : values by option name without dashes; an empty text for an unknown value.
    positional : words that are neither settings nor options; only programs without Hydra take them.
    reasons : why a value is unknown, by its place.
    assumed : variables assumed unset for a value, by its place.
    shell : True for words of a script.
    hydra : True if Hydra is known to read the words; otherwise nothing is refused.
    multirun : True if Hydra starts a job for every value of a sweep.
    """

    source: Source
    lines: Lines
    environment: Environment
    settings: list[Setting] = field(default_factory=list)
    options: dict[str, WordText] = field(default_factory=dict)
    positional: list[WordText] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    reasons: dict[Span, str] = field(default_factory=dict)
    assumed: dict[Span, frozenset[str]] = field(default_factory=dict)
    shell: bool = True
    hydra: bool = True
    multirun: bool = False

    def read(self, words: Sequence[WordText]) -> None:
        """Parse all words."""
        rest, self.multirun = list(words), any(word.plain in _MULTIRUN for word in words)
        while rest:
            word = rest.pop(0)
            plain = word.plain
            if plain.startswith("-") and len(plain) > 1:
                name, equals, _ = plain.partition("=")
                value = word.cut(len(name) + 1) if equals else WordText()
                name, is_option = self._option_named(name) if word.known else (name, True)
                if not equals and rest and (name in _WITH_VALUE or not (is_option or re.match("-|.*=", rest[0].plain))):
                    value = rest.pop(0)
                if is_option:
                    self.options[_WITH_VALUE.get(name, name.lstrip("-"))] = value
                else:
                    self.positional.append(word)
            elif _KEY.match(plain) or plain.startswith("~"):
                self._setting(word)
            else:
                self.positional.append(word)

    def _option_named(self, name: str) -> tuple[str, bool]:
        """Return the full name of an option, and False if Hydra refuses it."""
        if not self.hydra or name[:2] != "--" or name == "--":
            return name, True
        meant = [option for option in _HYDRA if option.startswith(name)]
        return meant[0] if len(meant) == 1 else name, bool(meant)

    def option(self, name: str) -> str:
        """Return the value of an option; "" if unknown or secret."""
        return shown(self.options.get(name))

    def _setting(self, word: WordText) -> None:
        plain, head = word.plain, _KEY.match(word.plain)
        length = head.end() if head else len(plain)
        key, value = word.cut(0, length), word.cut(length + 1)
        mapped = Mapped(word, length, self.lines, self.source.text, self.shell)
        if not key.known or key.secret or key.unset:
            why = key.why_unknown or "it depends on the environment"
            why = f"a setting whose key is not known is left out: {why}"
            self.unchecked.append(Unchecked("PW122", "", why, True, "Write its key in the script"))
            return
        is_open = not value.known or bool(value.unset)
        is_open = is_open or (value.secret and not Environment.may_be_judged(value.plain))
        if head and len(plain) > MAX_LENGTH:
            self._unread(plain[:length], value, mapped, f"it is longer than {MAX_LENGTH:,} characters")
        elif head and is_open:
            self._open(plain[:length], value, mapped)
        elif setting := self._read(plain, plain[:length], value, mapped):
            if value.secret:
                setting = replace(setting, text=self._written(setting.span))
                if setting.value is not None:
                    self.environment.places[setting.value.span] = setting.text
            elif setting.value is not None and value.assumed:
                self.assumed[setting.value.span] = value.assumed
            self._add(setting, self.hydra)

    def _read(self, text: str, key: str, value: WordText, mapped: Mapped) -> Setting | None:
        """Parse a setting as Hydra does; None, with a finding, if Hydra refuses it."""
        try:
            return mapped.setting(read_setting(text, Span("", 0, len(text), 1, 1)))
        except UnusableInput as problem:
            self._refused(key, value, mapped, problem.findings)
            return None

    def _add(self, setting: Setting, is_claimed: bool) -> None:
        """Add a setting; without a claim, the existence of its key is not checked."""
        free = not is_claimed and setting.kind is not DocumentKind.DELETE
        self.settings.append(replace(setting, kind=DocumentKind.FORCE) if free else setting)

    def _refused(self, key: str, value: WordText, mapped: Mapped, findings: Sequence[Finding]) -> None:
        """Report a setting that Hydra refuses; a placeholder to fill in is a warning."""
        start, written = len(key) + 1, value.plain[:80]
        if value.secret:
            message = "a value from the environment, which is not shown, is refused by Hydra"
            self.findings.append(error("PW012", "", message, mapped.span(0, start)))
        elif self.multirun and any("--multirun" in finding.message for finding in findings):
            self._unread(key, value, mapped, f"`--multirun` starts a job for each value of `{written}`")
        elif not self.hydra and value.pieces:
            why = "its program may read it in another way than Hydra does"
            self._unread(key, value, mapped, why)
        elif self.hydra and _PLACEHOLDER.fullmatch(value.plain):
            span = mapped.span(start, start + len(value.plain))
            message = f"`{key}` is `{written}`, which is still to be written; Hydra refuses it as it is"
            help_ = "write the value"
            self.findings.append(warning("PW012", "", message, span, label="not filled in", help=help_))
            self._unread(key, value, mapped, f"`{written}` is still to be written")
        elif self.hydra:
            self.findings += map(mapped.finding, findings)

    def _unread(self, key: str, value: WordText, mapped: Mapped, why: str) -> None:
        place = value.pieces[0].frames[0]
        self._open(key, WordText.unknown(value.plain[:MAX_LENGTH], place, why), mapped)

    def _open(self, key: str, value: WordText, mapped: Mapped) -> None:
        """Add a setting with an unknown value."""
        start, end = len(key) + 1, len(key) + 1 + len(value.plain)
        setting = self._read(f"{key}=", key, WordText(), mapped)
        if setting is None:
            return
        span = mapped.span(start, max(start + 1, end))
        written = self._written(span)
        text = value.plain if value.plain and not value.secret else written
        scalar = Scalar(text, UNRESOLVED, span, mapped.origin(start, end))
        self.reasons[span] = why_open(value) or "it depends on the environment, whose text is not shown"
        perhaps = any(piece.perhaps for piece in value.pieces)
        self._add(replace(setting, value=scalar, text=f"{key}={written}"), self.hydra and not perhaps)

    def _written(self, span: Span) -> str:
        return self.source.text[span.start : span.end][:80]

    def refuse_all_but(self, options: Sequence[str], words: Sequence[WordText], program: str, certain: bool) -> None:
        """Drop the settings and report words that argparse refuses.

        The program knows `options` alone. If not `certain`, a fork of the program may take more:
        the words are unchecked then.
        """
        self.settings, rest, refused = [], iter(words), list[WordText]()
        for word in rest:
            name, equals, _ = word.plain.partition("=")
            if any(option.startswith(name) for option in options) and name not in ("", "-", "--", "--config_"):
                _ = equals or next(rest, None)
            elif word.known and not word.unset:
                refused.append(word)
        self.positional = [word for word in self.positional if not word.known or word.unset]
        if not refused:
            return
        span = Mapped(refused[0], len(refused[0].plain), self.lines, self.source.text).span(0, len(refused[0].plain))
        message = f"`{program}` takes {' and '.join(f'`{option}`' for option in options)} alone, so it refuses "
        close = "--" + refused[0].plain.partition("=")[0][2:].replace("-", "_")
        help_ = f"write `{close}`" if close in options else "write it into the configuration itself"
        if certain:
            message += f"this argument and {len(refused) - 1} more" if len(refused) > 1 else "this argument"
            note = "argparse ends the program with exit status 2"
            self.findings.append(error("PW012", "", message, span, label="refused", help=help_, notes=(note,)))
        else:
            why = f"{message}`{self._written(span)}`; a fork may take it"
            add = f"{help_[0].upper()}{help_[1:]}, or name the folder of a fork with `--config-root DIR`"
            self.unchecked.append(Unchecked("PW122", "", why, True, add))

    def refuse_positional(self, program: str) -> None:
        """Report words that are neither settings nor options, as Hydra refuses them."""
        line_end = -1
        for word in self.positional:
            span = Mapped(word, len(word.plain), self.lines, self.source.text).span(0, len(word.plain))
            if not word.known or not word.plain:
                why = why_open(word) or "it is empty"
                why = f"an argument that may hold more settings is not known: {why}"
                add = "Write its settings in the script"
                self.unchecked.append(Unchecked("PW122", "", why, not word.known, add))
            elif self.hydra and span.start >= line_end:
                written, label = self._written(span), "no `=` in it"
                is_option = word.plain.startswith("--")
                message = (
                    f"`{written}` is {'no option of Hydra' if is_option else 'neither an option nor a setting'}, so `{program}` refuses it"
                )
                label, help_, edit = "not an option" if is_option else label, "a setting is `key=value`, or take it out", None
                if is_option:
                    close = word.plain.partition("=")[0].replace("_", "-")
                    help_ = f"write `{close}`" if close in _HYDRA else f"write `{written[2:]}`" if "=" in written else "take it out"
                if re.match(r"\\[ \t]", self.source.text[span.start : span.start + 2]):
                    line_end = self.lines.end(span.start)
                    edit = Edit(self.lines.span((span.start + 1, line_end)), "")
                    span = self.lines.span((span.start, span.start + 1))
                    message = f"a blank follows the backslash: it is an argument, which `{program}` refuses"
                    label, help_ = "this does not continue the line", "end the line right after the backslash"
                self.findings.append(error("PW012", "", message, span, label=label, help=help_, edit=edit))


def shown(text: WordText | None) -> str:
    """Return a text that may be shown; "" if unknown or from the environment."""
    known = text is not None and text.known and not text.secret and not text.unset
    return text.plain if text is not None and known else ""


def why_open(text: WordText) -> str:
    """Explain why a text is unknown: its own reason, or the unset variables."""
    return text.why_unknown or "; ".join(
        f"`{name}` is an argument of the script, and none are given"
        if name.startswith("$")
        else f"`{name}` is not set in the script; `--allow-env {name}` reads it"
        for name in sorted(text.unset)
    )


class Mapped:
    """Word of a command, with a map from its characters to places in the script.

    A word that a variable holds whole, key and all, has its place in the value of that variable.
    Text from a variable within a word has its place at the name of the variable, and its origin in
    the value.

    Parameters
    ----------
    key : number of leading characters that name the key.
    shell : True if quotes are removed before a program sees the word.
    """

    def __init__(self, word: WordText, key: int, lines: Lines, script: str, shell: bool = True) -> None:
        self.word, self._lines, self._script, self._shell = word, lines, script, shell
        pieces = word.cut(0, max(key, 1)).pieces or word.pieces
        self._depth = min((len(piece.frames) - 1 for piece in pieces), default=0)

    def span(self, start: int, end: int) -> Span:
        """Return the place of some characters."""
        places = [self._place(piece) for piece in self._covering(start, end)]
        whole = (places[0][0], max(place[1] for place in places)) if places else (0, 0)
        return self._lines.span(whole)

    def origin(self, start: int, end: int) -> Span | None:
        """Return the real place of some characters if it differs from `span`, else None."""
        deeper = (part for part in self._covering(start, end) if len(part.frames) - 1 > self._depth)
        return next((self._lines.span(part.frames[-1]) for part in deeper), None)

    def _place(self, piece: WordPiece) -> Place:
        return piece.frames[min(self._depth, len(piece.frames) - 1)]

    def _covering(self, start: int, end: int) -> Sequence[WordPiece]:
        """Return the pieces of some characters; for an empty range, the pieces at its edge."""
        pieces = self.word.cut(start, max(start, end)).pieces
        return pieces or self.word.cut(max(0, start - 1), start).pieces[-1:]

    # -- values and findings of the plain text, whose spans count from 0

    def setting(self, setting: Setting) -> Setting:
        """Move a setting of the plain text to its places in the script."""
        value = None if setting.value is None else self.value(setting.value)
        span, key_span = self._moved(setting.span), self._moved(setting.key_span)
        return replace(setting, value=value, span=span, key_span=key_span)

    def value(self, value: Value) -> Value:
        """Move a value of the plain text to its places in the script."""
        span = self._moved(value.span)
        if isinstance(value, Scalar):
            return replace(value, span=span, origin=self.origin(value.span.start, value.span.end))
        if isinstance(value, ListNode):
            return ListNode(tuple(map(self.value, value.items)), span)
        entries = (Entry(replace(entry.key, span=self._moved(entry.key.span)), self.value(entry.value)) for entry in value)
        return MapNode(tuple(entries), span, value.flow)

    def finding(self, finding: Finding) -> Finding:
        """Move a finding about the plain text to its real place.

        Its edit is quoted as the shell needs.
        """
        span = None if finding.span is None else self._moved(finding.span)
        edit = finding.edit
        if edit is None:
            needs_quotes = self._shell and "in quotes" in finding.help
            return replace(finding, span=span, help=_QUOTES if needs_quotes else finding.help)
        moved = Edit(self._moved(edit.span), edit.text)
        if self.origin(edit.span.start, edit.span.end) is not None:
            help_ = f"write `{quoted(moved.text)}` where the value comes from"
            return replace(finding, span=span, edit=None, help=help_)
        moved = fitted(self._script, moved) if self._shell else moved
        return replace(finding, span=span, edit=moved, help=f"write `{moved.text}`")

    def _moved(self, span: Span) -> Span:
        moved = self.span(span.start, span.end)
        if span.end > span.start:
            return moved
        after = self.word.cut(0, span.start).pieces[-1:]
        position = self._place(after[0])[1] if after else moved.start
        return self._lines.span((position, position))


# -- edits that keep a script valid: new text is quoted as its place needs


def fitted(script: str, edit: Edit) -> Edit:
    """Quote the text of an edit for its place."""
    around = NONE if _PLAIN.fullmatch(edit.text) else quotes_at(script, edit.span.start)
    if around == SINGLE:
        return replace(edit, text=edit.text.replace("'", "'\\''"))
    return replace(edit, text=_SPECIAL.sub(r"\\\1", edit.text) if around == DOUBLE else quoted(edit.text))


def quoted(text: str) -> str:
    """Quote a text as a word of a command, or as part of a word."""
    if _PLAIN.fullmatch(text):
        return text
    return f"'{text}'" if "'" not in text else '"' + _SPECIAL.sub(r"\\\1", text) + '"'


def quotes_at(script: str, position: int) -> str:
    """Return the quotes around an offset of a script."""
    text, byte = Script.of(script), len(script[:position].encode())
    node = text.root.descendant_for_byte_range(byte, byte)
    while node is not None and node.type != "command_substitution":
        if node.type in ("raw_string", "string", "translated_string") and text.range(node)[0] < position < text.range(node)[1]:
            return SINGLE if node.type == "raw_string" else DOUBLE
        node = node.parent
    return NONE
