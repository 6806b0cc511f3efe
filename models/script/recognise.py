"""Which kind of text a file is: a script, a list of settings, or neither."""

from __future__ import annotations

import re

from ..findings.finding import UnusableInput
from ..findings.span import Span
from ..text.source import Source
from ..text.tree import Mapping, Scalar, Sequence, find

ENDINGS = (".sh", ".bash", ".slurm", ".sbatch")
"""How the names of scripts end."""
YAML = (".yaml", ".yml", ".json")
DOTTED_SETTING = re.compile(r"(?<![\w.])[+~]{0,2}[A-Za-z_]\w*(?:[./@][\w-]+)+=", re.ASCII)
"""A setting of a value below another key, as only programs with Hydra take it."""
_SHELL = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_STARTS = re.compile(
    r"^[ \t]*(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\S*/)?(?:python[0-9.]*|torchrun|srun|ray[ \t]+job|nohup|exec)[ \t]", re.MULTILINE
)
_SETTING = re.compile(r"[+~]{0,2}[A-Za-z_$][A-Za-z0-9_.$@/-]*=|~[A-Za-z_$][A-Za-z0-9_.$@/-]*\Z", re.ASCII)


_BEGINS = re.compile(r"\b(?:python[0-9.]*|torchrun|accelerate|ray|uv)\s")
_OF_TASKS = {
    "name", "workdir", "setup", "run", "resources", "num_nodes", "envs", "file_mounts", "service", "secrets", "config",
    "experimental", "inputs", "outputs", "volumes", "event_callback", "pool", "job",
}  # fmt: skip


def is_script(source: Source) -> bool:
    """Is it a shell script: by its name, by its first line, or because it is no YAML but starts a program?"""
    if source.name.endswith(ENDINGS) or _SHELL.match(source.text):
        return True
    return not source.name.endswith(YAML) and "=" in source.text and bool(_STARTS.search(source.text)) and not _is_map(source)


def _is_map(source: Source) -> bool:
    try:
        return isinstance(source.value, Mapping)
    except UnusableInput:
        return False


def is_settings(source: Source) -> bool:
    """Is it a list of settings: `key=value` in every line, or a YAML list of such texts, as Hydra writes `overrides.yaml`?"""
    lines = [line for text in source.lines if (line := text.strip()) and not line.startswith("#")]
    if not lines:
        return False
    if lines[0].startswith(("- ", "[")):
        return listed(source) is not None
    return not source.name.endswith(YAML) and all(_SETTING.match(line) for line in lines) and any("=" in line for line in lines)


def listed(source: Source) -> tuple[Scalar, ...] | None:
    """The texts of a YAML list of settings; None if it is none."""
    try:
        value = source.value
    except UnusableInput:
        return None
    items = value.items if isinstance(value, Sequence) else ()
    texts = tuple(item for item in items if isinstance(item, Scalar) and isinstance(item.value, str) and _SETTING.match(item.text))
    return texts if texts and len(texts) == len(items) else None


def reads(text: str) -> bool:
    """Can Hydra read this as one setting?"""
    from ..composition.setting_text import read_setting

    try:
        read_setting(text, Span("", 0, len(text), 1, 1))
    except UnusableInput:
        return False
    return True


def is_task(source: Source) -> bool:
    """True if a YAML file is a task whose `run:` block starts a program."""
    if "run:" not in source.text or not _BEGINS.search(source.text):
        return False
    try:
        root = source.value
    except UnusableInput:
        return False
    run = find(root, "run") if isinstance(root, Mapping) else None
    if not isinstance(run, Scalar) or not isinstance(run.value, str) or not _BEGINS.search(run.value):
        return False
    return isinstance(root, Mapping) and all(entry.key.text in _OF_TASKS for entry in root)
