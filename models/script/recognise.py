"""Recognition of the kind of a file: script, list of settings, task."""

from __future__ import annotations

import re

from ..findings.finding import UnusableInput
from ..text.source import Source
from ..text.tree import ListNode, MapNode, Scalar, Value, find

ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")
"""File extensions of scripts."""
COMMAND_LINE = "command line"
"""Name of the text of a command line."""
YAML = (".yaml", ".yml", ".json")
DOTTED_SETTING = re.compile(r"(?<![\w.])[+~]{0,2}[A-Za-z_]\w*(?:[./@][\w-]+)+=", re.ASCII)
"""Setting of a nested key, which only programs with Hydra take."""
_SHELL = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_COMMAND = re.compile(
    r"^[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\S*/)?(?:python[0-9.]*|torchrun|srun|ray[ \t]+job|nohup|exec)[ \t]", re.MULTILINE
)
_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_$][A-Za-z0-9_.$@/-]*=|~[A-Za-z_$][A-Za-z0-9_.$@/-]*\Z", re.ASCII)
_PROGRAM_START = re.compile(r"\b(?:python[0-9.]*|torchrun|accelerate|ray|uv)\s")
_TASK_KEYS = {
    "name", "workdir", "setup", "run", "resources", "num_nodes", "envs", "file_mounts", "service", "secrets", "config",
    "experimental", "inputs", "outputs", "volumes", "event_callback", "pool", "job",
}  # fmt: skip


def is_script(source: Source) -> bool:
    """Return True if a file is a shell script: by name, first line, or started program."""
    if source.name == COMMAND_LINE or source.name.endswith(ENDINGS) or _SHELL.match(source.text):
        return True
    if source.name.endswith(YAML) or "=" not in source.text or not _COMMAND.search(source.text):
        return False
    return not isinstance(_value(source), MapNode)


def is_settings(source: Source) -> bool:
    """Return True if a file is a list of settings.

    It has `key=value` in every line, or is a YAML list of such texts.
    """
    lines = (line for text in source.lines if (line := text.strip()) and not line.startswith("#"))
    first = next(lines, "")
    if first.startswith(("- ", "[")):
        return read_list(source) is not None
    if source.name.endswith(YAML):
        return False
    every = [first, *lines]
    return all(map(_SETTING.match, every)) and any("=" in line for line in every)


def is_task(source: Source) -> bool:
    """Return True if a YAML file is a task that starts a program."""
    return _PROGRAM_START.search(source.text) is not None and task_script(source) is not None


def task_script(source: Source) -> Scalar | None:
    """Return the script of a task: `run` of SkyPilot, or `entrypoint` of a RayJob."""
    root = _value(source) if source.name.endswith(YAML) else None
    if not isinstance(root, MapNode):
        return None
    kind = find(root, "kind")
    is_ray = isinstance(kind, Scalar) and kind.value == "RayJob"
    if not is_ray and any(entry.key.text not in _TASK_KEYS for entry in root):
        return None
    script = find(root, "spec.entrypoint" if is_ray else "run")
    text = script.value if isinstance(script, Scalar) else None
    return script if isinstance(script, Scalar) and isinstance(text, str) and _PROGRAM_START.search(text) else None


def read_list(source: Source) -> tuple[Scalar, ...] | None:
    """Return the texts of a YAML list of settings, or None.

    Hydra writes such a list as `overrides.yaml`.
    """
    value = _value(source)
    items = value.items if isinstance(value, ListNode) else ()
    texts = tuple(item for item in items if isinstance(item, Scalar) and isinstance(item.value, str))
    whole = len(texts) == len(items) and all(_SETTING.match(text.text) for text in texts)
    return texts if texts and whole else None


def _value(source: Source) -> Value | None:
    try:
        return source.value
    except UnusableInput:
        return None
