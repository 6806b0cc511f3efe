"""Keys that verl's configuration does not have in the release at hand: what Hydra refuses, and what nothing reads.

Source: Hydra, hydra/_internal/config_loader_impl.py (a setting without `+` of a key that the configuration lacks is refused, one with a single
`+` of a key that it has too); verl, verl/trainer/main_ppo.py (keys that nothing reads are kept without a word).
"""

from __future__ import annotations

from ...configuration.notes import Notes, is_unknown
from ...findings.span import Edit, Span
from ...releases.choice import Choice
from ...releases.release import spans_of
from ...text.interpolation_text import holds_interpolation
from ...text.nearest import closest, distance
from ...text.setting import Kind as Mark
from ...text.setting import Setting
from ...text.tree import Entry, Mapping, Scalar, Value
from .configuration import Configuration
from .data import configurations
from .defaults import Table

REFUSED, UNREAD = "PW012", "PW104"
NEAR = 2
"""So many letters at most differ in a key that is probably misspelt, though nothing refuses it."""
SHORT = 6
"""In shorter keys it is one letter."""
REAL = {
    "actor_rollout_ref.actor.micro_batch_size", "actor_rollout_ref.actor.traj_mini_batch_size", "data.batch_size", "data.gen_batch_size",
    "data.val_batch_size", "trainer.n_env_gpus_per_node", "trainer.n_rollout_gpus_per_node",
}  # fmt: skip
"""Keys that verl looks for, though no configuration has them."""


def judge_keys(notes: Notes, settings: Configuration) -> None:
    """A finding for every key that the configuration does not have; nothing where the configuration is not known."""
    table, document = settings.table, notes.document
    if table is None:
        return
    composed = document.program is not None and document.program.found  # then what Hydra refuses has been found
    if not document.settings:
        _section(notes, settings, table, document.root, "")
        return
    judged = _Settings(notes, table)
    for setting in document.settings:
        if setting.package is None and "/" not in setting.key and setting.key.split(".")[0] != "hydra":
            judged.judge(setting, composed)
    if not composed:
        judged.options()


class _Settings:
    """The settings of a command line, judged one after the other."""

    def __init__(self, notes: Notes, table: Table) -> None:
        self.notes = notes
        self.table = table
        self.added: set[str] = set()

    def judge(self, setting: Setting, composed: bool) -> None:
        """A finding where Hydra refuses a setting, or keeps one that was probably meant for another key."""
        key, kind = setting.key, setting.kind
        if kind in (Mark.CHANGE, Mark.DELETE):
            if not composed and not self._has(key):
                if self._may_be_another_program(key):
                    why = f"`{key}` is a key of another configuration than `{self.table.name}`, which is assumed"
                    self.notes.unsure("PW122", "", why, True, "Name the program: `python3 -m MODULE key=value`")
                else:
                    self._missing(setting)
        elif kind is Mark.ADD and not composed and isinstance(setting.value, Scalar) and key not in self.added and self._is_set(key):
            self._there(setting)
        elif not self._has(key):
            self._unread(setting)
        self.added.add(key)

    def options(self) -> None:
        """An error for every option of a group that the release at hand does not have, though others do."""
        choice = self.notes.choice
        for group, option in self.table.chosen:
            mask = configurations().option_in(self.table.name, group, option) if option is not None else 0
            if choice is None or not mask or mask >> choice.release.index & 1:
                continue
            at = next(each for each in self.notes.document.settings if each.key == group.partition("@")[0])
            message = f"`{group}` has no option `{option}` in {choice.release}, so Hydra refuses it"
            self._refuse(at.key_span, message, mask, "")

    def _has(self, key: str) -> bool:
        """Is a key there, or can it be: below an unknown list, below what another setting added, or through a reference?"""
        table = self.table
        if table.has(key) or key in table.groups:
            return True
        owner = key
        while owner:
            if owner in self.added and owner not in table.keys and owner not in table.sections:
                return True
            if owner in table.same:
                target = f"{table.same[owner]}{key[len(owner) :]}"
                return target == key or table.has(target) or table.same[owner] in table.same
            if owner != key and owner in table.keys and owner not in table.defaults and table.keys[owner] != {}:
                return True
            owner = owner.rpartition(".")[0]
        return False

    def _may_be_another_program(self, key: str) -> bool:
        """True if nothing names the program, and another configuration of the release has the key."""
        program, choice, known = self.notes.document.program, self.notes.choice, configurations()
        if choice is None or (program is not None and program.name):
            return False
        return any(known.known_in(name, key) >> choice.release.index & 1 for name in known.index if name != self.table.name)

    def _is_set(self, key: str) -> bool:
        default = self.table.defaults.get(key)
        return key in self.table.sections or (default is not None and default.value is not None)

    def _missing(self, setting: Setting) -> None:
        key, choice = setting.key, self.notes.choice
        message = f"`{self.table.name}`{_of(choice)} has no key `{key}`, so Hydra refuses it"
        self._refuse(setting.key_span, message, configurations().known_in(self.table.name, key), meant(self.table, key), setting)

    def _refuse(self, at: Span, message: str, mask: int, better: str, setting: Setting | None = None) -> None:
        choice, notes, help_, edit = self.notes.choice, list[str](), "", None
        others = [release for release in choice.table if mask >> release.index & 1] if choice is not None else []
        if choice is not None and others:
            notes.append(f"{choice.table.framework} {spans_of(others)} {'has' if len(others) == 1 else 'have'} it")
        if setting is not None and better:
            written = self.notes.document.text_of(at.file)[at.start : at.end]
            help_, edit = f"write `{better}`", Edit(at, better) if written == setting.key else None
        elif choice is not None and others:
            help_ = f"name the release that you run: `--framework {choice.table.package}=={others[-1].name}`"
        elif setting is not None and setting.kind is Mark.CHANGE:
            help_ = f"write `+{setting.text}` if your own code reads it, else leave it out"
        self.notes.error(REFUSED, "", message, at, "not a key", help_, edit, *notes)

    def _there(self, setting: Setting) -> None:
        message = f"`{setting.key}` is in `{self.table.name}`{_of(self.notes.choice)}, so Hydra refuses to add it"
        written = self.notes.document.text_of(setting.span.file)[setting.span.start : setting.span.end]
        edit = Edit(setting.span.part(0, 1), "") if written[:1] == "+" else None
        self.notes.error(REFUSED, "", message, setting.key_span, "there already", f"write `{setting.text[1:]}`", edit)

    def _unread(self, setting: Setting) -> None:
        key = setting.key
        better = near(self.table, key)
        if not better or configurations().known_in(self.table.name, key):
            return
        written = self.notes.document.text_of(setting.key_span.file)[setting.key_span.start : setting.key_span.end]
        message = f"verl has no key `{key}`: it is added, and nothing reads it"
        edit = Edit(setting.key_span, better) if written == key else None
        self.notes.warn(UNREAD, better, message, setting.key_span, "not a key", f"write `{better}`", edit)


def _of(choice: Choice | None) -> str:
    return f" of {choice.release}" if choice is not None else ""


def meant(table: Table, key: str) -> str:
    """The key that a wrong one was probably meant for; "" if none is like it."""
    found, rest = "", key.split(".")
    while rest:
        names = table.sections.get(found, {})
        name = rest[0] if rest[0] in names else closest(rest[0], names)
        if name is None:
            break
        found, rest = f"{found}.{name}".lstrip("."), rest[1:]
    if not rest and found != key:
        return found
    whole = [each for each in table.keys if each.endswith(f".{key}")]
    last = key.rpartition(".")[2]
    same = whole or [each for each in table.keys if each.rpartition(".")[2] == last]
    return max(same, key=lambda each: _shared(each, key), default="")


def _shared(one: str, other: str) -> int:
    """How many sections two keys have in common."""
    return len(set(one.split(".")) & set(other.split(".")))


def near(table: Table, key: str) -> str:
    """A key of the same section at a distance of very few letters; "" if there is none."""
    owner, _, name = key.rpartition(".")
    most = NEAR if len(name) > SHORT else 1
    close = closest(name, table.sections.get(owner, {}), most) if key not in REAL else None
    return f"{owner}.{close}".lstrip(".") if close and _is_slip(name, close) else ""


def _is_slip(one: str, other: str) -> bool:
    """Is it not a whole word more or less, and no other number, which another key may well have?"""
    words = abs(one.count("_") - other.count("_"))
    return not words or distance(one.replace("_", ""), other.replace("_", "")) < NEAR


def _section(notes: Notes, settings: Configuration, table: Table, owner: Mapping, path: str) -> None:
    """Keys of a file that were probably meant to be others, and sections that are no maps."""
    names = table.sections.get(path, {})
    for entry in owner:
        key = f"{path}.{entry.key.text}".lstrip(".")
        if entry.key.text in names:
            if key in table.sections and isinstance(entry.value, Mapping):
                _section(notes, settings, table, entry.value, key)
            elif key in table.sections and key not in table.groups and not _may_be_a_map(entry.value):
                notes.wrong_type(key, key, entry.value, "a map", f"write keys such as `{next(iter(table.sections[key]))}` below it")
        elif (better := near(table, key)) and not configurations().known_in(table.name, key):
            _tell(notes, settings, table, entry, key, better)


def _may_be_a_map(value: Value) -> bool:
    """Is it a map, nothing, or what is not known here?"""
    if isinstance(value, Scalar):
        return value.is_null or is_unknown(value) or holds_interpolation(value.text)
    return isinstance(value, Mapping)


def _tell(notes: Notes, settings: Configuration, table: Table, entry: Entry, key: str, better: str) -> None:
    default = table.defaults.get(settings.meant(better))
    stays = f"; `{better}` stays {default.value}, its default" if default is not None and default.value is not None else ""
    if settings.at(better) is not None:
        stays = f"; `{better}` is set too"
    message = f"verl has no key `{key}`: verl ignores it without a word{stays}"
    edit = notes.renamed(entry, better.rpartition(".")[2]) if settings.at(better) is None else None
    notes.warn(UNREAD, better, message, entry.key.span, "not a key", f"write `{better}`", edit)
