"""Findings about keys and values: misread by YAML, missing, mistyped or unknown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Callable, Iterable
from unicodedata import decimal

from ..findings.finding import Severity
from ..findings.span import Edit, Span
from ..text.nearest import nearest
from ..text.tree import Entry, MapNode, Scalar, Value, kind_of
from ..text.unresolved import UNRESOLVED
from .mending import KeyFix
from .scalar_as_got import ScalarText

__all__ = ["RANKS", "Notes", "ScalarText", "is_unknown"]

RANKS = re.compile(r"all|\d+(-\d+)?(:\d+(-\d+)?)?", re.IGNORECASE)
"""Segment of a placement in the written form."""


class Notes(KeyFix):
    """Findings of one framework file, with their texts and edits."""

    def missing(
        self, subject: str, key: str, owner: Span, help: str, shared: bool = True, added: tuple[MapNode, str, str] | None = None
    ) -> None:
        """Report a missing required key.

        Parameters
        ----------
        shared : True if the key may stand in an unread part of the configuration.
        added : map, key and value of the edit that adds the key.
        """
        if self.partial and shared:
            add = "Pass `--config-root DIR` with the folder of its `defaults`"
            self.unsure("PW101", subject, f"`{key}` is not in this file; it may come from `defaults`", True, add)
        else:
            self.error("PW101", subject, f"`{subject}` has no `{key}`", owner, "here", help, self.added(*added) if added else None)

    def wrong_type(self, subject: str, key: str, value: Value, wanted: str, help: str, edit: Edit | None = None) -> None:
        """Report a value of a type that the framework does not accept."""
        self.error("PW105", subject, f"`{key}` must be {wanted}, but it is {kind_of(value)}", value, kind_of(value), help, edit)

    def text(self, scalar: Scalar, subject: str, usable: Callable[[str], bool] = bool, quoted: bool = True) -> ScalarText:
        """Return a scalar as the framework gets it; warn if YAML changes the written text.

        Parameters
        ----------
        usable : predicate for plausible texts.
        quoted : True if the value may be a quoted text.
        """
        value = scalar.value
        text = str(value)
        if text != scalar.text and scalar.text.replace("_", "").lstrip("+") != text:
            message = f"YAML reads `{scalar.text}` as {'nothing' if value is None else value}, so {self.framework} gets the text `{text}`"
            better, help = "", "write what is meant"
            if not scalar.text:
                message = f"nothing is written here, so {self.framework} gets the text `{text}`"
            elif quoted and usable(scalar.text):
                better, help = f'"{scalar.text}"', f'write "{scalar.text}" in quotes' + (f", or `{text}` if that is meant" * usable(text))
            elif usable(text):
                better, help = text, f"write `{text}`"
            edit = Edit(scalar.span, better) if better and not scalar.origin else None
            self.warn("PW118", subject, message, scalar, f"this is `{text}`", help, edit)
        return ScalarText(text, scalar, self._shift(scalar, text))

    def ranks(self, scalar: Scalar, subject: str, in_flow: bool = False, of_processes: bool = True) -> ScalarText:
        """Return a rank expression as the framework gets it, with ASCII digits.

        Python's int() also takes digits of other scripts. `of_processes`: process ranks may follow
        a colon.
        """
        text = self.text(scalar, subject, lambda written: bool(RANKS.fullmatch(written)) and (of_processes or ":" not in written))
        if text.text.isascii():
            return text
        plain = "".join(str(decimal(letter)) if letter.isdecimal() else letter for letter in text.text)
        if plain != text.text:
            edit = text.replaced(plain, in_flow)
            message = f"`{text.text}` has digits that are not ASCII, which {self.framework} reads as `{plain}`"
            self.warn("PW118", subject, message, scalar, f"read as `{plain}`", f"write `{plain}`", edit)
        return ScalarText(plain, scalar, text.shift)

    def _shift(self, scalar: Scalar, text: str) -> int | None:
        written = self.document.text_of(scalar.span.file)[scalar.span.start : scalar.span.end]
        if scalar.origin is not None or "\n" in written:
            return None
        if written == text:
            return 0
        return 1 if written[1:-1] == text and written[:1] in ("'", '"') else None

    def unknown_keys(
        self, value: MapNode, subject: str, known: Iterable[str], refused: bool, section: str, required: tuple[str, ...] = ()
    ) -> MapNode:
        """Report unknown keys and return the map without them.

        An unknown key is an error if the framework refuses it, or if it seems a misspelling of a
        `required` key: then it stands for that key in the result, so that its value is judged too.
        Otherwise it is a warning, and the result lacks the key, as in the framework.
        """
        names = tuple(known)
        unset_names = [name for name in names if value.get(name) is None]
        entries = []
        for entry in value:
            if entry.key.text in names:
                entries.append(entry)
                continue
            word, _, rest = entry.key.text.partition(" ") if self.is_bare(entry) else (entry.key.text, "", "")
            close = nearest(word, unset_names)
            fate = f"and misses `{close}`" if close in required else "silently"
            missed = () if refused else (f"{self.framework} ignores it{',' * (close in required)} {fate}",)
            message = f"{section} has no key `{entry.key.text}`"
            help, edit = f"remove it; keys are {', '.join(f'`{name}`' for name in names)}", self.removed(value, entry)
            if not close and (existing := nearest(word, names)):
                help = f"remove it: `{existing}` is set too"
            if close and rest:
                help, edit = f"write `{close}: {rest}`: is a colon missing?", self.renamed(entry, f"{close}: {rest}")
            elif close:
                help, edit = f"write `{close}`", self.renamed(entry, close)
            wrong = refused or close in required
            if close:
                unset_names.remove(close)
            if close and wrong:
                text = Scalar(rest, "tag:yaml.org,2002:str", entry.key.span, entry.key.span) if rest else entry.value
                entries.append(Entry(replace(entry.key, text=close), text))
            severity = Severity.ERROR if wrong else Severity.WARNING
            self._add(severity, "PW104", subject, message, entry.key.span, "not a key", help, edit, missed)
        return replace(value, entries=tuple(entries)) if len(entries) < len(value.entries) or entries != list(value) else value

    def is_bare(self, entry: Entry) -> bool:
        """Return True if an entry is a word in a flow map without a colon."""
        value, after = entry.value, self.document.text_of(entry.key.span.file)[entry.key.span.end :][:64].lstrip()
        return isinstance(value, Scalar) and value.is_null and not value.span.length and after[:1] in (",", "}", "#")


def is_unknown(value: Value) -> bool:
    """Return True if a value is an unresolved interpolation."""
    return isinstance(value, Scalar) and value.tag == UNRESOLVED
