"""Which kind of text a file is: a script, a list of settings, or neither."""

from __future__ import annotations

import re

from ..findings.finding import UnusableInput
from ..text.source import Source
from ..text.tree import ListNode, MapNode, Scalar, Value, find

ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")
"""How the names of scripts end."""
YAML = (".yaml", ".yml", ".json")
DOTTED_SETTING = re.compile(r"(?<![\w.])[+~]{0,2}[A-Za-z_]\w*(?:[./@][\w-]+)+=", re.ASCII)
"""A setting of a value below another key, as only programs with Hydra take it."""
_SHELL = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_STARTS = re.compile(
    r"^[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\S*/)?(?:python[0-9.]*|torchrun|srun|ray[ \t]+job|nohup|exec)[ \t]",
    re.MULTILINE,
)
_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_$][A-Za-z0-9_.$@/-]*=|~[A-Za-z_$][A-Za-z0-9_.$@/-]*\Z", re.ASCII)


_BEGINS = re.compile(r"\b(?:python[0-9.]*|torchrun|accelerate|ray|uv)\s")
_OF_TASKS = {
    "name", "workdir", "setup", "run", "resources", "num_nodes", "envs", "file_mounts", "service", "secrets", "config",
    "experimental", "inputs", "outputs", "volumes", "event_callback", "pool", "job",
}  # fmt: skip


def is_script(source: Source) -> bool:
    """True for a shell script: by its name, its first line, or as it starts a program."""
    if source.name.endswith(ENDINGS) or _SHELL.match(source.text):
        return True
    if source.name.endswith(YAML) or "=" not in source.text or not _STARTS.search(source.text):
        return False
    return not isinstance(_value(source), MapNode)


def is_settings(source: Source) -> bool:
    """True for a list of settings: `key=value` in every line, or a YAML list of such texts."""
    lines = [line for text in source.lines if (line := text.strip()) and not line.startswith("#")]
    if lines and lines[0].startswith(("- ", "[")):
        return listed(source) is not None
    if source.name.endswith(YAML) or not all(_SETTING.match(line) for line in lines):
        return False
    return any("=" in line for line in lines)


def is_task(source: Source) -> bool:
    """True if a YAML file is a task whose `run:` block starts a program."""
    if "run:" not in source.text or not _BEGINS.search(source.text):
        return False
    root = _value(source)
    if not isinstance(root, MapNode) or any(entry.key.text not in _OF_TASKS for entry in root):
        return False
    run = find(root, "run")
    text = run.value if isinstance(run, Scalar) else None
    return isinstance(text, str) and _BEGINS.search(text) is not None


def listed(source: Source) -> tuple[Scalar, ...] | None:
    """The texts of a YAML list of settings, as Hydra writes `overrides.yaml`; None if it is none."""
    value = _value(source)
    items = value.items if isinstance(value, ListNode) else ()
    texts = tuple(item for item in items if isinstance(item, Scalar) and isinstance(item.value, str))
    whole = len(texts) == len(items) and all(_SETTING.match(text.text) for text in texts)
    return texts if texts and whole else None


def _value(source: Source) -> Value | None:
    """The value of a YAML file; None if it is none."""
    try:
        return source.value
    except UnusableInput:
        return None
