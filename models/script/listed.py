"""Settings without a script: `key=value` in a file or on the command line, and the lists that Hydra keeps of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ..composition import Composer
from ..text.document import Document
from ..text.environment import Environment
from ..text.program import Program
from ..text.source import Source
from .arguments import Arguments
from .pieces import Lines, Piece, Text
from .recognise import listed, reads

NAME = "command line"
"""The name of the text that the settings of a command line stand in, a line each."""


def document_of_arguments(texts: Sequence[str], composer: Composer) -> Document:
    """The configuration that the settings of a command line make."""
    return _document(
        Source(NAME, "\n".join(texts)),
        [Text((Piece(text, ((start, start + len(text)),), True),)) for start, text in _placed(texts)],
        composer,
    )


def document_of_settings(source: Source, composer: Composer) -> Document:
    """The configuration that a file of settings makes. Raises UnusableInput where a line cannot be read at all."""
    found = listed(source)
    if found is not None:
        words = []
        for item in found:
            written = source.text[item.span.start : item.span.end]
            shift = 0 if written == item.text else 1 if written[1:-1] == item.text else -1
            place = (item.span.start + max(shift, 0), item.span.start + max(shift, 0) + len(item.text))
            words.append(Text((Piece(item.text, (place if shift >= 0 else (item.span.start, item.span.end),), shift >= 0),)))
        return _document(source, words, composer)
    return _document(source, _words(source, Environment.of(composer.allowed)), composer)


def _words(source: Source, environment: Environment) -> list[Text]:
    """The settings of every line: one, or several with blanks between, as on a command line."""
    from .expand import Expander
    from .state import State
    from .syntax import Script

    script, found, position = Script.of(source.text), list[Text](), 0
    expander = Expander(script, State(source.name, environment.values))
    for line in source.text.splitlines(keepends=True):
        start, position = position, position + len(line)
        bare = line.strip()
        if start < position and reads(bare) and "$" not in bare and not bare.startswith("#"):
            first = start + line.index(bare)
            found.append(Text((Piece(bare, ((first, first + len(bare)),), True),)))
            continue
        for word in script.words(start, position):
            found += expander.fields(word)
    return found


def _placed(texts: Sequence[str]) -> list[tuple[int, str]]:
    found, position = [], 0
    for text in texts:
        found.append((position, text))
        position += len(text) + 1
    return found


def _document(source: Source, words: list[Text], composer: Composer) -> Document:
    given = Arguments(source, Lines(source), Environment.of(composer.allowed), shell=False)
    given.read(words)
    given.refuse_positional("Hydra")
    document = composer.started(source, None, given.settings, given.environment)
    program = Program(
        "",
        source.whole(),
        config_name=_option(given, "config-name"),
        command=given.lines.span((0, len(source.text.rstrip()))),
        complete=source.name != NAME,
    )
    findings, unchecked = (*given.findings, *document.findings), (*given.unchecked, *document.unchecked)
    again = document_of_settings if source.name != NAME else _again
    return replace(
        document, findings=findings, unchecked=unchecked, program=program, reasons=given.reasons, assumed=given.assumed,
        compose=lambda text: again(text, composer),
    )  # fmt: skip


def _again(source: Source, composer: Composer) -> Document:
    return document_of_arguments(source.text.split("\n"), composer)


def _option(given: Arguments, name: str) -> str:
    text = given.options.get(name)
    return text.plain if text is not None and text.known and not text.secret else ""
