"""Keys that the selected release lacks: refused by Hydra or a dataclass, or unread.

Source: Hydra, hydra/_internal/config_loader_impl.py (a setting without `+` of a missing key is
refused, and so is one with a single `+` of an existing key); verl, verl/trainer/main_ppo.py (unread
keys are kept silently), verl/utils/config.py (omega_conf_to_dataclass; called in validate_config,
verl/workers/*_workers.py, verl/trainer/ppo/ray_trainer.py, verl/trainer/sft_trainer.py). Sections
without `_target_`, such as `engine_kwargs`, take any key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from ...configuration.notes import Notes, is_unknown
from ...configuration.overrides import find_deleted, is_key_below, may_be_a_map, may_have_folders, settings_in
from ...configuration.table import Table, correct_key, find_neighbour
from ...findings.span import Edit, Span
from ...releases.release import UNSTORED_VALUE
from ...text.document import Setting
from ...text.document import SettingMark as Mark
from ...text.interpolation_text import holds_interpolation
from ...text.nearest import SLIP, closest, distance
from ...text.tree import MANDATORY, MapNode, Scalar, find, plain
from .configuration import Configuration
from .degrees import TUNES
from .pools import ACCELERATORS, NODES
from .programs import TRAINERS, configurations, facts, names_in, releases

REFUSED, UNREAD = "PW012", "PW104"
MOST_NAMED = 3
BY_HYDRA = "Hydra refuses it before the program starts"
REAL: Sequence[str] = facts("settings")["looked_up"]["keys"]
"""Keys that verl looks up although no configuration has them, sorted."""
_RENAMED: Mapping[str, str] = facts("settings")["renamed"]["keys"]
_DATACLASSES: Mapping[str, Sequence[str]] = facts("settings")["dataclasses"]


def judge_keys(notes: Notes, settings: Configuration) -> None:
    """Add a finding for every key that a known configuration lacks."""
    table, document = settings.table, notes.document
    names = names_in(document.program.name) if document.program is not None else 0
    if table is None or (names and not names >> settings.choice.release.index & 1):
        return  # the keys of a program that the release lacks are those of another one
    keys = _Keys(notes, settings, table)
    if not document.settings:
        keys.section(document.root, "")
        return
    refused_spans = {finding.span for finding in document.findings if finding.code == REFUSED}
    for setting in document.settings:
        is_value = setting.package is None and "/" not in setting.key and setting.key.split(".")[0] != "hydra"
        if is_value and setting.key_span not in refused_spans:
            for part in settings_in(setting, table, document.excerpt):
                keys.setting(part)
    keys.options()
    for key, setting in find_deleted(document.settings).items():
        pool_key = next((pool for pool in (NODES, ACCELERATORS) if is_key_below(pool, key) and settings.entry.kind in TRAINERS), "")
        if pool_key:
            notes.error("PW123", "", f"verl reads `{pool_key}`, which is deleted", setting.key_span, "deleted", f"leave out `~{key}`")
        elif not document.is_composed and (why := keys.find_undeletable(setting)):
            notes.error(REFUSED, "", why, setting.key_span, "not deleted", f"leave out `{setting.text}`", None, BY_HYDRA)
        elif not document.is_composed or any(is_key_below(default, key) for default in table.defaults):
            why = f"`{setting.text}` deletes a part of the configuration; whether verl runs without it is not known"
            notes.unsure("PW122", "", why, True, f"Leave out `{setting.text}`")


def refused_keys(notes: Notes, settings: Configuration) -> frozenset[str]:
    """Return the keys of settings without `+` that the configuration lacks."""
    if settings.table is None:
        return frozenset()
    keys = _Keys(notes, settings, settings.table)
    return frozenset(setting.key for setting in notes.document.settings if setting.kind is Mark.CHANGE and not keys.has(setting.key))


class _Keys:
    """Judge of the keys of a file or a command line, in order.

    `composed`: Hydra's refusals are found already. `added` are keys of earlier settings,
    `sections` the missing sections with the index and the key of their finding, `refused` the
    fields reported so far.
    """

    def __init__(self, notes: Notes, settings: Configuration, table: Table) -> None:
        self.notes, self.settings, self.table = notes, settings, table
        self.composed, self.excerpt = notes.document.is_composed, notes.document.excerpt
        self.release = settings.choice.release
        self.added, self.refused = set[str](), set[str]()
        self.sections: dict[str, tuple[int, str]] = {}

    def find_undeletable(self, setting: Setting) -> str:
        """Return why Hydra refuses to delete a key; "" if it does not."""
        key, default = setting.key, self.table.keys.get(setting.key, UNSTORED_VALUE)
        group = f"{key}@{setting.package}" if setting.package else key
        keys = (before.key for before in self.notes.document.settings if before is not setting)
        if any(is_key_below(key, name) or is_key_below(name, key) for name in keys):
            return ""
        if (option := self.table.groups.get(group)) and setting.value is not None and not is_unknown(setting.value):
            text = plain(setting.value) if isinstance(setting.value, Scalar) else "a map"
            return f"`{group}` is `{option}`, so Hydra does not delete it as `{text}`" if text not in (None, option) else ""
        if "/" in key or setting.package is not None:
            return ""
        self.added.discard(key)
        if not self.has(key) or default is None:
            return f"`{self.table.name}` of {self.release} has no value `{key}` to delete"
        value = plain(setting.value) if isinstance(setting.value, Scalar) and not is_unknown(setting.value) else None
        is_stored = isinstance(default, (bool, int, float, str)) and not holds_interpolation(str(default))
        return f"`{key}` is `{default}`, so Hydra does not delete it as `{value}`" if is_stored and value not in (None, default) else ""

    def setting(self, setting: Setting) -> None:
        """Report a setting that Hydra refuses, or a probable misspelling."""
        key, kind, name = setting.key, setting.kind, self.table.name
        if kind is Mark.CHANGE:
            if not self.composed and not self.has(key):
                program, catalog = self.notes.document.program, configurations()
                names = [entry for entry in catalog.index if entry != name] if program is None or not program.name else []
                if any(self._holds(catalog.find_releases(entry, key)) for entry in names):
                    why = f"`{key}` is a key of another configuration than `{name}`, which is assumed"
                    self.notes.unsure("PW122", "", why, True, "Name the program: `python3 -m MODULE key=value`")
                elif not self._list_with_earlier(key, setting.key_span):
                    message, mask = f"`{name}` of {self.release} has no key `{key}`", catalog.find_releases(name, key)
                    self._refuse(setting.key_span, message, mask, correct_key(self.table, key, _RENAMED), setting)
        elif kind is Mark.ADD and not self.composed and isinstance(setting.value, Scalar) and self._is_set(key):
            message = f"`{key}` is already in `{name}` of {self.release}"
            edit = Edit(setting.span.part(0, 1), "") if self.excerpt(setting.span)[:1] == "+" else None
            self.notes.error(REFUSED, "", message, setting.key_span, "there already", f"write `{setting.text[1:]}`", edit, BY_HYDRA)
        elif not (self.table.has(key) if self.composed else self.has(key)) and (refusal := self._refused_field(key)):
            better = find_near(self.table, key)
            edit = Edit(setting.span.part(0, len(kind.value) + len(key)), better) if self.excerpt(setting.span) == setting.text else None
            self._report_no_field(refusal, better, setting.key_span, edit)
        elif not self.has(key) and (better := find_near(self.table, key)):
            message = f"verl has no key `{key}`: it is added, and nothing reads it"
            self.notes.warn(UNREAD, better, message, setting.key_span, "not a key", f"write `{better}`", self._rewritten(setting, better))
        self.added.add(key)

    def _list_with_earlier(self, key: str, at: Span) -> bool:
        """List a key with an earlier one of the same missing section, if any."""
        names = key.split(".")
        owners = (".".join(names[:end]) for end in range(1, len(names)))
        owner = next((owner for owner in owners if not self.has(owner) and owner not in self.table.sections), "")
        if not owner:
            return False
        index, first = self.sections.setdefault(owner, (len(self.notes.findings), key))
        if first == key:
            return False
        was, now = correct_key(self.table, first), correct_key(self.table, key)
        rests = first.removeprefix(owner), key.removeprefix(owner)
        better = was.removesuffix(rests[0]) if was.endswith(rests[0]) and was.removesuffix(rests[0]) == now.removesuffix(rests[1]) else ""
        finding = self.notes.findings[index]
        better = better if finding.help.startswith("write") else ""  # else another choice or release has the keys
        help_ = f"write `{better}` for `{owner}`" if better else finding.help
        line = f" (line {at.line})" * (finding.span is not None and finding.span.line != at.line)
        notes = (*finding.notes, f"the same of `{key}`{line}")
        edit = finding.edit
        if better:  # one edit of all keys, which shows what the section sets
            edit = self.notes.join(edit, Edit(at, now)) if edit is not None and self.excerpt(at) == key else None
        self.notes.findings[index] = replace(finding, help=help_, edit=edit, notes=notes)
        return True

    def options(self) -> None:
        """Add an error for every group option that the selected release lacks."""
        catalog, name = configurations(), self.table.name
        for setting in self.notes.document.settings if not self.composed else ():
            group = f"{setting.key}@{setting.package}" if setting.package else setting.key
            is_choice = setting.package is not None or "/" in setting.key
            if is_choice and not setting.key.startswith("hydra/") and group not in self.table.groups:
                if setting.kind in (Mark.CHANGE, Mark.DELETE) and not self.table.open and not may_have_folders(self.notes.document):
                    self._refuse_group(setting, group)
                    continue
                why = f"`{setting.text}` chooses a part of the configuration that is not known here"
                self.notes.unsure("PW013", group, why, True, "Pass `--config-root DIR` with its folder")
        for group, option in self.table.chosen if not self.composed else ():
            setting = next(entry for entry in self.notes.document.settings if entry.key == group.partition("@")[0])
            is_null = isinstance(setting.value, Scalar) and setting.value.is_null
            if option is None or not self._holds(catalog.groups(name).get(group, 0)) or setting.kind is not Mark.CHANGE or is_null:
                continue
            mask = catalog.option_in(name, group, option)
            if self._holds(mask):
                continue
            message = f"`{group}` has no option `{option}` in {self.release}"
            if mask or not may_have_folders(self.notes.document):
                options = (word for word in catalog.options_of(name, group) if self._holds(catalog.option_in(name, group, word)))
                self._refuse(setting.key_span, message, mask, help_=f"options are {', '.join(f'`{word}`' for word in options)}")
            else:
                why = f"`{group}={option}` is not verl's; it may be in a folder of configurations that is not read"
                self.notes.unsure("PW013", group, why, True, "Pass `--config-root DIR` with that folder")

    def _refuse_group(self, setting: Setting, group: str) -> None:
        """Add an error for a group that no list of defaults names."""
        key, close = setting.key.replace("/", "."), setting.key if setting.key in self.table.groups else closest(group, self.table.groups)
        better = key if setting.package is None and self.has(key) else close
        _, sign, option = setting.text.partition("=")
        help_ = f"write `{setting.kind.value}{better}{sign}{option}`" if better else "leave it out"
        message = f"no list of defaults of `{self.table.name}` in {self.release} has the group `{group}`"
        self.notes.error(REFUSED, "", message, setting.key_span, "no group", help_, None, BY_HYDRA)

    def section(self, owner: MapNode, path: str) -> None:
        """Report probable misspellings in a file, and sections without a map."""
        table = self.table
        for entry in owner:
            key = f"{path}.{entry.key.text}".lstrip(".")
            if entry.key.text in table.sections.get(path, {}):
                if key in table.sections and isinstance(entry.value, MapNode):
                    self.section(entry.value, key)
                elif key in table.sections and key not in table.groups and not may_be_a_map(entry.value):
                    inner = next(iter(table.sections[key]))
                    self.notes.report_type(key, key, entry.value, "a map", f"write keys such as `{inner}` below it")
            elif refusal := self._refused_field(key):
                better = find_near(table, key)
                edit = self.notes.rename(entry, better.rpartition(".")[2]) if better else None
                self._report_no_field(refusal, better, entry.key.span, edit)
            elif better := find_near(table, key):
                default, is_set = table.defaults.get(self.settings.resolve_key(better)), self.settings.at(better) is not None
                default_notes = [f"`{better}` stays {default.value}"] if default is not None and default.value is not None else []
                message, notes = f"verl has no key `{key}`, and ignores it", [f"`{better}` is set too"] if is_set else default_notes
                edit = None if is_set else self.notes.rename(entry, better.rpartition(".")[2])
                self.notes.warn(UNREAD, better, message, entry.key.span, "not a key", f"write `{better}`", edit, *notes)

    def has(self, key: str) -> bool:
        """Return True if a key exists or may exist."""
        table = self.table
        if table.has(key) or key in table.groups:
            return True
        # Another file of the configuration may have the key.
        document, names = self.notes.document, key.split(".")
        suffixes = [".".join(names[start:]) for start in range(len(names))]
        texts = document.included.values() if document.program else ()
        roots = [text.value for text in texts if text.name.endswith((".yaml", ".yml"))]
        if any(isinstance(root, MapNode) and find(root, end) is not None for root in roots for end in suffixes):
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

    def _holds(self, mask: int) -> bool:
        return bool(mask >> self.release.index & 1)

    def _is_set(self, key: str) -> bool:
        if any(is_key_below(key, name) for name in self.added):
            return False
        default = self.table.defaults.get(self.table.same.get(key, key))
        return key in self.table.sections or (default is not None and default.value not in (None, MANDATORY))

    def _refuse(self, at: Span, message: str, mask: int, better: str = "", setting: Setting | None = None, help_: str = "") -> None:
        """Add an error of Hydra; `mask`: accepting releases, `better`: the probable key."""
        notes, label, releases_known = [BY_HYDRA], "no such option" if help_ else "not a key", self.settings.choice.table
        makes = self._makes(self.release.index, setting.key) if setting and self._holds(mask) else []
        if makes:
            better, help_ = "", f"choose what has it: {' or '.join(f'`{selection}`' for selection in makes[:MOST_NAMED])}"
        elif setting is not None and setting.kind is Mark.CHANGE and (read := self._find_hidden(setting.key, better)):
            better, help_ = "", f"write `+{read}{setting.text[len(setting.key) :]}`: verl takes it, though no configuration has it"
        elif mask:  # a right key elsewhere is no slip for the same key of another component
            key = setting.key if setting is not None else ""
            is_other = better.count(".") == key.count(".") and better.rpartition(".")[2] == key.rpartition(".")[2]
            better = "" if is_other else better
            notes, help_ = [*notes, releases_known.have_it(mask)], releases_known.name_release(mask)
            help_ = "leave it out, or run a release that has it" if self.settings.choice.is_stated else help_
        elif setting is not None and setting.kind is Mark.CHANGE:
            refusal = self._refused_field(setting.key)
            help_ = "leave it out" if refusal else f"write `+{setting.text}` if your own code reads it, else leave it out"
        edit = self._rewritten(setting, better) if setting is not None and better else None
        self.notes.error(REFUSED, "", message, at, label, f"write `{better}`" if better else help_, edit, *notes)

    def _makes(self, release: int, key: str) -> list[str]:
        """Return command line choices with which the release has a key."""
        catalog, name = configurations(), self.table.name
        options = catalog.options_with(name, release, key)
        folder = catalog.path(name, release).rpartition("/")[0]
        neighbours = [entry for entry in catalog.index if entry != name and catalog.path(entry, release).rpartition("/")[0] == folder]
        names = [entry for entry in neighbours if (tree := catalog.compose(entry, release)) is not None and key in tree.keys]
        return [option for option in options if "_engine=" in option] or [f"--config-name={entry}" for entry in names] or options

    def _report_no_field(self, refusal: tuple[str, str, int], better: str, at: Span, edit: Edit | None) -> None:
        """Add the error of a dataclass, raised when verl reads the section."""
        name, field, mask = refusal
        if field in self.refused:
            return
        self.refused.add(field)
        notes = ["the job fails with a TypeError when verl reads this section, before the first step"]
        notes += [self.settings.choice.table.have_it(mask)] if mask else []
        message = f"`{name}` of {self.release} has no field `{field.rpartition('.')[2]}`, and takes no other key"
        self.notes.error(UNREAD, better, message, at, "not a field", f"write `{better}`" if better else "leave it out", edit, *notes)

    # -- dataclasses

    def _refused_field(self, key: str) -> tuple[str, str, int] | None:
        """Return (dataclass, unknown field, bits of releases with it) if a key is refused."""
        owner = next((section for section in self._sections if key.startswith(f"{section}.")), "")
        rest = key[len(owner) + 1 :].split(".")
        while owner and rest:
            name, is_known, mask = self._field(owner, rest[0])
            if not self._holds(mask):
                return (name, f"{owner}.{rest[0]}", mask) if is_known else None
            owner, rest = f"{owner}.{rest[0]}", rest[1:]
        return None

    def _field(self, section: str, key: str) -> tuple[str, bool, int]:
        """Return a section's dataclass, if known, and the bits of releases with a field."""
        name = self._dataclass(section)
        runs = facts("fields").get(name, ())
        return name, releases().has(runs, self.release.index), releases().mask([run for run in runs if key in run[2].split()])

    def _find_hidden(self, key: str, better: str) -> str:
        """Return the unlisted key that verl reads, nearer than `better`; "" if none."""
        owner, _, name = key.rpartition(".")
        if any(f"{owner}.".startswith(f"{section}.") for section in self._sections) and self._holds(self._field(owner, name)[2]):
            return key
        limit = min(SLIP, distance(key, better) - 1) if better else SLIP
        candidate = closest(key, REAL, limit) or ""
        return "" if better and candidate.rpartition(".")[2] in better else candidate

    def _dataclass(self, section: str) -> str:
        """Return the dataclass of a section; "" if unknown or none."""
        path, document = f"{section}._target_", self.notes.document
        target, default = self.settings.at(path), self.table.defaults.get(path)
        if target is None and document.program is not None and not document.is_composed:
            text = str(default.value) if default is not None and not self.table.is_open(section) else ""
        else:
            text = target.text if isinstance(target, Scalar) and not is_unknown(target) else ""
        return text.rpartition(".")[2] if text.startswith("verl.") else ""

    @property
    def _sections(self) -> Sequence[str]:
        """Sections that the program always turns into dataclasses."""
        settings, entry = self.settings, self.settings.entry
        if settings.is_older_than("0.6.0") or entry.own_trainer:
            return ()
        if entry.kind in TRAINERS:
            return [owner for owner in _DATACLASSES["trained"] if owner != "critic" or settings.has_critic]
        return _DATACLASSES["tuned"] if entry.configuration == "sft_trainer_engine" and entry.kind in TUNES else ()

    def _rewritten(self, setting: Setting, better: str) -> Edit | None:
        return Edit(setting.key_span, better) if self.excerpt(setting.key_span) == setting.key else None


def find_near(table: Table, key: str) -> str:
    """Return a similar key of the same section; "" if some release has the key."""
    return "" if key in REAL or configurations().find_releases(table.name, key) else find_neighbour(table, key)
