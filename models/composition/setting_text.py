"""The text of one `--set`, read as Hydra reads an override of its command line.

Source of the grammar: Hydra, hydra/grammar/OverrideParser.g4, hydra/core/override_parser.
"""

from __future__ import annotations

import re

from ..findings.span import Span
from ..text.resolvers import as_scalar
from ..text.setting import Kind, Setting
from .setting_tokens import NAME, NATURAL, WORD, refused, tokens_of
from .setting_value import Values

__all__ = ["Kind", "Setting", "read_setting"]

MAX_LEVELS = 64
_DOTTED = rf"(?:{NAME}|{NATURAL})(?:\.(?:{NAME}|{NATURAL}))*"
_KEY = re.compile(rf"(?P<mark>\+\+|\+|~|)(?P<key>{WORD}(?:/{WORD})+|{_DOTTED}|)(?:@(?P<package>{_DOTTED}|))?(?P<end>=[ \t]*|\Z)", re.ASCII)


def read_setting(text: str, span: Span) -> Setting:
    """The setting of a text that stands at `span`. Raises UnusableInput with a PW012 Finding."""
    head = _KEY.match(text)
    if head is None or (not head["end"] and head["mark"] != Kind.DELETE.value):
        start = (
            len(text) if head else next((i for i, letter in enumerate(text) if not (letter.isalnum() or letter in "+~_$.@/-")), len(text))
        )
        raise refused(text, "no `=` follows its key", span.part(start, start + 1), "a setting is `key=value`, `+key=value` or `~key`")
    if head["key"].count(".") >= MAX_LEVELS:
        raise refused(text, f"its key is nested more than {MAX_LEVELS} levels deep", span, "real keys have about five levels")
    value = None
    if head["end"]:
        value = (
            Values(text, tokens_of(text, head.end(), span), span).read()
            if text[head.end() :]
            else as_scalar("", span.part(head.end(), head.end()))
        )
    return Setting(text, Kind(head["mark"]), head["key"], head["package"], value, span, span.part(head.start("key"), head.end("key")))
