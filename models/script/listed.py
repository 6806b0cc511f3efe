"""Settings without a script: `key=value` in a file or on the command line, and Hydra's lists."""

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
    words, position = list[Text](), 0
    for text in texts:
        words.append(_exact(text, position))
        position += len(text) + 1
    return _document(Source(NAME, "\n".join(texts)), words, composer)


def document_of_settings(source: Source, composer: Composer) -> Document:
    """The configuration that a file of settings makes. Raises UnusableInput."""
    words = list[Text]()
    for item in listed(source) or ():
        written = source.text[item.span.start : item.span.end]
        at = written.find(item.text)
        if at < 0:  # it is written with escapes
            words.append(Text((Piece(item.text, ((item.span.start, item.span.end),)),)))
        else:
            words.append(_exact(item.text, item.span.start + at))
    words = words or _words(source, Environment.of(composer.allowed))
    return _document(source, words, composer)


def _exact(text: str, start: int) -> Text:
    return Text((Piece(text, ((start, start + len(text)),), True),))


def _words(source: Source, environment: Environment) -> list[Text]:
    """The settings of every line: one, or several with blanks between, as on a command line."""
    from .expand import Expander
    from .state import State
    from .syntax import Script

    expander = Expander(Script.of(source.text), State(source.name, environment.values))
    words, position = list[Text](), 0
    for line in source.text.splitlines(keepends=True):
        start, position = position, position + len(line)
        bare = line.strip()
        if bare and reads(bare) and "$" not in bare and not bare.startswith("#"):
            words.append(_exact(bare, start + line.index(bare)))
        else:
            words += expander.all_fields(list(expander.script.words(start, position)))
    return words


def _document(source: Source, words: list[Text], composer: Composer) -> Document:
    lines = Lines(source)
    arguments = Arguments(source, lines, Environment.of(composer.allowed), shell=False)
    arguments.read(words)
    arguments.refuse_positional("Hydra")
    document = composer.started(source, None, arguments.settings, arguments.environment)
    program = Program(
        "",
        source.whole(),
        config_name=arguments.option("config-name"),
        command=lines.span((0, len(source.text.rstrip()))),
        complete=source.name != NAME,
    )

    def again(text: Source) -> Document:
        if source.name != NAME:
            return document_of_settings(text, composer)
        return document_of_arguments(text.text.split("\n"), composer)

    return replace(
        document,
        findings=(*arguments.findings, *document.findings),
        unchecked=(*arguments.unchecked, *document.unchecked),
        program=program,
        reasons=arguments.reasons,
        assumed=arguments.assumed,
        compose=again,
    )
