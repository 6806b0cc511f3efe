"""Documents of a script: one configuration per started program.

Settings alone, without a script, also make a Document. A script may be the `run:` block of a
SkyPilot task. Source: SkyPilot, the task YAML specification and its environment variables
(SKYPILOT_NUM_NODES and its kin).
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Callable, Mapping, Sequence

from ..composition import Composer
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput, error, warning
from ..findings.span import Edit
from ..record import dataclass
from ..text.document import Document, Program, ShellMachine
from ..text.environment import Environment
from ..text.source import Source
from ..text.tree import MapNode, Scalar, find
from .arguments import Arguments, Mapped, shown
from .expand import Expander
from .follow import Follower
from .launch import LaunchCommand, Started, launch_of, machine_of
from .pieces import Lines, Place, VariableValue, WordPiece, WordText
from .program import TWO_OPTIONS, StartedProgram
from .recognise import DOTTED_SETTING, listed
from .state import LimitExceeded, State
from .syntax import Script, Unreadable

NAME = "command line"
"""Name of the text with the settings of a command line, one a line."""
_MAIN = re.compile(r"(.*[./])?(main|main_\w+|\w+_main)(\.py)?")
_COUNT = re.compile(r"(\d{1,4})")
_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_PLAIN_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_][A-Za-z0-9_.@/-]*=", re.ASCII)
_ACCELERATORS = re.compile(r"\s*[\w.-]+(?:\s*:\s*(\d{1,4}))?\s*")
_SLURM = re.compile(r"^#SBATCH[ \t]+(?:--gpus-per-node|--gres)[= \t]+(?:gpu:)?(?:[A-Za-z][\w.-]*:)?([0-9]{1,4})\b", re.MULTILINE)
_KEPT = re.compile(r"^[^#\n]*?(--entrypoint-num-gpus[= \t]+(?!0\b)[^\s\\]+)", re.MULTILINE)
_UNREACHED = "what the script does after this is not known; bash carries out what stands before it"
_LOST_NOTE = "bash takes them for a command of its own, which it does not find once the program has ended"


@dataclass(frozen=True)
class InterpretedScript:
    """Script after interpretation.

    Attributes
    ----------
    started : commands in the order of interpretation, up to the first unreadable place.
    findings : why the script could not be read to its end.
    unchecked : commands that take values from elsewhere.
    machine : what a task says of every node.
    """

    source: Source
    lines: Lines
    started: tuple[Started, ...]
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    machine: ShellMachine | None = None


@dataclass(frozen=True)
class _Start:
    """Program started by a script, and its arguments."""

    launch: LaunchCommand
    program: StartedProgram
    arguments: Arguments

    @property
    def is_configured(self) -> bool:
        """True if the command has settings or names a configuration."""
        words = self.arguments
        return bool(words.settings or words.findings) or "config-name" in words.options


def read_script(
    source: Source, environment: Mapping[str, str] | None = None, doubting: bool = False, sourced: bool = True
) -> InterpretedScript:
    """Interpret a script with some variables of the environment; nothing is executed.

    If `doubting`, conditions on further variables of the environment are unknown; if `sourced`, so
    are variables that only an uninterpreted file may set.

    As bash does, statements are carried out one by one: everything before an unreadable place was
    reached.
    """
    lines, (script, variables, machine) = Lines(source), _task(source)
    state = State(os.path.abspath(source.name), environment or {}, variables, doubting=doubting, sourced=sourced)
    follower, findings = Follower(script, state), []
    try:
        follower.whole()
    except Unreadable as problem:
        position = min(problem.position, len(script.text) - 1)
        start, end = script.origin.place(position, position + 1)
        span = lines.span((start if position == problem.position else end, end))
        code, explanation = ("PW002", "more than is read") if problem.limit else ("PW014", "this is no command that bash could read")
        help_ = "mend the script at this place"
        findings.append(error(code, "", f"{problem}: {explanation}", span, label="from here on", help=help_))
    except LimitExceeded as problem:
        message = f"following the script takes too long: {problem}"
        help_ = "give the settings without loops, or as `key=value` words"
        findings.append(error("PW002", "", message, source.whole(), help=help_))
    unchecked = []
    for place in dict.fromkeys(follower.unread):
        written = " ".join(source.text[slice(*place)].split())[:60]
        why = f"`{written}` in line {lines.number(place[0])} is not followed; what it sets is not known"
        unchecked.append(Unchecked("PW122", "", why))
    started = tuple(follower.started)
    return InterpretedScript(source, lines, started, tuple(findings), tuple(unchecked), machine)


_MODES = ((False, True), (True, True), (False, False))
"""Modes (`doubting`, `sourced`), tried in order until a program is found.

Some programs need a later mode, such as one that only the first node starts.
"""


def documents_of(source: Source, composer: Composer) -> tuple[Document, ...]:
    """Return a Document for every program with settings. Raises UnusableInput without any."""
    values = Environment.of(composer.allowed).values
    for doubting, sourced in _MODES:
        script = read_script(source, values, doubting, sourced)
        chosen = _chosen(script, composer)
        if chosen or script.findings:
            break
    if not chosen:
        raise UnusableInput(script.findings or [_nothing(script)])
    weak, notes = Severity.WARNING, (_UNREACHED,)
    findings = (replace(finding, severity=weak, notes=notes) for finding in script.findings)
    script, count = replace(script, findings=tuple(findings)), len(chosen)
    return tuple(_document(script, start, composer, number, count) for number, start in enumerate(chosen, 1))


def _chosen(script: InterpretedScript, composer: Composer) -> list[_Start]:
    """Return the programs to check: configured ones, else found ones, else those named `main`."""
    starts = [_start(launch, script, composer) for started in script.started if (launch := launch_of(started))]
    return (
        [start for start in starts if start.is_configured]
        or [start for start in starts if start.program.found is not None]
        or [start for start in starts if _MAIN.fullmatch(start.launch.program.plain)]
    )


def _nothing(script: InterpretedScript) -> Finding:
    """Build the error for a script that starts no program with settings."""
    message, place = f"`{script.source.name}` starts no program with settings", None
    help_ = "a script starts one with words such as `python3 -m MODULE key=value`"
    if script.unchecked:
        message = f"`{script.source.name}` starts no program in what could be followed: {script.unchecked[0].why}"
        return error("PW010", "", message, script.source.whole(), help="write the command in the script itself")
    for command in script.started:
        first, second = ([word.plain for word in command.words] + [""])[:2]
        name, reason = first.rpartition("/")[2], ""
        if name in ("bash", "sh", "sbatch", "source") and second and second[0] != "-":
            reason, help_ = " itself, but another script", "verify that script"
        elif re.fullmatch(r"python[0-9.]*", name) and second in ("-", "-c"):
            reason = " in a file, but a text of Python"
            help_ = "write the text into a file, or verify its settings: `placewright verify key=value ...`"
        elif re.fullmatch(r"python[0-9.]*|torchrun", name) and not command.words[-1].known:
            reason = f" that are known: {command.words[-1].why_unknown}"
            help_ = "verify the configuration that it is given"
        if reason:
            message, place = message + reason, command.place
            break
    span = script.lines.span(place) if place is not None else script.source.whole()
    return error("PW010", "", message, span, help=help_)


def _start(launch: LaunchCommand, script: InterpretedScript, composer: Composer) -> _Start:
    program = StartedProgram(script.source.name, launch, composer.roots)
    words = Arguments(script.source, script.lines, Environment.of(composer.allowed), hydra=program.is_hydra)
    words.read(launch.arguments)
    if program.takes_two_options:
        certain = program.is_seen or any(name.startswith("roll") for name in composer.frameworks)
        words.refuse_all_but(TWO_OPTIONS, launch.arguments, program.name, certain)
    path, config, folder = (words.options.get(f"config-{name}") for name in ("path", "name", "dir"))
    return _Start(launch, replace(program, path=path, config=config, folder=folder), words)


def _document(script: InterpretedScript, start: _Start, composer: Composer, number: int, count: int) -> Document:
    launch, entry, words = start.launch, start.program, start.arguments
    words.refuse_positional(entry.name)
    main = composer.library.source(entry.found.path, entry.found.name) if entry.found else None
    document = composer.started(script.source, main, words.settings, words.environment, entry.added)
    mapped = Mapped(launch.program, len(launch.program.plain), script.lines, script.source.text)
    command = script.lines.span(launch.started.place)
    lost, (machine, why) = _lost_arguments(launch, script), machine_of(launch, script.started, script.lines)
    failed = any(finding.severity is Severity.ERROR for finding in words.findings)
    program = Program(
        name=entry.name,
        span=mapped.span(0, len(launch.program.plain)),
        launcher=launch.launcher,
        config_path=words.option("config-path"),
        config_name=words.option("config-name"),
        options=_options(launch.options, words),
        command=command,
        number=number,
        count=count,
        found=main is not None,
        complete=not (lost or words.unchecked or failed),
        is_hydra=entry.is_hydra,
        machine=machine or script.machine,
        missing=entry.missing,
    )
    unchecked = list[Unchecked]()
    reasons = [why] if why else []
    if match := _KEPT.search(script.source.text):
        reasons.append(f"`{match[1]}` keeps accelerators for the command itself, which are not subtracted")
    unchecked += [Unchecked("PW122", "", reason, True, "Show the program all accelerators of its nodes") for reason in reasons]
    if condition := launch.started.condition:
        why = f"whether `{entry.name}` in line {command.line} is started is not known: {condition}"
        unchecked.append(Unchecked("PW122", "", why))

    def again(text: Source) -> Document:
        documents = documents_of(text, composer)
        return documents[min(number, len(documents)) - 1]

    findings, before = (*script.findings, *words.findings, *lost), (*script.unchecked, *words.unchecked)
    completed = _completed(document, words, program, again, findings, before)
    return replace(completed, unchecked=(*completed.unchecked, *unchecked))


def _completed(
    document: Document, words: Arguments, program: Program, again: Callable[[Source], Document],
    findings: tuple[Finding, ...], unchecked: tuple[Unchecked, ...],
) -> Document:  # fmt: skip
    """Add the program and the findings about its command to a document."""
    return replace(
        document, findings=(*findings, *document.findings), unchecked=(*unchecked, *document.unchecked),
        program=program, reasons=words.reasons, assumed=words.assumed, compose=again,
    )  # fmt: skip


def _options(words: Sequence[WordText], arguments: Arguments) -> tuple[tuple[str, str], ...]:
    """Return the options of the launcher and of the program, with their values."""
    options, rest = list[tuple[str, str]](), list(words)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.plain.partition("=")
        if name.startswith("-"):
            is_separate = not equals and rest and not rest[0].plain.startswith("-")
            options.append((name, shown(rest.pop(0) if is_separate else word.cut(len(name) + 1))))
    options += [(f"--{name}", shown(value)) for name, value in arguments.options.items()]
    return tuple(options)


# -- arguments that never reach the program, because the command ended before them


def _lost_arguments(launch: LaunchCommand, script: InterpretedScript) -> tuple[Finding, ...]:
    """Warn if the next command consists of settings, which were meant for this command."""
    end, text, lines = launch.started.place[1], script.source.text, script.lines
    following = next((command for command in script.started if command.place[0] >= end), None)
    is_setting = following is not None and DOTTED_SETTING.match(following.words[0].plain)
    if following is None or not is_setting or not _BETWEEN.fullmatch(text[end : following.place[0]]):
        return ()
    count = sum(bool(_PLAIN_SETTING.match(word.plain)) for word in following.words)
    first = text[slice(*following.place)].split()[0].split("=")[0]
    lost = f"{count} settings, from `{first}` on, never reach" if count > 1 else f"`{first}` never reaches"
    edit: Edit | None
    if place := launch.started.cut:
        begin = text.rfind("\n", 0, place[0]) + 1
        before = len(text[begin : place[0]].rstrip())  # if 0, the whole line is removed
        edit = Edit(lines.span((begin + before, place[1] if before else min(place[1] + 1, len(text)))), "")
        why, label = f"the comment in line {lines.number(place[0])} ends the command", "the command ends here"
        help_ = "move the comment out of the command"
    else:
        stop = lines.end(end)
        last = end + len(text[end:stop].rstrip())
        # a blank after the backslash has a fix in `Arguments.refuse_positional`
        escaped = re.search(r"\\[ \t]", text[text.rfind("\n", 0, end) + 1 : stop])
        edit, place = None if escaped or last > end else Edit(lines.span((end, stop)), " \\"), (last - 1, last)
        why, label = f"line {lines.number(end - 1)} does not end with a backslash", "no backslash follows"
        help_ = "end the line with a backslash"
    message, span = f"{lost} `{launch.program.plain}`: {why}", lines.span(place)
    return (warning("PW125", "", message, span, label=label, help=help_, edit=edit, notes=(_LOST_NOTE,)),)


# -- settings without a script: of a command line, of a file, or listed by Hydra


def document_of_arguments(texts: Sequence[str], composer: Composer) -> Document:
    """Build the configuration made by the settings of a command line."""
    words, position = list[WordText](), 0
    for text in texts:
        words.append(_exact(text, position))
        position += len(text) + 1
    return _of_settings(Source(NAME, "\n".join(texts)), words, composer)


def document_of_settings(source: Source, composer: Composer) -> Document:
    """Build the configuration made by a file of settings. Raises UnusableInput."""
    words = list[WordText]()
    for item in listed(source) or ():
        at = source.text.find(item.text, item.span.start, item.span.end)
        words.append(_text(item, item.text) if at < 0 else _exact(item.text, at))  # -1: it has escapes
    if not words:
        script = Script.of(source.text)
        state = State(source.name, Environment.of(composer.allowed).values)
        words = Expander(script, state).all_fields(list(script.words(0, len(source.text))))
    return _of_settings(source, words, composer)


def _exact(text: str, start: int) -> WordText:
    return WordText((WordPiece(text, ((start, start + len(text)),), True),))


def _of_settings(source: Source, words: Sequence[WordText], composer: Composer) -> Document:
    lines, environment = Lines(source), Environment.of(composer.allowed)
    arguments = Arguments(source, lines, environment, shell=False)
    arguments.read(words)
    arguments.refuse_positional("Hydra")
    document = composer.started(source, None, arguments.settings, environment)
    name, command = arguments.option("config-name"), lines.span((0, len(source.text.rstrip())))
    program = Program("", source.whole(), config_name=name, command=command, complete=source.name != NAME)

    def again(text: Source) -> Document:
        if source.name != NAME:
            return document_of_settings(text, composer)
        return document_of_arguments(text.text.split("\n"), composer)

    return _completed(document, arguments, program, again, tuple(arguments.findings), tuple(arguments.unchecked))


# -- tasks of SkyPilot


def _task(source: Source) -> tuple[Script, dict[str, VariableValue], ShellMachine | None]:
    """Return the script of a source, its preset variables, and the machine."""
    run = find(source.root, "run") if source.name.endswith((".yaml", ".yml")) else None
    if not isinstance(run, Scalar) or not isinstance(run.value, str):
        match = _SLURM.search(source.text)
        slurm = ShellMachine(int(match[1]), Lines(source).span(match.span(1))) if match else None
        return Script.of(source.text), {}, slurm
    # the head node starts the program
    variables: dict[str, VariableValue] = {"SKYPILOT_NODE_RANK": _text(run, "0")}
    for section in ("envs", "secrets"):
        values = find(source.root, section)
        for entry in values if isinstance(values, MapNode) else ():
            if isinstance(entry.value, Scalar) and entry.value.value is not None:
                variables[entry.key.text] = _text(entry.value, entry.value.text)
    nodes, machine = find(source.root, "num_nodes"), None
    if nodes is None or isinstance(nodes, Scalar):
        variables["SKYPILOT_NUM_NODES"] = _text(nodes or run, nodes.text if nodes else "1")
    accelerators, pattern = find(source.root, "resources.accelerators"), _ACCELERATORS
    if isinstance(accelerators, MapNode) and len(accelerators.entries) == 1:
        accelerators = accelerators.entries[0].value  # `{H100: 8}`
        pattern = _COUNT
    match = pattern.fullmatch(accelerators.text) if isinstance(accelerators, Scalar) else None
    if match is not None and isinstance(accelerators, Scalar):
        number = match[1] or "1"
        machine = ShellMachine(int(number), accelerators.span)
        variables["SKYPILOT_NUM_GPUS_PER_NODE"] = _text(accelerators, number)
    return _block(source, run, str(run.value)), variables, machine


def _text(value: Scalar, text: str) -> WordText:
    return WordText((WordPiece(text, (_place(value),)),))


def _place(value: Scalar) -> Place:
    return value.span.start, value.span.end


def _block(source: Source, run: Scalar, text: str) -> Script:
    """Return the text of the block, with the place of every line in the file."""
    written, pieces, (position, stop) = source.text, list[WordPiece](), _place(run)
    for line in text.splitlines(keepends=True):
        bare = line.strip("\n")
        at = written.find(bare, position, stop) if bare else position
        if at < 0:  # not written line by line
            return Script(text, _text(run, text))
        end = min(at + len(line), stop)
        pieces.append(WordPiece(line, ((at, end),), written[at:end] == line))
        position = end if bare else position
    return Script("".join(piece.text for piece in pieces), WordText(tuple(pieces)))
