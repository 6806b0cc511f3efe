"""Keys that verl does not have and that look like one that is read here, probably misspelt; sections that are no maps.

Only what decides placements and batches is compared; other keys that are not known may be those of another release.
Source: Hydra, hydra/_internal/config_loader_impl.py (a setting without `+` of a key that the configuration lacks is refused);
verl, verl/trainer/main_ppo.py (keys that nothing reads are kept without a word).
"""

from __future__ import annotations

from ...configuration.notes import Notes, is_unknown
from ...findings.span import Edit
from ...text.tree import Entry, Mapping, Scalar, Value
from .configuration import Configuration
from .defaults import Table

ALIKE = 0.75
"""So alike, by difflib, are words of which one is the other misspelt."""
REAL = {
    "actor_rollout_ref.actor.micro_batch_size", "actor_rollout_ref.actor.traj_mini_batch_size", "critic.forward_micro_batch_size",
    "critic.forward_micro_batch_size_per_gpu", "data.batch_size", "data.gen_batch_size", "data.image_patch_size",
    "data.val_batch_size", "reward_model.mini_batch_size", "trainer.n_env_gpus_per_node", "trainer.n_rollout_gpus_per_node",
}  # fmt: skip
"""Keys that verl has or looks for, though they look like another one that is read."""


def judge_keys(notes: Notes, settings: Configuration) -> None:
    """A warning for every key that was probably meant to be another one; nothing where the configuration is not known."""
    if settings.table is not None:
        _judge(notes, settings, settings.table, _names(settings.table), notes.document.root, "")


def _names(table: Table) -> dict[str, dict[str, None]]:
    """Path -> the keys below it that are read."""
    found: dict[str, dict[str, None]] = {}
    for path in (*table.defaults, *table.same):
        while path:
            owner, _, name = path.rpartition(".")
            found.setdefault(owner, {})[name] = None
            path = owner
    return found


def _judge(notes: Notes, settings: Configuration, table: Table, names: dict[str, dict[str, None]], owner: Mapping, path: str) -> None:
    read = names[path]
    for entry in owner:
        key = f"{path}.{entry.key.text}".lstrip(".")
        if entry.key.text in read:
            if key in names:
                _section(notes, settings, table, names, entry, key)
            continue
        from difflib import get_close_matches

        # On a command line every key is written in full, so a section that is there may be meant too.
        line = notes.document.program is not None
        free = [name for name in read if owner.get(name) is None or (line and f"{path}.{name}".lstrip(".") in names)]
        close = get_close_matches(entry.key.text.lower(), free, n=1, cutoff=ALIKE) if key not in REAL else []
        if close:
            _tell(notes, settings, table, entry, key, f"{path}.{close[0]}".lstrip("."))


def _section(notes: Notes, settings: Configuration, table: Table, names: dict[str, dict[str, None]], entry: Entry, key: str) -> None:
    if isinstance(entry.value, Mapping):
        _judge(notes, settings, table, names, entry.value, key)
    elif not is_unknown(entry.value) and not (isinstance(entry.value, Scalar) and entry.value.is_null):
        notes.wrong_type(key, key, entry.value, "a map", f"write keys such as `{next(iter(names[key]))}` below it")


def _tell(notes: Notes, settings: Configuration, table: Table, entry: Entry, key: str, meant: str) -> None:
    span, text = entry.key.span, notes.document.text_of(entry.key.span.file)
    default = table.defaults.get(settings.meant(meant))
    stays = f"; `{meant}` stays {default.value}, its default" if default is not None and default.value is not None else ""
    what = f"verl ignores it without a word{stays}"
    if notes.document.program is not None and text[max(0, span.start - 1) : span.start + 1].strip("\"' =")[:1] != "+":
        what = "Hydra refuses a key that the configuration does not have"
    written = text[span.start : span.end]
    edit: Edit | None = notes.renamed(entry, meant.rpartition(".")[2])
    if written.startswith(key) and _is_one(entry.value) and text.count(written) == 1:  # set once
        edit = Edit(span, meant + written[len(key) :])
    elif written.strip("\"'") != entry.key.text:
        edit = None
    notes.warn("PW104", meant, f"verl has no key `{key}`: {what}", span, "not a key", f"write `{meant}`", edit)


def _is_one(value: Value) -> bool:
    """Is it what a single setting says, not a section that several belong to?"""
    while isinstance(value, Mapping):
        if len(value.entries) != 1:
            return False
        value = value.entries[0].value
    return True
