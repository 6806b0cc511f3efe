"""Settings that choose, add or delete an entry of `defaults`, apart from value settings.

Source: Hydra, hydra/_internal/defaults_list.py (Overrides): a setting is about a group if a folder
has its name.
"""

from __future__ import annotations

from dataclasses import field
from typing import Sequence

from ..findings.finding import Finding, error
from ..record import dataclass
from ..text.document import DocumentKind, Setting
from ..text.tree import ListNode, MapNode, Scalar, Value, kind_of
from .defaults import DefaultsEntry, GroupChoice, GroupChoices, Option
from .places import SearchPath


@dataclass
class GroupSettings:
    """Settings of a command, sorted by purpose.

    Attributes
    ----------
    choices : overrides and deletions of entries of the file.
    appended : entries to append to the `defaults` list.
    value_settings : settings of values, in the order of the command line.
    """

    choices: GroupChoices = field(default_factory=GroupChoices)
    appended: list[DefaultsEntry] = field(default_factory=list)
    value_settings: list[Setting] = field(default_factory=list)

    @staticmethod
    def of(settings: Sequence[Setting], search: SearchPath, findings: list[Finding]) -> GroupSettings:
        """Sort the settings; faults in group settings are added to `findings`."""
        groups = GroupSettings()
        for setting in settings:
            if setting.key == "hydra" or setting.key.startswith(("hydra.", "hydra/")):
                continue  # about Hydra itself
            is_group = "." not in setting.key and search.is_group(setting.key)
            looks_like = "/" in setting.key or setting.package is not None
            if not isinstance(setting.value, MapNode) and (is_group or (looks_like and search.unseen)):
                groups._sort(setting, findings)
            elif looks_like:
                message = f"there is no folder `{setting.key}`, so it is no group that could be chosen"
                findings.append(_wrong(setting, message, search.why_not_found))
            else:
                groups.value_settings.append(setting)
        return groups

    def _sort(self, setting: Setting, findings: list[Finding]) -> None:
        key = setting.key if setting.package is None else f"{setting.key}@{setting.package}"
        option, value = _option(setting.value), setting.value
        if setting.kind is DocumentKind.FORCE:
            findings.append(_wrong(setting, "a group cannot be added with `++`", f"write `{setting.text[1:]}`"))
        elif setting.kind is DocumentKind.DELETE:
            self.choices.deletions[key] = GroupChoice(option, setting.key_span, "PW012")
        elif value is None or option is None:
            message = f"what is chosen for the group `{key}` must be a name or a list of names, but it is {kind_of(value) if value else 'nothing'}"
            findings.append(_wrong(setting, message, f"write `{key}=OPTION`; `~{key}` takes the group out"))
        elif setting.kind is DocumentKind.ADD:
            self.appended.append(DefaultsEntry(setting.key, option, value.span, True, setting.package, appended=True))
        else:
            self.choices.overrides[key] = GroupChoice(option, value.span, "PW012")


def _option(value: Value | None) -> Option:
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return value.text
    if isinstance(value, ListNode) and all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items):
        return tuple(item.text for item in value.items if isinstance(item, Scalar))
    return None


def _wrong(setting: Setting, message: str, help_: str) -> Finding:
    return error("PW012", "", message, setting.key_span, label="a group", help=help_)
