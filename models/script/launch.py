"""Commands that start a Python program: launcher, program and arguments."""

from __future__ import annotations

import re
from dataclasses import field, replace
from itertools import takewhile
from typing import Callable, Mapping, Sequence

from ..record import dataclass
from . import facts
from .pieces import Place, WordText, join

_PYTHON = re.compile(r"(?:.*/)?(?:python|python[23](?:\.[0-9]+)?|pypy3?)")
_TORCHRUN = re.compile(r"(?:.*/)?(?:torchrun|accelerate|deepspeed)")
_INTERPRETER = re.compile(f"{_PYTHON.pattern}|{_TORCHRUN.pattern}")
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh")
_FACTS = facts("launchers")
_WITH_VALUE: Mapping[str, Sequence[str]] = _FACTS["options_with_value"]
_LAUNCHING = re.compile(r"(?:.*[./])?(?:\w*launch\w*|\w*runner|run|start)(?:\.py)?|cProfile|coverage|debugpy|memray|pdb|scalene|viztracer")
_JOINED = re.compile(r"-m[A-Za-z_]")
_MARK = re.compile(r"(?<!\S)(?:-I ?(\S+)|(?:-i|--replace=?)(\S*))")
"""Options of `xargs` that name a mark. Source: the manual of GNU xargs."""
_EXPANDED = re.compile(r"\$[\w{(@*#?!$-]|[`;&|<>()]")
"""Signs with a meaning for the shell of `ray job submit`. Source: Ray, dashboard/modules/job/cli.py."""
_PROGRAM = re.compile(r"[\w/.-]+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){2,}")


@dataclass(frozen=True, slots=True)
class StartedCommand:
    """Command started by the script.

    Attributes
    ----------
    cut : comment that ends the command although the line before continues.
    condition : why it is unknown whether the command is reached; "" if it is reached.
    variables : variables of the command's environment that the script sets.
    folder : working folder; "" if unknown.
    dropped : environment variables assumed unset, with no word in their place.
    needs_all : True if the script ends at a variable that is not set.
    within : words of the command that starts the shell of the command, such as ``docker run``.
    unread_files : places of files sourced before it that are not read.
    written : path -> text of the files that the script itself writes before.
    """

    words: tuple[WordText, ...]
    place: Place
    cut: Place | None = None
    condition: str = ""
    variables: Mapping[str, WordText] = field(default_factory=dict)
    folder: str = ""
    dropped: frozenset[str] = frozenset()
    needs_all: bool = False
    within: tuple[WordText, ...] = ()
    unread_files: tuple[Place, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """Python program started by a command.

    Attributes
    ----------
    program : word that names the module or file.
    launcher : starter other than Python itself, such as ``ray job submit``; else "".
    options : words between the launcher and the program.
    """

    started: StartedCommand
    program: WordText
    launcher: str
    options: tuple[WordText, ...]
    arguments: tuple[WordText, ...]

    @property
    def name(self) -> str:
        """Module or file; the known end of the path if the folder is unknown."""
        is_known = self.program.known and not self.program.unset
        return self.program.plain if is_known else self.program.path


def launch_of(command: StartedCommand) -> LaunchCommand | None:
    """Return the program that a command starts, or None."""
    words = command.words
    for at, (word, following) in enumerate(zip(words, words[1:]), 1):
        if _PYTHON.fullmatch(word.plain) and _JOINED.match(following.plain):  # `python -mMODULE`
            words = (*words[:at], following.cut(0, 2), following.cut(2), *words[at + 1 :])
            break
    python = _interpreter(words)
    if python is None:
        return _parse_submission(command) or _parse_wrapped(command)
    word, before = words[python], [base(word.plain) for word in words[:python]]
    launcher, start, is_torchrun = "", python + 1, word.known and _TORCHRUN.fullmatch(word.plain) is not None
    if not word.known and words[start].plain[:2] == "--":  # options that Python does not have
        launcher, is_torchrun = "torchrun", True
    if before and words[0].known:  # with its subcommands, such as `ray job submit`
        subcommands = before[1:3] if before[0] in _FACTS["with_subcommands"] else ()
        launcher, start = " ".join([before[0], *takewhile(str.isalpha, subcommands)]), 0
    elif word.known and not _PYTHON.fullmatch(word.plain):
        launcher = base(word.plain)
    position = _program(words, python + 1, is_torchrun)
    if position is not None and words[position].plain in _FACTS["as_torchrun"]:
        launcher, start = "torchrun", position + 1
        position = _program(words, start, True)
    if position is None:
        return None
    inner = _find_program(words, position)
    if inner is not None:
        launcher, position = launcher or words[position].plain, inner
    program, arguments = words[position], words[position + 1 :]
    if program.secret or not (program.known or program.path.endswith(".py")):
        return None
    arguments = _with_input(words[:python], arguments, command.place[1])
    if launcher == "ray job submit":  # to one more shell; single quotes vanish, which Hydra does not mind
        signs = ((word, _EXPANDED.search(word.plain) if word.known else None) for word in arguments)
        why = "`ray job submit` gives it to a shell again"
        arguments = tuple(_unknown_from(word, sign.start() if sign else -1, why) for word, sign in signs)
    options = tuple(word for word in words[start:position] if word.plain != "-m")
    return LaunchCommand(command, program, launcher, options, arguments)


def _unknown_from(word: WordText, at: int, why: str) -> WordText:
    """Return a word that is unknown from an offset on."""
    return word if at < 0 else join([word.cut(0, at), WordText.unknown(word.plain[at:], word.place(at), why)])


def _with_input(before: Sequence[WordText], arguments: Sequence[WordText], end: int) -> tuple[WordText, ...]:
    """Return arguments, unknown from where an `xargs` before them fills them in."""
    names, why = [base(word.plain) for word in before], "`xargs` reads it when the script runs"
    if "xargs" not in names:
        return (*arguments,)
    marks = [match[1] or match[2] or "{}" for match in _MARK.finditer(" ".join(names[names.index("xargs") + 1 :]))]
    if not marks:
        return (*arguments, WordText.unknown("xargs", (end - 1, end), why))
    return tuple(_unknown_from(word, word.plain.find(marks[-1]), why) for word in arguments)


def _find_program(words: Sequence[WordText], position: int) -> int | None:
    """Return the index of the program that a launching module starts, before its first setting."""
    if not _LAUNCHING.fullmatch(words[position].plain):
        return None
    for at in range(position + 1, len(words)):
        plain, before = words[at].plain, words[at - 1].plain
        if before in ("-m", "--module") or (_PROGRAM.fullmatch(plain) and (at == position + 1 or before[:1] != "-")):
            return at
        if plain[:1] != "-" and "=" in plain:
            break
    return None


def find_option(words: Sequence[WordText], *names: str) -> tuple[WordText, WordText] | None:
    """Return the first word `NAME=VALUE` or `NAME`, and the value; None without any."""
    for word, following in zip(words, [*words[1:], WordText()]):
        name, equals, _ = word.plain.partition("=")
        if name in names:
            return word, word.cut(len(name) + 1) if equals else following
    return None


def base(path: str) -> str:
    """Return the last part of a path."""
    return path.rpartition("/")[2]


def _parse_submission(command: StartedCommand) -> LaunchCommand | None:
    """Parse `CLIENT run --entry=FILE.py --user_params="ARGUMENTS"`, used by scripts of ROLL."""
    entry, params = find_option(command.words, "--entry"), find_option(command.words, "--user_params")
    if entry is None or params is None or not entry[1].plain.endswith(".py"):
        return None
    arguments = tuple(params[1].cut(*match.span()) for match in re.finditer(r"\S+", params[1].plain))
    return LaunchCommand(command, entry[1], command.words[0].plain, (), arguments)


def _parse_wrapped(command: StartedCommand) -> LaunchCommand | None:
    """Parse `WORDS python -m MODULE ...` whose first word is not a known launcher."""
    words = command.words
    if base(words[0].plain) in _FACTS["speaking"]:
        return None
    for at, (word, following) in enumerate(zip(words, words[1:])):
        if at and word.known and _PYTHON.fullmatch(word.plain) and following.plain in ("-m", "-u"):
            why = command.condition or f"it depends on `{words[0].plain[:40]}`"
            launch = launch_of(replace(command, words=words[at:], condition=why))
            return launch and replace(launch, launcher=words[0].plain, options=words[1:at])
    return None


def _interpreter(words: Sequence[WordText]) -> int | None:
    python, plain = _find_starting(words, _INTERPRETER), [word.plain for word in words]
    at = next((at for at, word in enumerate(words) if not word.certain), None)
    if python is None and at is not None and (not at or base(plain[0]) in _FACTS["starters"]):  # `$PYTHON -u -m module`
        at += sum(1 for _ in takewhile(lambda word: not word.certain, words[at + 1 :]))
        for option, value in zip(["", *plain[at + 1 :]], plain[at + 1 : -1]):
            if value == "-m" or value.endswith(".py"):
                return at
            if value[:1] != "-" and option[:2] != "--" and option not in _WITH_VALUE["python"]:
                break
    if python is None and base(plain[0]) in ("uv", "coverage") and plain[1:2] == ["run"]:
        file = _program(words, 2)  # `uv run file.py`: no interpreter is named
        is_module = file is not None and plain[file - 1] == "-m"
        python = file - 1 - is_module if file is not None and (is_module or plain[file].endswith(".py")) else None
    return python


def _find_starting(words: Sequence[WordText], pattern: re.Pattern[str]) -> int | None:
    """Return the index of an interpreter, alone or behind known starters."""
    at = next((at for at, word in enumerate(words) if word.known and not word.secret and pattern.fullmatch(word.plain)), None)
    return at if not at or base(words[0].plain) in _FACTS["starters"] else None


def _program(words: Sequence[WordText], position: int, is_torchrun: bool = False) -> int | None:
    """Return the index of the module after `-m`, or of the file."""
    while position < len(words):
        plain = words[position].plain
        if plain == "-m" or (is_torchrun and plain == "--module"):
            return position + 1 if position + 1 < len(words) else None
        is_file = plain.endswith(".py") or words[position].path.endswith(".py") if is_torchrun else not plain.startswith("-")
        if is_file:
            return position
        if plain in ("-", "-c") and not is_torchrun:  # inline code
            return None
        position += 2 if plain in _WITH_VALUE["python"] and not is_torchrun else 1
    return None


def shell_call(words: Sequence[WordText]) -> tuple[int, int, bool] | None:
    """Return the indices of a shell and of its text, and True after `-c`.

    The index is that of `-s` or the number of words if the shell reads its input; None without a
    shell.
    """
    shell = _find_starting(words, _SHELL)
    if shell is None:
        return None
    at = shell + 1
    while at < len(words) and words[at].plain[:1] == "-" and words[at].plain != "-s":
        flags = words[at].plain
        at += 2 if flags[1:2] != "-" and flags[-1] in "oO" else 1  # `-euo pipefail`
        if flags[1:2] != "-" and "c" in flags and at < len(words):
            return shell, at, True
    return shell, at, False


def script_call(words: Sequence[WordText]) -> Sequence[WordText]:
    """Return the words `FILE ARGUMENTS` of a command such as `env A=b bash FILE ARGUMENTS`."""
    _, at, is_text = shell_call(words) or (0, 0, True)
    return () if is_text or (words[at:][:1] and words[at].plain == "-s") else words[at:]


def launches_in(text: str) -> bool:
    """Return True if a text seems to hold a command that starts a program."""
    return re.search(r"\b(?:python[0-9.]*|torchrun)\s+\S", text) is not None


def inherit(words: Sequence[WordText]) -> tuple[bool, str]:
    """Return True if a command passes its variables on, and why they are unknown."""
    name = next((name for word in words if (name := base(word.plain)) in _FACTS["own_environment"]), "")
    name = name or next((word.plain for word in words if base(words[0].plain) == "env" and word.plain in ("-i", "-u", "-")), "")
    return not name, f"it is what it is where `{name}` runs it"


def read_stated(words: Sequence[WordText]) -> dict[str, WordText]:
    """Return the variables of the words `NAME=value` before a program, as in `env NAME=value`."""
    before = takewhile(lambda word: not (_SHELL.fullmatch(word.plain) or _INTERPRETER.fullmatch(word.plain)), words)
    pairs = ((word.plain.partition("=")[0], word) for word in before)
    return {name: word.cut(len(name) + 1) for name, word in pairs if name.isidentifier() and name != word.plain}


def nested_text(
    words: Sequence[WordText], stdin: WordText | None, find_written: Callable[[WordText], WordText | None]
) -> tuple[WordText, Sequence[WordText]] | None:
    """Return text and arguments of a shell command.

    It is `bash -c TEXT`, `sbatch --wrap TEXT`, or the input or a file that the script has `find_written`.
    """
    if (text := find_written(words[0])) is not None:
        return text, words[1:]
    if base(words[0].plain) in _FACTS["batch"]:
        if wrap_option := find_option(words, "--wrap"):
            return wrap_option[1], ()
        texts = ((text, words[at:]) for at, word in enumerate(words[1:], 2) if (text := find_written(word)) is not None)
        return next(texts, (stdin, ()) if stdin is not None else None)
    name = base(words[0].plain)
    if name == "ssh":
        rest = [*words[1:]]
        while rest and rest[0].plain.startswith("-"):
            rest = rest[2 if rest[0].plain in _WITH_VALUE["ssh"] else 1 :]
        text = join(rest[1:], " ", rest[1].place()) if len(rest) > 1 else stdin
        return (text, ()) if text is not None else None
    if (call := shell_call(words)) is not None:
        _, at, is_text = call
        if is_text:
            text, *arguments = _with_input(words[:at], words[at:], words[-1].place()[1])
            return text, arguments[1:]
        text = find_written(words[at]) if at < len(words) and words[at].plain != "-s" else stdin
        at += [word.plain for word in words[at : at + 2]] == ["-s", "--"]
        return (text, words[at + 1 :]) if text is not None else None
    if name in _FACTS["remote"] and len(words) > 2:  # a whole command as a word
        candidates = (("".join("_" if piece.unknown else piece.text for piece in word.pieces), word) for word in words[1:])
        return next(((word, ()) for text, word in candidates if launches_in(text)), None)
    return None
