"""Commands that start a Python program: launcher, program, arguments, and Ray's resources."""

from __future__ import annotations

import re
from dataclasses import field, replace
from itertools import takewhile
from typing import Callable, Mapping, Sequence

from ..findings.span import Span
from ..record import dataclass
from ..text.document import ShellMachine
from ..text.source import Source
from . import facts
from .pieces import Place, WordText, joined

_PYTHON = re.compile(r"(?:.*/)?(?:python|python[23](?:\.[0-9]+)?|pypy3?)")
_TORCHRUN = re.compile(r"(?:.*/)?(?:torchrun|accelerate|deepspeed)")
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh")
_FACTS = facts("launchers")
_LAUNCHING = re.compile(r"(?:.*[./])?(?:\w*launch\w*|\w*runner|run|start)(?:\.py)?|cProfile|coverage|debugpy|memray|pdb|scalene|viztracer")
_PROGRAM = re.compile(r"[\w/.-]+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){2,}")
_Number = tuple["int | None", "Place | None"]
_EMPTIED = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Variables that show PyTorch nothing if an accelerator is named twice.

Source: PyTorch, torch/cuda/__init__.py (_parse_visible_devices).
"""
VISIBLE = (
    "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
)  # fmt: skip
"""Variables that name the accelerators visible to a program."""
_MARK = re.compile(r"-I ?(\S+)|(?:-i|--replace=?)(\S*)")
"""Options of `xargs` that name a mark. Source: the manual of GNU xargs."""
_DEVICE = re.compile(r"[0-9]+(?:[ -].*)?|(?:GPU|MIG)-[\w/-]+")
"""Item of a visibility variable; CUDA and PyTorch read `0-7` and `0 1` as accelerator 0."""


@dataclass(frozen=True, slots=True)
class Started:
    """Command started by the script.

    Attributes
    ----------
    words : expanded words.
    place : place of the command.
    cut : comment that ends the command although the line before continues.
    condition : why it is unknown whether the command is reached; "" if it is reached.
    variables : variables of the command's environment that the script sets.
    folder : working folder; "" if unknown.
    dropped : environment variables assumed unset, with no word in their place.
    needs_all : True if the script ends at a variable that is not set.
    within : words of the command that starts the shell of the command, such as ``docker run``.
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


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """Python program started by a command.

    Attributes
    ----------
    program : word that names the module or file.
    launcher : starter other than Python itself, such as ``ray job submit``; else "".
    options : words between the launcher and the program.
    arguments : words after the program.
    """

    started: Started
    program: WordText
    launcher: str
    options: tuple[WordText, ...]
    arguments: tuple[WordText, ...]

    @property
    def name(self) -> str:
        """Module or file; the known end of the path if the folder is unknown."""
        known = self.program.known and not self.program.unset
        return self.program.plain if known else self.program.path


def launch_of(started: Started) -> LaunchCommand | None:
    """Return the program that a command starts, or None."""
    words = started.words
    python = _interpreter(words)
    if python is None:
        return _submitted(started) or _behind(started)
    word, before = words[python], [_base(word.plain) for word in words[:python]]
    launcher, start, is_torchrun = "", python + 1, word.known and _TORCHRUN.fullmatch(word.plain) is not None
    if before and words[0].known:
        launcher, start = _launcher(before), 0
    elif word.known and not _PYTHON.fullmatch(word.plain):
        launcher = _base(word.plain)
    position = _program(words, python + 1, is_torchrun)
    if position is not None and words[position].plain in _FACTS["as_torchrun"]:
        launcher, start = "torchrun", position + 1
        position = _program(words, start, True)
    if position is None:
        return None
    inner = _launched(words, position)
    if inner is not None:
        launcher, position = launcher or words[position].plain, inner
    program, arguments = words[position], words[position + 1 :]
    if program.secret or not (program.known or program.path.endswith(".py")):
        return None
    if "xargs" in before:
        arguments = _with_input(words[before.index("xargs") + 1 : python], arguments, started.place[1])
    options = tuple(word for word in words[start:position] if word.plain != "-m")
    return LaunchCommand(started, program, launcher, options, arguments)


def _with_input(options: Sequence[WordText], arguments: Sequence[WordText], end: int) -> tuple[WordText, ...]:
    """Add the unknown words of `xargs`: at the marks of `-I`, else at the end."""
    why, plain = "`xargs` reads it when the script runs", [word.plain for word in options]
    marks = [match[1] or match[2] or "{}" for match in map(_MARK.match, [*map(" ".join, zip(plain, [*plain[1:], ""]))]) if match]
    if not marks:
        return (*arguments, WordText.unknown("xargs", (end - 1, end), why))
    mark, replaced = marks[-1], list[WordText]()
    for word in arguments:
        start, _, after = word.plain.partition(mark)
        size = len(start)
        parts = (word.cut(0, size), WordText.unknown(mark, word.place(size), why), word.cut(size + len(mark)) if after else WordText())
        replaced.append(joined(parts, place=word.place()) if mark in word.plain else word)
    return tuple(replaced)


def _launched(words: Sequence[WordText], position: int) -> int | None:
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


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _submitted(started: Started) -> LaunchCommand | None:
    """Parse `CLIENT run --entry=FILE.py --user_params="ARGUMENTS"`, used by scripts of ROLL."""
    options = {word.plain.partition("=")[0]: word for word in started.words if "=" in word.plain}
    entry, params = options.get("--entry"), options.get("--user_params")
    if entry is None or params is None or not entry.plain.endswith(".py"):
        return None
    stretches = re.compile(r"\S+").finditer(params.plain, len("--user_params="))
    arguments = tuple(params.cut(*match.span()) for match in stretches)
    return LaunchCommand(started, entry.cut(len("--entry=")), started.words[0].plain, (), arguments)


def _behind(started: Started) -> LaunchCommand | None:
    """Parse `WORDS python -m MODULE ...` whose first word is no known launcher."""
    words = started.words
    if _base(words[0].plain) in _FACTS["speaking"]:
        return None
    for at, (word, following) in enumerate(zip(words, words[1:])):
        if at and word.known and _PYTHON.fullmatch(word.plain) and following.plain in ("-m", "-u"):
            why = started.condition or f"it depends on `{words[0].plain[:40]}`"
            launch = launch_of(replace(started, words=words[at:], condition=why))
            return launch and replace(launch, launcher=words[0].plain, options=words[1:at])
    return None


def _interpreter(words: Sequence[WordText]) -> int | None:
    """Return the index of the interpreter or torchrun."""
    module = next((at for at, word in enumerate(words) if word.known), 0)
    if module and len(words) > module + 1 and words[module].plain == "-m":
        return module - 1  # `$PYTHON -m module`
    plain = [word.plain if word.known and not word.secret else "" for word in words]
    if not _is_interpreter(plain[0]) and _base(words[0].plain) not in _FACTS["starters"]:
        return None
    python = next((at for at, text in enumerate(plain) if _is_interpreter(text)), None)
    if python is None and _base(plain[0]) == "uv" and plain[1:2] == ["run"]:
        file = _program(words, 2)  # `uv run file.py`: no interpreter is named
        is_program = file is not None and (plain[file].endswith(".py") or plain[file - 1] == "-m")
        python = None if file is None or not is_program else file - 2 if plain[file - 1] == "-m" else file - 1
    return python


def _is_interpreter(text: str) -> bool:
    return bool(_PYTHON.fullmatch(text) or _TORCHRUN.fullmatch(text))


def _launcher(before: Sequence[str]) -> str:
    """Return the launcher with its subcommands, such as `ray job submit`."""
    subcommands = before[1:3] if before[0] in _FACTS["with_subcommands"] else ()
    return " ".join([before[0], *takewhile(re.compile(r"[a-z]+").fullmatch, subcommands)])


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
        position += 2 if plain in _FACTS["options_with_value"] and not is_torchrun else 1
    return None


def shell_call(words: Sequence[WordText]) -> tuple[int, bool] | None:
    """Return the index of what a shell reads, and True for a text after `-c`.

    The index is the number of words if the shell reads its input; None without a shell.
    """
    shell = next((at for at, word in enumerate(words) if word.known and _SHELL.fullmatch(word.plain)), None)
    if shell is None or (shell and _base(words[0].plain) not in _FACTS["starters"]):
        return None
    for at, word in enumerate(words[shell + 1 :], shell + 1):
        if not word.plain.startswith("-"):
            return at, False
        if not word.plain.startswith("--") and "c" in word.plain and at + 1 < len(words):
            return at + 1, True
    return len(words), False


def script_call(words: Sequence[WordText]) -> Sequence[WordText]:
    """Return the words `FILE ARGUMENTS` of a command such as `env A=b bash FILE ARGUMENTS`."""
    at, is_text = shell_call(words) or (0, True)
    return () if is_text else words[at:]


def nested_text(
    words: Sequence[WordText], stdin: WordText | None, written: Callable[[WordText], WordText | None]
) -> tuple[WordText, Sequence[WordText]] | None:
    """Return text and arguments of a shell command.

    It is `bash -c TEXT`, `sbatch --wrap TEXT`, or the input or a file that the script has `written`.
    """
    if (text := written(words[0])) is not None:
        return text, words[1:]
    if _base(words[0].plain) in _FACTS["batch"]:
        for at, word in enumerate(words[1:], 1):
            name, equals, _ = word.plain.partition("=")
            if name == "--wrap" and (equals or at + 1 < len(words)):
                return (word.cut(len(name) + 1) if equals else words[at + 1]), ()
            if (text := written(word)) is not None:
                return text, words[at + 1 :]
        return (stdin, ()) if stdin is not None else None
    if (call := shell_call(words)) is not None:
        at, is_text = call
        if is_text:
            return words[at], words[at + 2 :]
        text = written(words[at]) if at < len(words) else stdin
        return (text, words[at + 1 :]) if text is not None else None
    if _base(words[0].plain) in _FACTS["remote"] and len(words) > 2:  # a whole command as a word
        command = re.compile(r"\b(?:python[0-9.]*|torchrun)\s+\S")
        return next(((word, ()) for word in words[1:] if command.search(word.plain)), None)
    return None


# -- resources passed to Ray


def machine_of(launch: LaunchCommand, commands: Sequence[Started], source: Source) -> tuple[ShellMachine | None, str]:
    """Return Ray's resources on this node at a program's start, with a reason if unknown.

    They come from an earlier `ray start`, else from the visible accelerators; None if the script
    has neither. The reason is "" if nothing is unknown.
    """
    earlier = [command for command in commands if command.place[0] < launch.started.place[0]]
    before = [command for command in earlier if not command.condition and _is_ray_start(command)]
    heads = [command for command in before if any(word.plain == "--head" for word in command.words)]
    start, why, variable = (heads or before or [launch.started])[-1], "", ""
    accelerators, cpus = (_option(start, "--num-gpus"), _option(start, "--num-cpus")) if before else (None, None)
    visible = _visible_variable(start) if before or launch.launcher.partition(" ")[0] not in _FACTS["elsewhere"] else None
    if accelerators and accelerators[0] is not None:
        numbers = [pair[0] for command in before if (pair := _option(command, "--num-gpus")) and pair[0] is not None]
        if min(numbers) < accelerators[0]:
            why = f"`ray start` shows nodes different numbers of accelerators: {min(numbers)} and {accelerators[0]}"
    for_ray, repeated = accelerators is not None, ""
    if accelerators is None and visible is None and not before:
        accelerators = _granted(launch)
    if accelerators is None and visible is not None:
        variable, text = visible
        accelerators = _visible(text)
        items = _devices(text) if accelerators and variable in _EMPTIED else []
        repeated = next((item for place, item in enumerate(items) if item in items[:place]), "")
        if accelerators is None and not text.known:
            why = f"which accelerators `{variable}` shows is not known: {text.why_unknown}"
        elif accelerators is not None and before and not accelerators[0]:
            accelerators, why = None, f"`{variable}` shows no accelerators of this node, and other nodes are not known"
    if all(pair is None or pair[0] is None for pair in (accelerators, cpus)):
        return None, why
    seen = _visible_variable(launch.started) if for_ray else None
    own = _visible(seen[1]) if seen is not None and seen[0] == VISIBLE[0] else None
    return ShellMachine(*_spanned(accelerators, source), *_spanned(cpus, source), variable, for_ray, repeated, own and own[0]), why


def _is_ray_start(started: Started) -> bool:
    plain = [_base(word.plain) for word in started.words]
    return ("ray", "start") in zip(plain, plain[1:])


def _granted(launch: LaunchCommand) -> _Number | None:
    """Count the accelerators of a container or a step of Slurm; None if unstated.

    Sources: docker run (--gpus), srun (--gpus-per-node, --gres).
    """
    words = launch.started.within or launch.started.words
    starter = _base(words[0].plain)
    options = {"docker": ("--gpus",), "podman": ("--gpus",), "srun": ("--gpus-per-node", "--gres")}.get(starter, ())
    for word, following in zip(words, words[1:]):
        name, equals, _ = word.plain.partition("=")
        if name in options:
            value = word.cut(len(name) + 1) if equals else following
            devices = re.fullmatch(r'"?device=([0-9]+(?:,[0-9]+)*)"?', value.plain) if value.certain else None
            count = re.fullmatch(r"(?:gpu:)?(?:[A-Za-z][\w.-]*:)?([0-9]{1,4})", value.plain) if value.certain else None
            number = len(devices[1].split(",")) if devices else int(count[1]) if count else None
            return (number, value.place()) if number is not None else None
    return None


def _spanned(number: _Number | None, source: Source) -> tuple[int | None, Span | None]:
    """Return a number with its span."""
    value, place = number or (None, None)
    return value, source.span(*place) if value is not None and place is not None else None


def _option(started: Started, name: str) -> _Number | None:
    """Return the number of an option (None if unknown) and its place; None if absent."""
    for word, following in zip(started.words, [*started.words[1:], WordText()]):
        split = word.plain == name
        if split or word.plain.startswith(f"{name}="):
            value = following if split else word.cut(len(name) + 1)
            number = int(value.plain[:9]) if value.certain and value.plain.isdecimal() else None
            return number, (value if split else word).place()
    return None


def _visible_variable(started: Started) -> tuple[str, WordText] | None:
    """Return the variable with the visible accelerators of a command, and its text."""
    visible = next(((name, started.variables[name]) for name in VISIBLE if name in started.variables), None)
    for word in started.words:
        name, equals, _ = word.plain.partition("=")
        if equals and name.endswith("_VISIBLE_DEVICES"):
            visible = name, word.cut(len(name) + 1)
    return visible


def _visible(text: WordText) -> _Number | None:
    """Count the accelerators in a text, up to `-1`; also return its place."""
    if not text.certain or text.assumed:
        return None
    items = _devices(text)
    if not all(map(_DEVICE.fullmatch, items)):
        return None
    return len(items), text.place() if text.pieces else None


def _devices(text: WordText) -> list[str]:
    """Return the accelerators that a text names, up to `-1`."""
    items = [item.strip() for item in text.plain.split(",")] if text.plain.strip() else []
    return items[: items.index("-1")] if "-1" in items else items
