"""The configurations that a script starts programs with: a Document for each."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Iterator, Mapping, Sequence

from ..composition import Composer
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput, error, warning
from ..findings.span import Edit, Span
from ..record import dataclass
from ..text.document import Document
from ..text.environment import Environment
from ..text.program import Machine, Program
from ..text.source import Source
from .arguments import Arguments, Mapped
from .begins import Beginning
from .blocks import Block, block_of
from .follow import Follower
from .launch import Launch, Started, launch_of, told_of
from .pieces import Lines, Place, Text
from .recognise import DOTTED_SETTING
from .state import State, TooMuch
from .syntax import Script, Unreadable

_ARGUMENTS = re.compile(r"\$\{?[@*]")
_MAIN = re.compile(r"(.*[./])?(main|main_\w+|\w+_main)(\.py)?")
_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_NOTE = "bash takes them for a command of its own, which it does not find once the program has ended"
_PLAIN_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_][A-Za-z0-9_.@/-]*=", re.ASCII)


@dataclass(frozen=True)
class Followed:
    """A script, followed.

    Attributes
    ----------
    started : its commands, in the order of following, as far as it could be read.
    findings : why it could not be read to its end.
    unchecked : what it takes from elsewhere.
    """

    source: Source
    lines: Lines
    started: tuple[Started, ...]
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    block: Block | None = None


def read_script(source: Source, environment: Mapping[str, str] | None = None) -> Followed:
    """A script, followed with these variables of the environment and no arguments. Nothing is executed.

    As bash does, statements are carried out one by one: what stands before a place that cannot be read was reached.
    """
    lines, block = Lines(source), block_of(source)
    script = block.script if block else Script.of(source.text)
    state = State(os.path.abspath(source.name), environment or {}, block.variables if block else {})
    follower, findings = Follower(script, state), []
    try:
        follower.whole()
    except Unreadable as problem:
        start, end = script.origin.place(problem.position, problem.position + 1)
        start = start if problem.position < len(script.text) or block else len(source.text)
        span = lines.span((start, max(start, min(end, len(source.text)))))
        code, what = ("PW002", "more than is read") if problem.limit else ("PW014", "this is no command that bash could read")
        findings.append(error(code, "", f"{problem}: {what}", span, label="from here on", help="mend the script at this place"))
    except TooMuch as problem:
        message = f"following the script takes too long: {problem}"
        help_ = "give the settings without loops, or as `key=value` words"
        findings.append(error("PW002", "", message, source.whole(), help=help_))
    unchecked = []
    for place in dict.fromkeys(follower.unread):
        shown = " ".join(source.text[slice(*place)].split())[:60]
        why = f"`{shown}` in line {lines.number(place[0])} is not followed; what it sets is not known"
        unchecked.append(Unchecked("PW122", "", why))
    return Followed(source, lines, tuple(follower.started), tuple(findings), tuple(unchecked), block)


@dataclass(frozen=True)
class _Start:
    """A program that a script starts, what it begins with, and its arguments."""

    launch: Launch
    begins: Beginning
    given: Arguments

    @property
    def is_configured(self) -> bool:
        """True if settings or a configuration are named."""
        return bool(self.given.settings or self.given.findings) or "config-name" in self.given.options


def documents_of(source: Source, composer: Composer) -> tuple[Document, ...]:
    """A Document for every program that a script starts with settings. Raises UnusableInput if it starts none, or cannot be read."""
    script = read_script(source, Environment.of(composer.allowed).values)
    every = [_start(launch, script, composer) for each in script.started if (launch := launch_of(each))]
    chosen = [start for start in every if start.is_configured]
    chosen = chosen or [start for start in every if start.begins.found is not None]
    chosen = chosen or [start for start in every if _MAIN.fullmatch(start.launch.program.plain)]
    if not chosen:
        raise UnusableInput(script.findings or [_nothing(script)])
    script = replace(script, findings=tuple(map(_further, script.findings)))
    counted = enumerate(chosen, 1)
    return tuple(_document(script, start, composer, (number, len(chosen))) for number, start in counted)


def _nothing(script: Followed) -> Finding:
    name, help_ = script.source.name, "a script starts one with words such as `python3 -m MODULE key=value`"
    if script.unchecked:
        message = f"`{name}` starts no program in what could be followed: {script.unchecked[0].why}"
        return error("PW010", "", message, script.source.whole(), help="write the command in the script itself")
    for each in script.started:
        plain = [word.plain for word in each.words]
        if plain[0].rpartition("/")[2] in ("bash", "sh", "sbatch", "source") and len(plain) > 1 and not plain[1].startswith("-"):
            message = f"`{name}` starts no program with settings itself, but another script"
            place = script.lines.span(each.place)
            return error("PW010", "", message, place, label="not followed", help="verify that script")
        if len(plain) > 1 and re.fullmatch(r"(?:.*/)?python[0-9.]*|torchrun", plain[0]) and not each.words[-1].known:
            message = f"`{name}` starts a program whose name or settings are not known: {each.words[-1].why_unknown}"
            place = script.lines.span(each.place)
            return error("PW010", "", message, place, help="verify the configuration that it is given")
    return error("PW010", "", f"`{name}` starts no program with settings", script.source.whole(), help=help_)


def _further(finding: Finding) -> Finding:
    """Why the script could not be read to its end: no fault of the programs that are started before."""
    notes = ("what the script does after this is not known; bash carries out what stands before it",)
    return replace(finding, severity=Severity.WARNING, notes=notes)


def _start(launch: Launch, script: Followed, composer: Composer) -> _Start:
    given = Arguments(script.source, script.lines, Environment.of(composer.allowed), hydra=False)
    begins = Beginning(script.source.name, launch, composer.roots, None, None)
    given.hydra = begins.is_hydra
    given.read(launch.arguments)
    path, config = given.options.get("config-path"), given.options.get("config-name")
    return _Start(launch, replace(begins, path=path, config=config), given)


def _document(script: Followed, start: _Start, composer: Composer, which: tuple[int, int]) -> Document:
    launch, begins, given = start.launch, start.begins, start.given
    name = begins.name
    given.refuse_positional(name)
    main = composer.library.source(begins.found.path, begins.found.name) if begins.found else None
    document = composer.started(script.source, main, given.settings, given.environment)
    mapped = Mapped(launch.program, len(launch.program.plain), script.lines, script.source.text)
    place = script.lines.span(launch.started.place)
    lost = tuple(_lost_after(launch, script))
    further = _ARGUMENTS.search(script.source.text, *launch.started.place)
    failed = any(finding.severity is Severity.ERROR for finding in given.findings)
    program = Program(
        name,
        mapped.span(0, len(launch.program.plain)),
        launch.launcher,
        _said(begins.path),
        _said(begins.config),
        tuple((key, _said(value)) for key, value in _options(launch.options, given)),
        command=place,
        number=which[0],
        count=which[1],
        found=main is not None,
        complete=not (lost or further or given.unchecked or failed),
        is_hydra=begins.is_hydra,
        machine=_machine(launch, script),
        missing=begins.missing,
    )
    unchecked = [*script.unchecked, *given.unchecked, *document.unchecked]
    if launch.started.condition:
        why = f"whether `{name}` in line {place.line} is started is not known: {launch.started.condition}"
        unchecked.append(Unchecked("PW122", "", why))

    def again(text: Source) -> Document:
        every = documents_of(text, composer)
        return every[min(which[0], len(every)) - 1]

    return replace(
        document,
        findings=(*script.findings, *given.findings, *lost, *document.findings),
        unchecked=tuple(unchecked),
        program=program,
        reasons=given.reasons,
        assumed=given.assumed,
        compose=again,
    )


def _machine(launch: Launch, script: Followed) -> Machine | None:
    """What the script tells Ray of the machine before the program starts."""
    told = told_of(launch, script.started)
    if told.accelerators is None and told.cpus is None:
        return script.block.machine(script.source) if script.block else None
    return Machine(
        told.accelerators,
        _span(script, told.accelerators_place) if told.accelerators is not None else None,
        told.cpus,
        _span(script, told.cpus_place) if told.cpus is not None else None,
    )


def _span(script: Followed, place: Place | None) -> Span | None:
    return script.lines.span(place) if place is not None else None


def _said(text: Text | None) -> str:
    """What an option says; "" if that is unknown, or not to be shown."""
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


# -- arguments that never reach their program, because the command ended before them


def _lost_after(launch: Launch, script: Followed) -> Iterator[Finding]:
    """A warning if the next command is made of settings, so that they were meant for this one."""
    end, text = launch.started.place[1], script.source.text
    following = next((each for each in script.started if each.place[0] >= end), None)
    if following is None or not following.words or not DOTTED_SETTING.match(following.words[0].plain):
        return
    if not _BETWEEN.fullmatch(text[end : following.place[0]]):
        return
    count = sum(bool(_PLAIN_SETTING.match(word.plain)) for word in following.words)
    first = text[slice(*following.place)].split()[0].split("=")[0]
    what = f"{count} settings, from `{first}` on, never reach" if count > 1 else f"`{first}` never reaches"
    cut = launch.started.cut
    span, why, label, help_, edit = _by_comment(script, cut) if cut else _by_line(script, end)
    message = f"{what} `{launch.program.plain}`: {why}"
    yield warning("PW125", "", message, span, label=label, help=help_, edit=edit, notes=(_NOTE,))


_End = tuple[Span, str, str, str, "Edit | None"]


def _by_comment(script: Followed, cut: Place) -> _End:
    """A comment ends it: one of its own line, or one after the backslash."""
    text, begin = script.source.text, script.source.text.rfind("\n", 0, cut[0]) + 1
    before = text[begin : cut[0]].rstrip()
    why = f"the comment in line {script.lines.number(cut[0])} ends the command"
    edit, help_ = None, "move the comment out of the command"
    if not before:
        edit = Edit(script.lines.span((begin, min(cut[1] + 1, len(text)))), "")
    elif before.endswith("\\"):
        edit = Edit(script.lines.span((begin + len(before), cut[1])), "")
        help_ = "take out all that follows the backslash"
    return script.lines.span(cut), why, "the command ends here", help_, edit


def _by_line(script: Followed, end: int) -> _End:
    """Its last line has no backslash at the end."""
    text, stop = script.source.text, script.lines.end(end)
    why = f"line {script.lines.number(end - 1)} does not end with a backslash"
    escaped = re.search(r"\\[ \t]", text[text.rfind("\n", 0, end) + 1 : stop])  # a blank after it is mended by itself
    edit = None if escaped or text[end:stop].strip() else Edit(script.lines.span((end, stop)), " \\")
    last = end + len(text[end:stop].rstrip())
    return script.lines.span((last - 1, last)), why, "no backslash follows", "end the line with a backslash", edit
