"""Commands that start a Python program: which program, by what, with which arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Sequence

from .holding.value import Text
from .meaning.started import Started

_PYTHON = re.compile(r"(?:.*/)?(?:python|python[23](?:\.[0-9]+)?|pypy3?)")
_TORCHRUN = re.compile(r"(?:.*/)?(?:torchrun|accelerate|deepspeed)")
_STARTERS = {
    "apptainer", "deepspeed", "docker", "env", "mpiexec", "mpirun", "nice", "nohup", "nsys", "numactl", "podman", "ray", "setsid",
    "singularity", "srun", "stdbuf", "sudo", "taskset", "time", "timeout", "torchrun", "accelerate", "uv", "conda", "micromamba", "xvfb-run",
    "ionice", "poetry", "pixi", "unbuffer", "kubectl", "pdsh",
}  # fmt: skip
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_AS_TORCHRUN = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")


@dataclass(frozen=True, slots=True)
class Launch:
    """A Python program that a command starts.

    Attributes
    ----------
    program : the word that names the module or file.
    launcher : what starts it if it is not Python itself, such as ``ray job submit``; "" else.
    options : words between the launcher and the program.
    arguments : the words after the program.
    """

    started: Started
    program: Text
    launcher: str
    options: tuple[Text, ...]
    arguments: tuple[Text, ...]


def launch_of(started: Started) -> Launch | None:
    """The program that a command starts; None if it starts none that can be told."""
    words = started.words
    python = _python(words)
    if python is None:
        return None
    before = [word.plain for word in words[:python]]
    launcher = " ".join([before[0].rpartition("/")[2], *_subcommands(before)]) if before else ""
    found = _torchrun(words, python) if _TORCHRUN.fullmatch(words[python].plain) else _module_or_file(words, python + 1)
    if found is not None and words[found].plain in _AS_TORCHRUN:
        launcher = "torchrun"
        start, found = found + 1, _torchrun(words, found)
    else:
        start = 0 if before else python + 1
        launcher = launcher or (
            "" if _PYTHON.fullmatch(words[python].plain) or not words[python].known else words[python].plain.rpartition("/")[2]
        )
    if found is None or not words[found].known or words[found].secret:
        return None
    options = tuple(word for word in words[start:found] if word.plain != "-m")
    return Launch(started, words[found], launcher, options, words[found + 1 :])


def _python(words: Sequence[Text]) -> int | None:
    """Which word is the interpreter, or torchrun."""
    first = words[0].plain if words else ""
    if len(words) > 2 and not words[0].known and words[1].plain == "-m":
        return 0  # `$PYTHON -m module`
    if _is_interpreter(words[0]) if words else False:
        return 0
    if first.rpartition("/")[2] not in _STARTERS:
        return None
    return next((position for position, word in enumerate(words) if _is_interpreter(word)), None)


def _is_interpreter(word: Text) -> bool:
    return word.known and not word.secret and bool(_PYTHON.fullmatch(word.plain) or _TORCHRUN.fullmatch(word.plain))


def _subcommands(before: Sequence[str]) -> list[str]:
    """`job submit` of ray, `run` of apptainer."""
    found: list[str] = []
    for word in before[1:]:
        if (
            not re.fullmatch(r"[a-z]+", word)
            or len(found) == 2
            or before[0] not in ("ray", "uv", "conda", "apptainer", "singularity", "docker")
        ):
            break
        found.append(word)
    return found


def _module_or_file(words: Sequence[Text], start: int) -> int | None:
    """Which word is the module after `-m`, or the file."""
    position = start
    while position < len(words):
        plain = words[position].plain
        if plain == "-m":
            return position + 1 if position + 1 < len(words) else None
        if plain == "-c" or not plain.startswith("-"):
            return None if plain == "-c" else position
        position += 2 if plain in _WITH_VALUE else 1
    return None


def _torchrun(words: Sequence[Text], start: int) -> int | None:
    """Which word torchrun takes for the module after `-m`, or for the file."""
    for position in range(start + 1, len(words)):
        plain = words[position].plain
        if plain in ("-m", "--module"):
            return position + 1 if position + 1 < len(words) else None
        if plain.endswith(".py"):
            return position
    return None
