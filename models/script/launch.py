"""Commands that start a Python program: which program, by what, with which arguments; and what Ray is told.

Sources: the command lines of torchrun, accelerate, Ray (ray start, ray job submit), Slurm and uv.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Mapping, Sequence

from ..record import dataclass
from .pieces import Piece, Place, Text

if TYPE_CHECKING:
    from tree_sitter import Node

    from .expand import Expander
    from .syntax import Script

_PYTHON = re.compile(r"(?:.*/)?(?:python|python[23](?:\.[0-9]+)?|pypy3?)")
_TORCHRUN = re.compile(r"(?:.*/)?(?:torchrun|accelerate|deepspeed)")
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh")
_STARTERS = {
    "apptainer", "deepspeed", "docker", "env", "mpiexec", "mpirun", "nice", "nohup", "nsys", "numactl", "podman", "ray",
    "setsid", "singularity", "srun", "stdbuf", "sudo", "taskset", "time", "timeout", "torchrun", "accelerate", "uv", "conda",
    "micromamba", "xvfb-run", "ionice", "poetry", "pixi", "unbuffer", "kubectl", "pdsh", "sbatch", "ssh", "xargs", "enroot",
}  # fmt: skip
_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_UV_WITH_VALUE = ("--extra", "--group", "--with", "--python", "-p", "--directory", "--project", "--env-file", "--package")
_AS_TORCHRUN = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")
_LAUNCHING = re.compile(r"(?:.*[./])?(?:\w*launch\w*|\w*runner|run|start)(?:\.py)?")
_PROGRAM = re.compile(r"[\w/.-]+\.py|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){2,}")
_REMOTE = ("ssh", "pdsh", "tmux", "screen", "ray")


@dataclass(frozen=True, slots=True)
class Started:
    """A command that the script starts.

    Attributes
    ----------
    words : its words, expanded.
    place : where it stands.
    cut : the comment that ends it although the line before goes on.
    condition : why it is unknown whether it is reached; "" if it is reached.
    visible : which accelerators a program sees, as a variable says.
    folder : the folder that it is started in; "" if unknown.
    """

    words: tuple[Text, ...]
    place: Place
    cut: Place | None = None
    condition: str = ""
    visible: Text | None = None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """A Python program that a command starts.

    Attributes
    ----------
    program : the word that names the module or file.
    launcher : what starts it if it is not Python itself, such as ``ray job submit``; "" otherwise.
    options : words between the launcher and the program.
    arguments : the words after the program.
    """

    started: Started
    program: Text
    launcher: str
    options: tuple[Text, ...]
    arguments: tuple[Text, ...]

    @property
    def name(self) -> str:
        """The module or file; of a file in an unknown folder what is known of its path."""
        return self.program.plain if self.program.known and not self.program.unset else self.program.path


def launch_of(started: Started) -> Launch | None:
    """The program that a command starts; None if it starts none that can be told."""
    words = started.words
    python = _interpreter(words)
    if python is None:
        return _submitted(started)
    before = [word.plain for word in words[:python]]
    launcher = " ".join([before[0].rpartition("/")[2], *_subcommands(before)]) if before else ""
    torchrun = _TORCHRUN.fullmatch(words[python].plain) is not None
    position = _of_torchrun(words, python) if torchrun else _module_or_file(words, python + 1)
    if position is not None and words[position].plain in _AS_TORCHRUN:
        launcher, start = "torchrun", position + 1
        position = _of_torchrun(words, position)
    else:
        start = 0 if before and words[0].known else python + 1
        launcher = launcher if not before or words[0].known else ""
        named = words[python].known and not _PYTHON.fullmatch(words[python].plain)
        launcher = launcher or (words[python].plain.rpartition("/")[2] if named and words[python].plain.find(".py") < 0 else "")
    if position is None:
        return None
    position, launcher = _launched(words, position, launcher)
    program = words[position]
    if program.secret or not (program.known or program.path.endswith(".py")):
        return None
    options = tuple(word for word in words[start:position] if word.plain != "-m")
    return Launch(started, program, launcher, options, words[position + 1 :])


def _submitted(started: Started) -> Launch | None:
    """`CLIENT run --entry=FILE.py --user_params="ARGUMENTS"`, as scripts of ROLL submit a job."""
    given = {word.plain.partition("=")[0]: word for word in started.words if word.plain.startswith("--")}
    entry, params = given.get("--entry"), given.get("--user_params")
    if entry is None or params is None or not entry.plain.endswith(".py"):
        return None
    start = len("--user_params=")
    arguments = tuple(params.cut(*match.span()) for match in re.compile(r"\S+").finditer(params.plain, start))
    return Launch(started, entry.cut(len("--entry=")), started.words[0].plain, (), arguments)


def _launched(words: Sequence[Text], position: int, launcher: str) -> tuple[int, str]:
    """Which word is the program of `python -m pkg.launch other.module key=value`."""
    following = words[position + 1].plain if position + 1 < len(words) else ""
    if _LAUNCHING.fullmatch(words[position].plain) and _PROGRAM.fullmatch(following):
        return position + 1, launcher or words[position].plain
    return position, launcher


def _interpreter(words: Sequence[Text]) -> int | None:
    """Which word is the interpreter, or torchrun."""
    module = next((at for at, word in enumerate(words) if word.known), 0)
    if module and len(words) > module + 1 and words[module].plain == "-m":
        return module - 1  # `$PYTHON -m module`
    if words and _is_interpreter(words[0]):
        return 0
    if not words or words[0].plain.rpartition("/")[2] not in _STARTERS:
        return None
    python = next((at for at, word in enumerate(words) if _is_interpreter(word)), None)
    if python is None and words[0].plain.rpartition("/")[2] == "uv" and len(words) > 2 and words[1].plain == "run":
        return _of_uv(words)
    return python


def _of_uv(words: Sequence[Text]) -> int | None:
    """`uv run [options] file.py`: the word before the file takes the place of an interpreter."""
    position = 2
    while position < len(words) and words[position].plain.startswith("-"):
        position += 2 if words[position].plain in _UV_WITH_VALUE else 1
    return position - 1 if position < len(words) and words[position].plain.endswith(".py") else None


def _is_interpreter(word: Text) -> bool:
    plain = word.plain
    return word.known and not word.secret and bool(_PYTHON.fullmatch(plain) or _TORCHRUN.fullmatch(plain))


def _subcommands(before: Sequence[str]) -> list[str]:
    """`job submit` of ray, `run` of apptainer."""
    found: list[str] = []
    for word in before[1:]:
        known = before[0] in ("ray", "uv", "conda", "apptainer", "singularity", "docker")
        if not re.fullmatch(r"[a-z]+", word) or len(found) == 2 or not known:
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


def _of_torchrun(words: Sequence[Text], start: int) -> int | None:
    """Which word torchrun takes for the module after `-m`, or for the file."""
    for position in range(start + 1, len(words)):
        plain = words[position].plain
        if plain in ("-m", "--module"):
            return position + 1 if position + 1 < len(words) else None
        if plain.endswith(".py") or words[position].path.endswith(".py"):
            return position
    return None


# -- shells within the script


def nested_text(words: Sequence[Text], stdin: Text | None, files: Mapping[str, Text]) -> tuple[Text, Sequence[Text]] | None:
    """The script that a command has a shell read, and its arguments: `bash -c TEXT`, `bash FILE` that the script wrote."""
    first = words[0].plain.rpartition("/")[2]
    shell = next((at for at, word in enumerate(words) if word.known and _SHELL.fullmatch(word.plain)), None)
    if shell is not None and (shell == 0 or first in _STARTERS):
        position = shell + 1
        while position < len(words) and words[position].plain.startswith("-"):
            option = words[position].plain
            if not option.startswith("--") and "c" in option and position + 1 < len(words):
                return words[position + 1], words[position + 3 :]
            position += 2 if option in ("-o", "-O", "--rcfile") else 1
        if position < len(words):
            text = files.get(words[position].plain)
            return (text, words[position + 1 :]) if text is not None else None
        return (stdin, ()) if stdin is not None else None
    if first == "sbatch" or words[0].plain in files:
        text = next((files[word.plain] for word in words if word.plain in files), stdin)
        return (text, ()) if text is not None else None
    if first in _REMOTE and len(words) > 2:
        text = next((word for word in words[1:] if _is_command(word.plain)), None)
        return (text, ()) if text is not None else None
    return None


def _is_command(text: str) -> bool:
    """True if a single word holds a whole command that starts a program."""
    return re.search(r"\s", text.strip()) is not None and re.search(r"\b(?:python[0-9.]*|torchrun)\s", text) is not None


def written_file(script: Script, node: Node, expander: Expander) -> str:
    """The file that `cat > FILE <<END` writes; "" if none."""
    places = [child for child in node.children if child.type == "file_redirect"]
    for child in node.children:
        if child.type == "heredoc_redirect":
            places += [each for each in child.children if each.type == "file_redirect"]
    for place in places:
        target = place.child_by_field_name("destination")
        if target is not None and place.children[0].type in (">", ">|", "&>"):
            text = expander.one(script.parts(*script.range(target)))
            return text.plain if text.known else ""
    return ""


# -- what Ray is told of the machine


@dataclass(frozen=True, slots=True)
class Told:
    """Numbers of accelerators and CPUs that Ray is told, with the places; None if unknown."""

    accelerators: int | None = None
    accelerators_place: Place | None = None
    cpus: int | None = None
    cpus_place: Place | None = None


def told_of(launch: Launch, commands: Sequence[Started]) -> Told:
    """What Ray knows of this node when a program starts: `ray start` before it, else the accelerators that are visible."""
    before = [each for each in commands if not each.condition and _is_ray_start(each.words)]
    before = [each for each in before if each.place[0] < launch.started.place[0]]
    heads = [each for each in before if any(word.plain == "--head" for word in each.words)]
    if not before:
        remote = launch.launcher.partition(" ")[0] in ("ray", "srun", "docker", "kubectl", "ssh", "apptainer", "singularity")
        number, place = (None, None) if remote else _visible(launch.started)
        return Told(number, place)
    start = (heads or before)[-1]
    accelerators, cpus = _option(start, "--num-gpus"), _option(start, "--num-cpus")
    if accelerators[1] is None:
        accelerators = _visible(start)
    return Told(*accelerators, *cpus)


def _is_ray_start(words: Sequence[Text]) -> bool:
    plain = [word.plain for word in words]
    return any(name.rpartition("/")[2] == "ray" and after == "start" for name, after in zip(plain, plain[1:]))


def _option(started: Started, name: str) -> tuple[int | None, Place | None]:
    """The number that an option of a command has, and where it is written."""
    words = started.words
    for word, following in zip(words, [*words[1:], Text()]):
        plain = word.plain
        value = word.cut(len(name) + 1) if plain.startswith(f"{name}=") else following if plain == name else None
        if value is not None:
            pieces = [*(word.pieces if plain != name else ()), *value.pieces]
            known = value.known and not value.unset and not value.secret and value.plain.isdecimal()
            return (int(value.plain[:9]) if known else None), _place(pieces)
    return None, None


def _visible(started: Started) -> tuple[int | None, Place | None]:
    """Number of accelerators that a command sees, as a variable before it says, and where that is written."""
    text = started.visible
    for word in started.words:
        name, equals, _ = word.plain.partition("=")
        if equals and name.endswith("_VISIBLE_DEVICES"):
            text = word.cut(len(name) + 1)
    if text is None or not text.known or text.secret or text.unset or text.assumed:
        return None, None
    items = [item.strip() for item in text.plain.split(",")]
    if not all(re.fullmatch(r"[0-9]+|(?:GPU|MIG)-[\w/-]+", item) for item in items):
        return None, None
    return len(items), _place(text.pieces)


def _place(pieces: Sequence[Piece]) -> Place | None:
    """Where text stands in the command or the assignment."""
    places = [piece.frames[0] for piece in pieces if piece.frames]
    return (min(place[0] for place in places), max(place[1] for place in places)) if places else None
