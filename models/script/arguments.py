"""Arguments of a program: options, and `key=value` settings with their places in the script."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import field, replace
from typing import Sequence

from ..composition.setting import read_setting
from ..findings.finding import Finding, Unchecked, UnusableInput, error, warning
from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.document import Setting, SettingMark
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import UNRESOLVED, Entry, ListNode, MapNode, Scalar, Value
from . import facts
from .pieces import Place, WordPiece, WordText
from .syntax import Script

_FACTS = facts("programs")
_WITH_VALUE: dict[str, str] = _FACTS["options"]
_HYDRA: list[str] = _FACTS["long_options"]
"""Long options of Hydra, which takes unambiguous beginnings too."""
_INFO = ("--info", "-i")
"""Options of Hydra that may have a value, such as `--info defaults`."""
_SHORT = re.compile(_FACTS["short_options"])
"""Options of Hydra with one dash: flags may be joined, a value may follow at once."""
_REFUSALS: dict[str, list[str]] = _FACTS["refusals"]
"""Message, label and help for a word that Hydra refuses."""
_MULTIRUN = ("--multirun", "-m", "hydra.mode=MULTIRUN")
_KEY = re.compile(r"[+~]{0,2}[A-Za-z0-9_.$@/-]*(?==)", re.ASCII)
_QUOTES = "bash takes quotes away: put the value in quotes within quotes, as in `\"key='a b'\"`"
MAX_LENGTH = 8_192
_PLACEHOLDER = re.compile(r"<[^<>]*>")
_PLAIN = re.compile(r"(?!=[=~]$)[A-Za-z0-9_./:+=,@%~^-]*", re.ASCII)
NONE, SINGLE, DOUBLE = "", "'", '"'
_SPECIAL = re.compile(r'([\\$`"])')


@dataclass
class Arguments:
    """Parsed words after a program.

    Attributes
    ----------
    shell : True for words of a script.
    hydra : True if Hydra is known to read the words.
    known_options : the options of a program that argparse reads and that takes no settings; else nothing is refused.
    options : values by option name without dashes; an empty text for an unknown value.
    positional : words that are neither settings nor options, each with the kind of refusal, if
        certain, and the setting that is meant.
    multirun : True if Hydra starts a job for every value of a sweep.
    """

    source: Source
    environment: Environment
    shell: bool = True
    hydra: bool = True
    known_options: tuple[str, ...] = ()
    settings: list[Setting] = field(default_factory=list)
    options: dict[str, WordText] = field(default_factory=dict)
    positional: list[tuple[WordText, str, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[Unchecked] = field(default_factory=list)
    reasons: dict[Span, str] = field(default_factory=dict)
    assumed: dict[Span, frozenset[str]] = field(default_factory=dict)
    multirun: bool = False

    def read(self, words: Sequence[WordText]) -> None:
        """Parse all words, as argparse does: of settings apart from each other, it takes the first ones."""
        rest, self.multirun, is_late = deque(words), any(word.plain in _MULTIRUN for word in words), False
        quotes_before, quotes = 0, 0  # open typographic quotes, which quote nothing
        while rest:
            word = rest.popleft()
            plain = word.plain
            quotes_before, quotes = quotes, quotes + plain.count("\u201c") - plain.count("\u201d")
            if plain.startswith("-") and len(plain) > 1:
                name, equals, _ = plain.partition("=")
                value = word.cut(len(name) + 1) if equals else WordText()
                name, is_option = self._option_named(name) if word.known else (name, True)
                may_have_value = name in _INFO or not (is_option or self.known_options)
                if not equals and rest and (name in _WITH_VALUE or (may_have_value and not re.match("-|.*=", rest[0].plain))):
                    value = rest.popleft()
                if is_option or self.known_options:
                    self.options[_WITH_VALUE.get(name, name.lstrip("-"))] = value
                    is_late = is_late or (self.hydra and bool(self.settings) and word.certain and name != "--")
                if not is_option:
                    self.positional.append((word, "", ""))
                continue
            if is_late and word.certain and not word.perhaps:
                self.positional.append((word, "late", ""))
                is_late = False  # once is enough
            if not self.known_options and (_KEY.match(plain) or plain.startswith("~")):
                self._setting(word)
            elif self.hydra and rest and rest[0].plain[:1] == "=":  # blanks around the sign
                after = rest.popleft().plain
                after += rest.popleft().plain if after == "=" and rest else ""
                self.positional.append((word, "apart", f"{plain}{after}"))
            elif quotes_before <= 0:
                self.positional.append((word, "", ""))

    def _option_named(self, name: str) -> tuple[str, bool]:
        """Return the full name of an option, and False if the program refuses it."""
        names = _HYDRA if self.hydra else self.known_options
        if not names or name in names or name == "--":
            return name, True
        if name[:2] != "--":
            return name, self.hydra and _SHORT.fullmatch(name) is not None
        options = [option for option in names if option.startswith(name)]
        return options[0] if len(options) == 1 else name, bool(options) if self.hydra else len(options) == 1

    def option(self, name: str) -> str:
        """Return the value of an option; "" if unknown or secret."""
        return show_text(self.options.get(name))

    def _setting(self, word: WordText) -> None:
        plain, head = word.plain, _KEY.match(word.plain)
        length = head.end() if head else len(plain)
        key, value = word.cut(0, length), word.cut(length + 1)
        word_map = MappedWord(word, self.source, self.shell, length)
        if not key.certain:
            why = key.why_unknown or "it depends on the environment"
            self._leave_unchecked(f"a setting whose key is not known is left out: {why}", "Write its key in the script")
            return
        why = f"it is longer than {MAX_LENGTH:,} characters" if len(plain) > MAX_LENGTH else why_open(value)
        if value.secret and not why and not Environment.may_be_judged(value.plain):
            why = "it depends on the environment, whose text is not shown"
        if head and why:
            self._add_unknown(key.plain, value, word_map, why)
        elif setting := self._read(plain, key.plain, value, word_map):
            if value.secret:
                setting = replace(setting, text=self._read_source(setting.span))
                if setting.value is not None:
                    self.environment.places[setting.value.span] = setting.text
            elif setting.value is not None and value.assumed:
                self.assumed[setting.value.span] = value.assumed
            self._add(setting, self.hydra)

    def _read(self, text: str, key: str, value: WordText, word_map: MappedWord) -> Setting | None:
        """Parse a setting as Hydra does; None, with a finding, if Hydra refuses it."""
        try:
            return word_map.setting(read_setting(text, Span("", 0, len(text), 1, 1)))
        except UnusableInput as problem:
            self._report_refused(key, value, word_map, problem.findings)
            return None

    def _add(self, setting: Setting, is_claimed: bool) -> None:
        """Add a setting; without a claim, the existence of its key is not checked."""
        free = not is_claimed and setting.kind is not SettingMark.DELETE
        self.settings.append(replace(setting, kind=SettingMark.FORCE) if free else setting)

    def _report_refused(self, key: str, value: WordText, word_map: MappedWord, findings: Sequence[Finding]) -> None:
        """Report a setting that Hydra refuses; a placeholder to fill in is a warning."""
        start, value_text = len(key) + 1, value.plain[:80]
        if value.secret:
            message = "a value from the environment, which is not shown, is refused by Hydra"
            self.findings.append(error("PW012", "", message, word_map.span(0, start)))
        elif self.multirun and any("--multirun" in finding.message for finding in findings):
            self._add_unknown(key, value, word_map, f"`--multirun` starts a job for each value of `{value_text}`")
        elif not self.hydra and value.pieces:
            self._add_unknown(key, value, word_map, "its program may read it in another way than Hydra does")
        elif self.hydra and _PLACEHOLDER.fullmatch(value.plain):
            span = word_map.span(start, start + len(value.plain))
            message, why = f"`{key}` is `{value_text}`, which is still to be written", "Hydra refuses it as it is"
            self.findings.append(warning("PW012", "", message, span, label="not filled in", help="write the value", notes=(why,)))
            self._add_unknown(key, value, word_map, f"`{value_text}` is still to be written")
        elif self.hydra:
            self.findings += map(word_map.finding, findings)

    def _add_unknown(self, key: str, value: WordText, word_map: MappedWord, why: str) -> None:
        """Add a setting with an unknown value."""
        plain, start = value.plain[:MAX_LENGTH], len(key) + 1
        end = start + len(plain)
        setting = self._read(f"{key}=", key, WordText(), word_map)
        if setting is None:
            return
        span = word_map.span(start, max(start + 1, end))
        source_text = self._read_source(span)
        scalar = Scalar(plain if plain and not value.secret else source_text, UNRESOLVED, span, word_map.origin(start, end))
        self.reasons[span] = why
        self._add(replace(setting, value=scalar, text=f"{key}={source_text}"), self.hydra and not value.perhaps)

    def _read_source(self, span: Span) -> str:
        return self.source.text[span.start : span.end][:80]

    def _leave_unchecked(self, why: str, add: str, decides: bool = True) -> None:
        self.unchecked.append(Unchecked("PW122", "", why, decides, add))

    def refuse_all_but_known(self, program: str, certain: bool) -> None:
        """Report words that argparse refuses; unless `certain`, a fork may take them."""
        strange = [word for word, _, _ in self.positional if word.known and not word.unset]
        self.positional = [item for item in self.positional if item[0] not in strange]
        if not strange:
            return
        span = MappedWord(strange[0], self.source).whole
        message = f"`{program}` takes {' and '.join(f'`{option}`' for option in self.known_options)} alone, so it refuses "
        close = "--" + strange[0].plain.partition("=")[0][2:].replace("-", "_")
        help_ = f"write `{close}`" if close in self.known_options else "write it into the configuration itself"
        if certain:
            message += f"this argument and {len(strange) - 1} more" if len(strange) > 1 else "this argument"
            note = "argparse ends the program with exit status 2"
            self.findings.append(error("PW012", "", message, span, label="refused", help=help_, notes=(note,)))
        else:
            add = f"{help_[0].upper()}{help_[1:]}, or name the folder of a fork with `--config-root DIR`"
            self._leave_unchecked(f"{message}`{self._read_source(span)}`; a fork may take it", add)

    def refuse_positional(self, program: str) -> None:
        """Report words that are neither settings nor options, as Hydra refuses them."""
        line_end, text, split_lines = -1, self.source.text, set[int]()
        for word, kind, replacement in self.positional:
            whole_word, edit = MappedWord(word, self.source), None
            span = whole_word.whole
            if whole_word.is_of_variable and not kind and word.known and "=" not in word.plain:
                if span.line in split_lines:
                    continue  # the next word of the same text
                split_lines.add(span.line)
                kind = "split" if word.plain[:1] != "-" else kind
            is_empty = self.hydra and not word.plain and word.certain and not word.assumed
            if not word.known or not (word.plain or is_empty):
                reason = why_open(word) or "it is empty" + "".join(f" unless `{name}` is set" for name in sorted(word.assumed)[:1])
                why = f"an argument that may hold more settings is not known: {reason}"
                self._leave_unchecked(why, "Write its settings in the script", not word.known)
            elif self.hydra and span.start >= line_end:
                source_text, close = self._read_source(span), word.plain.partition("=")[0].replace("_", "-")
                if re.match(r"\\[ \t]", text[span.start :][:2]):
                    kind, line_end = "blank", line_end_of(text, span.start)
                    edit = Edit(self.source.span(span.start + 1, line_end), "")
                    span = self.source.span(span.start, span.start + 1)
                elif not kind and (close[:1] != "-" or close == "-"):
                    kind = "empty" if is_empty else "word"
                elif not kind and close in _FACTS["own_options"]:
                    kind = "own option"
                elif not kind:
                    kind = "option" if close in _HYDRA else "setting" if "=" in source_text else "other option"
                values = {"program": program, "written": source_text, "bare": source_text.lstrip("-"), "close": close, "meant": replacement}
                message, label, help_ = (part.format(**values) for part in _REFUSALS[kind])
                self.findings.append(error("PW012", "", message, span, label=label, help=help_, edit=edit))


def show_text(text: WordText | None) -> str:
    """Return a text that may be shown; "" if unknown or from the environment."""
    return text.plain if text is not None and text.certain else ""


def why_open(text: WordText) -> str:
    """Explain why a text is unknown: its own reason, or the unset variables."""
    return text.why_unknown or "; ".join(
        f"`{name}` is an argument of the script, and none are given"
        if name.startswith("$")
        else f"`{name}` is not set in the script; `--allow-env {name}` reads it"
        for name in sorted(text.unset)
    )


class MappedWord:
    """Word of a command, with a map from its characters to places in the script.

    A word that a variable holds whole, key and all, has its place in the value of that variable.
    Text from a variable within a word has its place at the name of the variable, and its origin in
    the value.

    Parameters
    ----------
    shell : True if quotes are removed before a program sees the word.
    key : number of leading characters that name the key; None for all.
    """

    def __init__(self, word: WordText, source: Source, shell: bool = True, key: int | None = None) -> None:
        self.word, self._source, self._shell = word, source, shell
        pieces = word.cut(0, max(len(word.plain) if key is None else key, 1)).pieces or word.pieces
        self._depth = min((len(piece.frames) - 1 for piece in pieces), default=0)

    @property
    def is_of_variable(self) -> bool:
        """True if the value of a variable holds the whole word."""
        return self._depth > 0

    @property
    def whole(self) -> Span:
        """Place of the word."""
        return self.span(0, len(self.word.plain))

    def span(self, start: int, end: int) -> Span:
        """Return the place of some characters."""
        places = [self._place(piece) for piece in self._covering(start, end)]
        return self._source.span(places[0][0], max(place[1] for place in places)) if places else self._source.span(0, 0)

    def origin(self, start: int, end: int) -> Span | None:
        """Return the real place of some characters if it differs from `span`, else None."""
        deeper = (part for part in self._covering(start, end) if len(part.frames) - 1 > self._depth)
        return next((self._source.span(*part.frames[-1]) for part in deeper), None)

    def _place(self, piece: WordPiece) -> Place:
        return piece.frames[min(self._depth, len(piece.frames) - 1)]

    def _covering(self, start: int, end: int) -> Sequence[WordPiece]:
        """Return the pieces of some characters; for an empty range, the pieces at its edge."""
        pieces = self.word.cut(start, max(start, end)).pieces
        return pieces or self.word.cut(max(0, start - 1), start).pieces[-1:]

    # -- values and findings of the plain text, whose spans count from 0

    def setting(self, setting: Setting) -> Setting:
        """Move a setting of the plain text to its places in the script."""
        value = None if setting.value is None else self._value(setting.value)
        return replace(setting, value=value, span=self._move(setting.span), key_span=self._move(setting.key_span))

    def _value(self, value: Value) -> Value:
        span = self._move(value.span)
        if isinstance(value, Scalar):
            return replace(value, span=span, origin=self.origin(value.span.start, value.span.end))
        if isinstance(value, ListNode):
            return ListNode(tuple(map(self._value, value.items)), span)
        entries = (Entry(replace(entry.key, span=self._move(entry.key.span)), self._value(entry.value)) for entry in value)
        return MapNode(tuple(entries), span, value.flow)

    def finding(self, finding: Finding) -> Finding:
        """Move a finding about the plain text to its real place.

        Its edit is quoted as the shell needs.
        """
        span, edit = None if finding.span is None else self._move(finding.span), finding.edit
        if edit is None:
            help_ = _QUOTES if self._shell and "in quotes" in finding.help else finding.help
            return replace(finding, span=span, help=help_)
        if self.origin(edit.span.start, edit.span.end) is not None:
            return replace(finding, span=span, edit=None, help=f"write `{quote(edit.text)}` where the value comes from")
        new_edit = Edit(self._move(edit.span), edit.text)
        new_edit = fit_edit(self._source.text, new_edit) if self._shell else new_edit
        return replace(finding, span=span, edit=new_edit, help=f"write `{new_edit.text}`")

    def _move(self, span: Span) -> Span:
        new_span = self.span(span.start, span.end)
        if span.end > span.start:
            return new_span
        after = self.word.cut(0, span.start).pieces[-1:]
        position = self._place(after[0])[1] if after else new_span.start
        return self._source.span(position, position)


# -- edits that keep a script valid: new text is quoted as its place needs


def fit_edit(script: str, edit: Edit) -> Edit:
    """Quote the text of an edit for its place."""
    around = NONE if _PLAIN.fullmatch(edit.text) else _quotes_at(script, edit.span.start)
    if around == SINGLE:
        return replace(edit, text=edit.text.replace("'", "'\\''"))
    return replace(edit, text=_SPECIAL.sub(r"\\\1", edit.text) if around == DOUBLE else quote(edit.text))


def quote(text: str) -> str:
    """Quote a text as a word of a command, or as part of a word."""
    if _PLAIN.fullmatch(text):
        return text
    return f"'{text}'" if "'" not in text else '"' + _SPECIAL.sub(r"\\\1", text) + '"'


def _quotes_at(script: str, position: int) -> str:
    node = Script.of(script).root.descendant_for_byte_range(position, position)
    while node is not None and node.type != "command_substitution":
        if node.type in ("raw_string", "string", "translated_string") and node.start_byte < position < node.end_byte:
            return SINGLE if node.type == "raw_string" else DOUBLE
        node = node.parent
    return NONE


def line_end_of(text: str, position: int) -> int:
    """Return the offset of the end of a line."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end
