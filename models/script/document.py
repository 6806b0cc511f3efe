"""Documents of a script: one configuration per started program.

Settings alone, without a script, also make a Document. A script may be the `run:` block of a
SkyPilot task, or the `entrypoint` of a RayJob. Sources: SkyPilot, the task YAML specification and
its environment variables (SKYPILOT_NUM_NODES and its kin); KubeRay, RayJobSpec.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Callable, Mapping, Sequence

from ..composition import Composer
from ..composition.places import AddedFolders
from ..findings.finding import Finding, Severity, Unchecked, UnusableInput, error, warning
from ..findings.span import Edit
from ..record import dataclass
from ..text.document import Document, Program, SettingMark, ShellMachine
from ..text.environment import Environment, taken_as_not_set
from ..text.source import Source
from ..text.tree import MapNode, Scalar, find
from .arguments import Arguments, MappedWord, line_end_of, show_text
from .follow import Follower
from .launch import LaunchCommand, StartedCommand, base, launch_of, launches_in, read_stated, script_call
from .machine import machine_of, slurm_machine
from .pieces import Place, VariableValue, WordPiece, WordText
from .program import StartedProgram, readable_folders
from .recognise import COMMAND_LINE, DOTTED_SETTING, is_task, read_list, task_script
from .state import LimitExceeded, State
from .syntax import Script, Unreadable

NAME = COMMAND_LINE
"""Name of the text with the settings of a command line, one a line."""
_MAIN = re.compile(r"(.*[./])?(main|main_\w+|\w+_main)(\.py)?")
_COUNT = re.compile(r"(\d{1,4})")
_BETWEEN = re.compile(r"(?:\s|\\\n|#[^\n]*)*")
_PLAIN_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_][A-Za-z0-9_.@/-]*=", re.ASCII)
_ACCELERATORS = re.compile(r"\s*[\w.-]+(?:\s*:\s*(\d{1,4}))?\s*")
_KEPT = re.compile(r"^[^#\n]*?((?:--entrypoint-num-gpus[= \t]+|entrypointNumGpus:[ \t]*)(?!0\b)[^\s\\]+)", re.MULTILINE)
_EDITORS = ("sed", "perl", "yq", "awk", "gawk")
_IN_PLACE = re.compile(r"-(?!-)\w*i\S*|--in-?place.*")
"""Option of these editors that writes the file that they read."""
_LINES = re.compile(r"(?:[^\r]|\r(?!\n))+")
_WINDOWS_END = re.compile(r"[\"']?[ \t]*\\?\r\n")
"""End of a word that carries the line end of Windows with it."""
_UNREACHED = "what the script does after this is not known; bash carries out the lines before it"
_LOST_NOTE = "bash takes them for a command of its own, which it does not find once the program has ended"


@dataclass(frozen=True)
class InterpretedScript:
    """Script after interpretation.

    Attributes
    ----------
    started : commands in the order of interpretation, up to the first unreadable place.
    unchecked : commands that take values from elsewhere.
    machine : what a task says of every node.
    exit_place : place of the command that certainly ends it; None if none does.
    """

    source: Source
    started: tuple[StartedCommand, ...]
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    machine: ShellMachine | None = None
    exit_place: Place | None = None


def script_started(source: Source) -> str:
    """Return the script that a command line starts; "" for any other command."""
    calls = filter(None, (script_call(command.words) for command in read_script(source).started))
    return next((call[0].plain for call in calls if call[0].known), "")


def _give(state: State, command: str) -> None:
    """Give a script the arguments and variables of its command, placed at its start."""

    def move(text: WordText) -> WordText:
        return WordText(tuple(replace(piece, frames=((0, 0),), exact=False) for piece in text.pieces))

    inner = next((inner for inner in read_script(Source(NAME, command)).started if script_call(inner.words)), None)
    if inner is not None:
        state.call([*map(move, script_call(inner.words)[1:])])
        variables = {**inner.variables, **read_stated(inner.words)}  # of `N=2 bash FILE` and of `env N=2 bash FILE`
        state.variables |= {name: move(text) for name, text in variables.items()}
        state.exported |= variables.keys()


def read_script(
    source: Source, environment: Mapping[str, str] | None = None, doubting: bool = False, command: str = "",
    readable: tuple[str, ...] = (), vendors: frozenset[str] = frozenset(),
) -> InterpretedScript:  # fmt: skip
    """Interpret a script with some variables of the environment; nothing is executed.

    `command` is the command line that starts it; without one, it has no arguments. Files that it
    sources are read in the folders `readable`. What it asks of the machine is known from `vendors`.

    If `doubting`, conditions on further variables of the environment are unknown.

    As bash does, statements are carried out one by one: everything before an unreadable place was
    reached.
    """
    script, variables, machine = _task(source)
    path, environment_names = os.path.abspath(source.name), {*variables}
    state = State(
        path, environment or {}, {"@": [], **variables}, exported=environment_names, doubting=doubting, readable=readable, vendors=vendors
    )
    if command:
        _give(state, command)
    follower, findings = Follower(script, state), []
    try:
        follower.statements(script.root.children)
    except Unreadable as problem:
        position = min(problem.position, len(script.text) - 1)
        start, end = script.origin.place(position, position + 1)
        span = source.span(start if position == problem.position else end, end)
        code, explanation = ("PW002", "more than is read") if problem.limit else ("PW014", "this is not a command that bash could read")
        help_ = "simplify the script" if problem.limit else "fix the script at this place"
        findings.append(error(code, "", f"{problem}: {explanation}", span, label="from here on", help=help_))
    except LimitExceeded as problem:
        message = f"following the script takes too long: {problem}"
        help_ = "give the settings without loops, or as `key=value` words"
        findings.append(error("PW002", "", message, source.whole(), help=help_))
    gaps = []
    for start, end in dict.fromkeys(follower.unread):
        source_text, line = " ".join(source.text[start:end].split())[:60], source.span(start, end).line
        gaps.append(Unchecked("PW122", "", f"`{source_text}` in line {line} is not followed; what it sets is not known"))
    exit_place = follower.exit_place if follower.state.ended == "exit" else None
    return InterpretedScript(source, tuple(follower.started), tuple(findings), tuple(gaps), machine, exit_place)


def documents_of(source: Source, composer: Composer) -> tuple[Document, ...]:
    """Return a Document for every program with settings. Raises UnusableInput without any.

    A script without any is read again, `doubting`: some nodes alone may start one.
    """
    values, readable = Environment.of(composer.allowed).values, readable_folders(source, composer).roots
    for doubting in (False, True):
        script = read_script(source, values, doubting, composer.command, readable, composer.vendors)
        programs = _choose_programs(script, composer)
        if programs or script.findings:
            break
    if not programs:
        raise UnusableInput(script.findings or [_report_no_program(script)])
    findings = (replace(finding, severity=Severity.WARNING, notes=(_UNREACHED,)) for finding in script.findings)
    script = replace(script, findings=tuple(findings))
    return tuple(_document(script, program, number, len(programs)) for number, program in enumerate(programs, 1))


def _choose_programs(script: InterpretedScript, composer: Composer) -> list[StartedProgram]:
    """Return the programs to check: configured ones, else found ones, else those named `main`."""
    launches = [launch for command in script.started if (launch := launch_of(command))]
    last_launches = {(launch.started.place, launch.name, launch.arguments): launch for launch in reversed(launches)}
    programs = [StartedProgram(script.source, launch, composer, _find_edits(script, launch)) for launch in reversed(last_launches.values())]
    return (
        [program for program in programs if program.is_configured]
        or [program for program in programs if program.found is not None]
        or [program for program in programs if _MAIN.fullmatch(program.launch.program.plain)]
    )


def _find_edits(script: InterpretedScript, launch: LaunchCommand) -> dict[str, str]:
    """Return path -> command that edits this file in place before a program starts."""
    edits = dict[str, str]()
    for command in script.started:
        verb, words = base(command.words[0].plain), command.words[1:]
        if command.place[0] < launch.started.place[0] and verb in _EDITORS and any(_IN_PLACE.fullmatch(word.plain) for word in words):
            edits |= {word.path: f"`{verb}` in line {script.source.span(*command.place).line}" for word in words if word.path}
    return edits


def _report_no_program(script: InterpretedScript) -> Finding:
    source, span, label = script.source, script.source.whole(), ""
    message = f"`{source.name}` starts no program"
    if script.exit_place is not None and launches_in(source.text[script.exit_place[1] :]):
        span, label = source.span(*script.exit_place), "the script ends here"
        message = f"`{source.name}` ends in line {span.line}, before it starts a program with settings"
        return error("PW010", "", message, span, label=label, help="give the script what this line checks, or take the line out")
    if script.unchecked:
        message += f" in what could be followed: {script.unchecked[0].why}"
        return error("PW010", "", message, span, help="write the command in the script itself")
    for command in script.started:
        (first, *more), last = (word.plain for word in command.words), command.words[-1]
        name, second, reason = base(first), more[0] if more else "", ""
        is_program = re.fullmatch(r"python[0-9.]*|torchrun", name)
        if name in ("bash", "sh", "sbatch", "source") and second and second[0] != "-":
            reason, help_ = "itself, but another script", "verify that script"
        elif is_program and name != "torchrun" and second in ("-", "-c"):
            reason = "in a file, but a text of Python"
            help_ = "write the text into a file, or verify its settings: `placewright verify key=value ...`"
        elif is_program and not (last.known or last.path.endswith(".py")):
            reason, help_ = f"that are known: {last.why_unknown}", "verify the configuration that it is given"
        elif DOTTED_SETTING.match(first) and (variable := re.match(r"\W*\$\{?(\w+)", source.text[slice(*command.place)])):
            reason, help_ = f"as `{variable[1]}` is not set", f"set `{variable[1]}` in the script, or pass `--allow-env {variable[1]}`"
        if reason:
            return error("PW010", "", f"{message} with settings {reason}", source.span(*command.place), help=help_)
    return error("PW010", "", f"{message} with settings", span, help="a script starts one with words such as `python3 -m MODULE key=value`")


def _document(script: InterpretedScript, program_start: StartedProgram, number: int, count: int) -> Document:
    source, launch, composer, words = script.source, program_start.launch, program_start.composer, program_start.arguments
    words.refuse_positional(program_start.name)
    command, lost_findings = source.span(*launch.started.place), (*_check_program_name(program_start), *_lost_arguments(launch, script))
    machine, why = machine_of(launch, script.started, source)
    has_error = any(finding.severity is Severity.ERROR for finding in words.findings)
    program = Program(
        name=program_start.name,
        span=MappedWord(launch.program, source).whole,
        launcher=launch.launcher,
        options=_options(launch.options, words),
        command=command,
        number=number,
        count=count,
        found=program_start.found is not None,
        complete=not (words.unchecked or has_error),
        is_hydra=program_start.is_hydra,
        is_known=program_start.is_known,
        machine=machine or script.machine,
        missing=program_start.missing,
        is_open=program_start.is_open,
    )
    gaps = [_unset(name, launch.started.needs_all) for name in sorted(launch.started.dropped)]
    reservation = _KEPT.search(source.text)
    for reason in (why, reservation and f"`{reservation[1]}` keeps accelerators for the command itself, which are not subtracted"):
        gaps += [Unchecked("PW122", "", reason, True, "Show the program all accelerators of its nodes")] if reason else []
    if not program_start.is_hydra and any(setting.kind is SettingMark.FORCE and setting.text[:2] != "++" for setting in words.settings):
        why = f"how `{program_start.name}` reads its settings is not known here, so whether it has their keys was not checked"
        gaps.append(Unchecked("PW104", "", why))
    places = [piece.frames[-1] for word in launch.started.words for piece in word.pieces if len(piece.frames) > 1]
    for place in launch.started.unread_files:
        if any(end <= place[0] < launch.started.place[0] for _, end in places):
            why = f"`{' '.join(source.text[slice(*place)].split())[:60]}` may set again what the settings use"
            gaps.append(Unchecked("PW122", "", why, True, "Name its folder with `--config-root DIR`, or set the values after it"))
            break
    for path, editor in program_start.edits.items():
        if f"/{os.path.dirname(program_start.file)}/config/" in f"/{path}" and path.endswith((".yaml", ".yml")):
            why = f"{editor} changes `{path[-60:]}`, which `{program_start.name}` reads"
            gaps.append(Unchecked("PW122", "", why, True, "Write the change as a setting of the command"))
    if folder := program_start.misplaced_folder:
        why = f"Hydra looks for `{folder}` beside the file of `{program_start.name}`, not beside the script"
        gaps.append(Unchecked("PW013", "", why, True, f"Write `--config-path=$PWD/{folder}`"))
    if condition := launch.started.condition:
        gaps.append(Unchecked("PW122", "", f"whether `{program_start.name}` in line {command.line} is started is not known: {condition}"))

    def again(source_text: Source) -> Document:
        documents = documents_of(source_text, composer)
        return documents[min(number, len(documents)) - 1]

    main, main_path = program_start.written, program_start.found
    if main is not None:
        composer.library.parts.pop(main.name, None)  # of another text of the script
    elif main_path is not None:
        main = composer.library.source(main_path.path, main_path.name)
    document = _compose_command(source, words, program, composer, again, main, program_start.added)
    findings = (*script.findings, *_line_ends(launch, source), *words.findings, *lost_findings, *document.findings)
    return replace(document, findings=findings, unchecked=(*script.unchecked, *words.unchecked, *document.unchecked, *gaps))


def _line_ends(launch: LaunchCommand, source: Source) -> tuple[Finding, ...]:
    """Report Windows line ends: an error if one reaches the words of the program.

    YAML reads them as those of Unix, also in the script of a task.
    """
    text, start = source.text, source.text.find("\r\n")
    if start < 0 or is_task(source):
        return ()
    places = (place for word in launch.started.words for piece in word.pieces for place in piece.frames)
    ends = [match for _, end in places if (match := _WINDOWS_END.match(text, end))]
    span = source.span(*min(match.span() for match in ends)) if ends else source.span(start, start + 2)
    edit = Edit(source.span(start, len(text)), text[start:].replace("\r\n", "\n"))
    message = "the lines end as on Windows: bash takes the carriage return as a part of the word before it"
    judge, label = (error, "a carriage return") if ends else (warning, "the first")
    return (judge("PW012", "", message, span, label=label, help=f"run `dos2unix {os.path.basename(source.name)}`", edit=edit),)


def _check_program_name(program_start: StartedProgram) -> tuple[Finding, ...]:
    """Report a file after `-m`, or a module without it: Python finds neither."""
    launch, name = program_start.launch, program_start.launch.program.plain
    words, module = launch.started.words, name.removesuffix(".py").strip("./").replace("/", ".")
    before = next((base(word.plain) for word, following in zip(words, words[1:]) if following is launch.program), "")
    is_module, is_file = (re.fullmatch(pattern, before) for pattern in (r"--module|-\w*m", r"python[0-9.]*|-\w"))
    name_that_python_finds, noun = (module, "module") if is_module else (f"-m {name}", "file")
    if not launch.program.certain or (module == name if is_module else module != name or not (is_file and program_start.is_known)):
        return ()
    message, span = f"Python finds no {noun} `{name[-60:]}`, so nothing starts", MappedWord(launch.program, program_start.source).whole
    return (error("PW123", "", message, span, help=f"write `{name_that_python_finds}`"),)


def _unset(name: str, must_be_set: bool) -> Unchecked:
    """Build the note on a variable that is not set where its words would stand."""
    if not must_be_set:
        return taken_as_not_set(name, "it adds no setting")
    why = f"`{name}` is not set, and `set -u` ends the script without it: which settings it adds is not known"
    return Unchecked("PW122", "", why, True, f"Pass `--allow-env {name}`, or write its settings in the script")


def _compose_command(
    source: Source, words: Arguments, program: Program, composer: Composer, compose: Callable[[Source], Document],
    main: Source | None = None, additions: AddedFolders | None = None,
) -> Document:  # fmt: skip
    program = replace(program, config_path=words.option("config-path"), config_name=words.option("config-name"))
    document = composer.compose_program(source, main, words.settings, words.environment, additions)
    return replace(document, program=program, reasons=words.reasons, assumed=words.assumed, compose=compose)


def _options(words: Sequence[WordText], arguments: Arguments) -> tuple[tuple[str, str], ...]:
    """Return the options of the launcher and of the program, with their values."""
    options, rest = list[tuple[str, str]](), list(words)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.plain.partition("=")
        if name.startswith("-"):
            is_separate = not equals and rest and not rest[0].plain.startswith("-")
            options.append((name, show_text(rest.pop(0) if is_separate else word.cut(len(name) + 1))))
    options += [(f"--{name}", show_text(value)) for name, value in arguments.options.items()]
    return tuple(options)


# -- arguments that never reach the program, because the command ended before them


def _lost_arguments(launch: LaunchCommand, script: InterpretedScript) -> tuple[Finding, ...]:
    """Warn if the next command consists of settings, which were meant for this command."""
    end, text, source = launch.started.place[1], script.source.text, script.source
    following = next((command for command in script.started if command.place[0] >= end), None)
    is_setting = following is not None and DOTTED_SETTING.match(following.words[0].plain)
    if following is None or not is_setting or not _BETWEEN.fullmatch(text[end : following.place[0]]):
        return ()
    count = sum(bool(_PLAIN_SETTING.match(word.plain)) for word in following.words)
    first = text[slice(*following.place)].split()[0].split("=")[0]
    subject = f"{count} settings, from `{first}` on, never reach" if count > 1 else f"`{first}` never reaches"
    edit: Edit | None
    if place := launch.started.cut:
        begin = text.rfind("\n", 0, place[0]) + 1
        before = len(text[begin : place[0]].rstrip())  # if 0, the whole line is removed
        edit = Edit(source.span(begin + before, place[1] if before else min(place[1] + 1, len(text))), "")
        why, label = f"the comment in line {source.span(*place).line} ends the command", "the command ends here"
        help_ = "move the comment out of the command"
    else:
        stop = line_end_of(text, end)
        last = end + len(text[end:stop].rstrip())
        # a blank after the backslash has a fix in `Arguments.refuse_positional`
        blank_escape = re.search(r"\\[ \t]", text[text.rfind("\n", 0, end) + 1 : stop])
        edit, place = None if blank_escape or last > end else Edit(source.span(end, stop), " \\"), (last - 1, last)
        why, label = f"line {source.span(end - 1, end).line} does not end with a backslash", "no backslash follows"
        help_ = "end the line with a backslash"
    message, span = f"{subject} `{launch.program.plain}`", source.span(*place)
    return (warning("PW125", "", message, span, label=label, help=help_, edit=edit, notes=(why, _LOST_NOTE)),)


# -- settings without a script: of a command line, of a file, or listed by Hydra


def document_of_arguments(texts: Sequence[str], composer: Composer) -> Document:
    """Build the configuration made by the settings of a command line."""
    words, position = list[WordText](), 0
    for text in texts:
        words.append(WordText.of(text, (position, position + len(text)), exact=True))
        position += len(text) + 1
    compose = lambda text: document_of_arguments(text.text.split("\n"), composer)  # noqa: E731
    return _of_settings(Source(NAME, "\n".join(texts)), words, composer, compose)


def document_of_settings(source: Source, composer: Composer) -> Document:
    """Build the configuration made by a file of settings. Raises UnusableInput."""
    words = list[WordText]()
    for item in read_list(source) or ():
        at = source.text.find(item.text, item.span.start, item.span.end)
        place = (at, at + len(item.text))
        words.append(_text(item, item.text) if at < 0 else WordText.of(item.text, place, exact=True))  # -1: it has escapes
    if not words:
        script = _script_of(source)
        state = State(source.name, Environment.of(composer.allowed).values)
        words = Follower(script, state).fields(script.words(0, len(script.text)))
    return _of_settings(source, words, composer, lambda text: document_of_settings(text, composer))


def _of_settings(source: Source, words: Sequence[WordText], composer: Composer, compose: Callable[[Source], Document]) -> Document:
    arguments = Arguments(source, Environment.of(composer.allowed), shell=False)
    arguments.read(words)
    arguments.refuse_positional("Hydra")
    command = source.span(0, len(source.text.rstrip()))
    program = Program("", source.whole(), command=command, complete=source.name != NAME)
    document = _compose_command(source, arguments, program, composer, compose)
    findings, gaps = (*arguments.findings, *document.findings), (*arguments.unchecked, *document.unchecked)
    return replace(document, findings=findings, unchecked=gaps)


# -- tasks of SkyPilot and Ray


def _script_of(source: Source) -> Script:
    """Return a text as a script with the line ends of Unix."""
    if "\r\n" not in source.text:
        return Script.of(source.text)
    lines = tuple(WordPiece(match[0], (match.span(),), True) for match in _LINES.finditer(source.text))
    return Script("".join(line.text for line in lines), WordText(lines))


def _task(source: Source) -> tuple[Script, dict[str, VariableValue], ShellMachine | None]:
    """Return the script of a source, its preset variables, and the machine."""
    run = task_script(source)
    if run is None:
        return _script_of(source), {}, slurm_machine(source)
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
    return WordText.of(text, (value.span.start, value.span.end))


def _block(source: Source, run: Scalar, text: str) -> Script:
    """Return the text of the block, with the place of every line in the file."""
    source_text, pieces, (position, stop) = source.text, list[WordPiece](), (run.span.start, run.span.end)
    for line in text.splitlines(keepends=True):
        bare = line.strip("\n")
        at = source_text.find(bare, position, stop) if bare else position
        if at < 0:  # not written line by line
            return Script(text, _text(run, text))
        end = min(at + len(line), stop)
        pieces.append(WordPiece(line, ((at, end),), source_text[at:end] == line))
        position = end if bare else position
    return Script("".join(piece.text for piece in pieces), WordText(tuple(pieces)))
