"""Accelerators and processors of a node that a script states to Ray."""

from __future__ import annotations

import re
from typing import Sequence

from ..findings.span import Span
from ..text.document import Document, Program, ShellMachine
from ..text.source import Source
from . import facts
from .launch import LaunchCommand, StartedCommand, base, find_option
from .pieces import WordText

_FACTS = facts("launchers")
_Count = tuple["int | None", "Span | None"]
_UNKNOWN: _Count = (None, None)
_EMPTIED = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Variables that show PyTorch nothing if an accelerator is named twice.

Source: PyTorch, torch/cuda/__init__.py (_parse_visible_devices).
"""
VISIBLE = (
    "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
)  # fmt: skip
"""Variables that name the accelerators visible to a program."""
_DEVICE = re.compile(r"[0-9]+(?:[ -].*)?|(?:GPU|MIG)-[\w/-]+")
"""Item of a visibility variable; CUDA and PyTorch read `0-7` and `0 1` as accelerator 0."""
_GRANTED = re.compile(r'"?device=([0-9]+(?:,[0-9]+)*)"?|(?:gpu:)?(?:[A-Za-z][\w.-]*:)?([0-9]{1,4})')
_ADDRESS = re.compile(r"(?:RAY_ADDRESS=|\+*(?:ray_kwargs\W+)?ray_init\b.*\baddress\s*[=:])[\s\"']*([^\s\"',}]*)")
_SLURM = re.compile(
    r"^#SBATCH[ \t]+(--gpus-per-node|--gres|--gpus|-G)[= \t]*(?:gpu:)?(?:[A-Za-z][\w.-]*:)?([0-9]{1,4})\b|"
    r"^#SBATCH[ \t]+(?:--nodes|-N)[= \t]*([0-9]{1,4})\b(?!-)", re.MULTILINE
)  # fmt: skip


def machine_of(launch: LaunchCommand, commands: Sequence[StartedCommand], source: Source) -> tuple[ShellMachine | None, str]:
    """Return Ray's resources on this node at a program's start, with a reason if unknown.

    They come from an earlier `ray start`, else from the visible accelerators; None if the script
    has neither. The reason is "" if nothing is unknown.
    """
    before = [command for command in commands if command.place[0] < launch.started.place[0] and _is_ray_start(command)]
    heads = [command for command in before if any(word.plain == "--head" for word in command.words)]
    start, why, variable = (heads or before or [launch.started])[-1], "", ""
    accelerators, cpus = (_option(start, name, source) if before else None for name in ("--num-gpus", "--num-cpus"))
    addresses = _addresses(launch)
    is_here = launch.launcher.partition(" ")[0] not in _FACTS["elsewhere"] and not addresses - {"local"}
    visible = _visible_variable(start) if before or is_here else None
    if accelerators and accelerators[0] is not None:
        numbers = [pair[0] for command in before if (pair := _option(command, "--num-gpus", source)) and pair[0] is not None]
        if min(numbers) < accelerators[0]:
            why = f"`ray start` shows nodes different numbers of accelerators: {min(numbers)} and {accelerators[0]}"
    for_ray, duplicate, items = accelerators is not None, "", list[str]()
    if accelerators is None and visible is None and not before:
        accelerators = _count_granted(launch, source)
    if accelerators is None and visible is not None:
        variable, text = visible
        accelerators = _visible(text, source)
        items = _devices(text) if accelerators else []
        if variable in _EMPTIED:
            duplicate = next((item for place, item in enumerate(items) if item in items[:place]), "")
        if accelerators is None and not text.known:
            why = f"which accelerators `{variable}` shows is not known: {text.why_unknown}"
        elif accelerators is not None and before and not accelerators[0]:
            accelerators, why = None, f"`{variable}` shows no accelerators of this node, and other nodes are not known"
    if (accelerators or _UNKNOWN)[0] is None and (cpus or _UNKNOWN)[0] is None:
        return None, why
    of_program = _visible_variable(launch.started) if for_ray else None
    count_of_program = _visible(of_program[1], source) if of_program is not None and of_program[0] == VISIBLE[0] else None
    return ShellMachine(
        *(accelerators or _UNKNOWN),
        *(cpus or _UNKNOWN),
        variable,
        for_ray,
        duplicate,
        count_of_program and count_of_program[0],
        tuple(int(item) for item in items if item.isdecimal()),
        bool(variable) and not before and not addresses,
    ), why


def _addresses(launch: LaunchCommand) -> set[str]:
    """Return the addresses of Ray that a program is given; ``local`` starts a Ray.

    Without any, Ray joins the latest one that was started on the node. Source: Ray,
    python/ray/_private/services.py (get_ray_address_from_environment).
    """
    addresses = {match[1] for word in launch.started.words if (match := _ADDRESS.match(word.plain))}
    addresses |= {text.plain for name, text in launch.started.variables.items() if name == "RAY_ADDRESS"}
    return addresses - {"", "null"}


def _is_ray_start(command: StartedCommand) -> bool:
    plain = [base(word.plain) for word in command.words]
    return not command.condition and ("ray", "start") in zip(plain, plain[1:])


def _count_granted(launch: LaunchCommand, source: Source) -> _Count | None:
    """Count the accelerators of a container or a step of Slurm; None if unstated.

    Sources: docker run (--gpus), srun (--gpus-per-node, --gres).
    """
    words = launch.started.within or launch.started.words
    option = find_option(words, *_FACTS["granting"].get(base(words[0].plain), ()))
    value = option[1] if option else WordText()
    match = _GRANTED.fullmatch(value.plain) if value.certain else None
    return (int(match[2] or len(match[1].split(","))), source.span(*value.place())) if match else None


def _option(command: StartedCommand, name: str, source: Source) -> _Count | None:
    """Return the number of an option and its place; None if absent."""
    word, value = find_option(command.words, name) or (None, WordText())
    if word is None or not (value.certain and value.plain.isdecimal()):
        return None if word is None else _UNKNOWN
    return int(value.plain[:9]), source.span(*(value if word.plain == name else word).place())


def _visible_variable(command: StartedCommand) -> tuple[str, WordText] | None:
    """Return the variable with the visible accelerators of a command, and its text."""
    visible = next(((name, command.variables[name]) for name in VISIBLE if name in command.variables), None)
    for word in command.words:
        name, equals, _ = word.plain.partition("=")
        if equals and name.endswith("_VISIBLE_DEVICES"):
            visible = name, word.cut(len(name) + 1)
    return visible


def _visible(text: WordText, source: Source) -> _Count | None:
    """Count the accelerators in a text, up to `-1`; also return its place."""
    items = _devices(text)
    if not text.certain or text.assumed or not all(map(_DEVICE.fullmatch, items)):
        return None
    return len(items), source.span(*text.place()) if text.pieces else None


def _devices(text: WordText) -> list[str]:
    """Return the accelerators that a text names, up to `-1`."""
    items = [item.strip() for item in text.plain.split(",")] if text.plain.strip() else []
    return items[: items.index("-1")] if "-1" in items else items


def slurm_machine(source: Source) -> ShellMachine | None:
    """Return the accelerators of a node that directives of `sbatch` ask for.

    `--gpus` counts those of all nodes. Source: the manual of sbatch.
    """
    directives = [*_SLURM.finditer(source.text)]
    nodes = next((int(match[3]) for match in directives if match[3]), 1)
    for match in (match for match in directives if match[1]):
        number, shares = int(match[2]), nodes if match[1] in ("--gpus", "-G") else 1
        return ShellMachine(number // shares, source.span(*match.span(2))) if shares and number % shares == 0 else None
    return None


def find_processes(program: Program, name: str, most: int) -> tuple[str, int, str]:
    """Return (option, number, reason) of torchrun's `--nnodes` or `--nproc_per_node`.

    Other launchers have options of the same meaning; accelerate counts the processes of all nodes.
    The option is "" for a default; the number is 0 with a reason if it is unknown.
    """
    names, options = _FACTS["processes"], dict(program.options)
    total = options.get("--num_processes", options.get("--num-processes", ""))
    nodes = next((options[alias] for alias in names["--nnodes"] if alias in options), "1")
    if total.isdecimal() and nodes.isdecimal() and int(nodes) and int(total) % int(nodes) == 0:
        options["--nproc_per_node"] = str(int(total) // int(nodes))
    option = next((alias for alias in names[name] if alias in options), "")
    default = "" if program.launcher.partition(" ")[0] in _FACTS["counting"] and name != "--nnodes" else "1"
    text = options[option] if option else default
    if text.isascii() and text.isdecimal() and len(text) < 8 and 0 < int(text) <= most:
        return option, int(text), ""
    if text in ("gpu", "auto", "cpu", "xpu"):
        return option, 0, f"`{option}={text}` starts as many processes as a node has devices"
    return option, 0, f"`{option or name}` is {f'`{text[:40]}`, which is not such a number' if text else 'not known here'}"


def add_processes(document: Document, option: str) -> str:
    """Return the addition that makes torchrun's option known: a number, or the script's arguments."""
    takes_arguments = document.source.name.endswith(".sh") and re.search(r"\$\{?[1-9]", document.source.text)
    addition = f", or give the script its arguments: `verify -- bash {document.source.name} ...`" if takes_arguments else ""
    return f"Write a number for `{option}`{addition}"
