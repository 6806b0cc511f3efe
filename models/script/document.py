"""The configurations that a script starts programs with: a Document for each."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Sequence

from ..composition import Composer
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput, error
from ..text.document import Document
from ..text.environment import Environment
from ..text.program import Program
from ..text.source import Source
from .arguments import Arguments
from .holding.value import Text
from .launch import Launch, launch_of
from .lost import lost_after
from .mapped import Mapped
from .primary import primary
from .reading import Script, read_script

_ARGUMENTS = re.compile(r"\$\{?[@*]")
_MAIN = re.compile(r"(.*[./])?(main|main_\w+|\w+_main)(\.py)?")


def documents_of(source: Source, composer: Composer) -> tuple[Document, ...]:
    """A Document for every program that a script starts with settings. Raises UnusableInput if it starts none, or cannot be read."""
    script = read_script(source, Environment.of(composer.allowed).values)
    started = [(launch, _arguments(launch, script, composer)) for each in script.started if (launch := launch_of(each))]
    chosen = [(launch, given) for launch, given in started if given.settings or given.findings or "config-name" in given.options]
    chosen = chosen or [(launch, given) for launch, given in started if _MAIN.fullmatch(launch.program.plain)]
    if not chosen:
        raise UnusableInput(script.findings or [_nothing(source)])
    script = replace(script, findings=tuple(map(_further, script.findings)))
    made = [_document(script, launch, given, composer, (number, len(chosen))) for number, (launch, given) in enumerate(chosen, 1)]
    return tuple(made)


def _nothing(source: Source) -> Finding:
    message = f"`{source.name}` starts no program with settings"
    return error("PW010", "", message, source.whole(), help="a script starts one with words such as `python3 -m MODULE key=value`")


def _further(finding: Finding) -> Finding:
    """Why the script could not be read to its end: no fault of the programs that are started before."""
    return replace(
        finding, severity=Severity.WARNING, notes=("what the script does after this is not known; bash carries out what stands before it",)
    )


def _arguments(launch: Launch, script: Script, composer: Composer) -> Arguments:
    given = Arguments(script.source, script.lines, Environment.of(composer.allowed))
    given.read(launch.arguments)
    return given


def _document(script: Script, launch: Launch, given: Arguments, composer: Composer, which: tuple[int, int]) -> Document:
    name = launch.program.plain
    given.refuse_positional(name)
    path, config = given.options.get("config-path"), _said(given.options.get("config-name"))
    found = primary(script.source.name, name, path, config, composer.roots)
    main = composer.library.source(found.path, found.name) if found else None
    document = composer.started(script.source, main, given.settings, given.environment)
    mapped = Mapped(launch.program, len(name), script.lines, script.source.text)
    options = tuple((key, _said(value)) for key, value in _options(launch.options, given))
    program = Program(name, mapped.span(0, len(name)), launch.launcher, _said(path), config, options)
    place = script.lines.span(launch.started.place)
    lost = tuple(lost_after(launch, script))
    further = _ARGUMENTS.search(script.source.text, *launch.started.place)
    complete = not (lost or further or given.unchecked or any(finding.severity is Severity.ERROR for finding in given.findings))
    program = replace(program, command=place, number=which[0], count=which[1], found=main is not None, complete=complete)
    unchecked = [*script.unchecked, *given.unchecked, *document.unchecked]
    if launch.started.condition:
        unchecked.append(
            Unchecked("PW122", "", f"whether `{name}` in line {place.line} is started is not known: {launch.started.condition}")
        )
    findings = (*script.findings, *given.findings, *lost, *document.findings)

    def again(text: Source) -> Document:
        every = documents_of(text, composer)
        return every[min(which[0], len(every)) - 1]

    return replace(
        document,
        findings=findings,
        unchecked=tuple(unchecked),
        program=program,
        reasons=given.reasons,
        assumed=given.assumed,
        compose=again,
    )


def _said(text: Text | None) -> str:
    """What an option says; "" where that is not known, or not to be shown."""
    return text.plain if text is not None and text.known and not text.secret and not text.unset else ""


def _options(words: Sequence[Text], given: Arguments) -> list[tuple[str, Text]]:
    """The options of the launcher and of the program, by their names without dashes."""
    found: list[tuple[str, Text]] = []
    position = 0
    while position < len(words):
        name, equals, _ = words[position].plain.partition("=")
        value, position = words[position].cut(len(name) + 1), position + 1
        if not name.startswith("-"):
            continue
        if not equals and position < len(words) and not words[position].plain.startswith("-"):
            value, position = words[position], position + 1
        found.append((name, value))
    return found + [(f"--{name}", value) for name, value in given.options.items()]
