"""One entry of a `defaults` list: which text is merged, and under which package.

Source of the forms: Hydra, hydra/_internal/config_repository.py (_create_defaults_list) and hydra/core/default_element.py.
"""

from __future__ import annotations

from dataclasses import replace

from ..findings.finding import Finding, error
from ..findings.span import Span
from ..record import dataclass
from ..text.interpolation_text import holds_interpolation
from ..text.tree import ListNode, MapNode, Scalar, Value, kind_of

SELF = "_self_"
_FORMS = "an entry is `group/option`, `group/option@package`, `group: option`, `override group: option` or `_self_`"


@dataclass(frozen=True, slots=True)
class Entry:
    """`group/option@package` as a word, or `group@package: option` as a map; only the latter can be overridden.

    Attributes
    ----------
    group : the group as written; of a word everything before its last `/`, "" if there is none.
    option : the name of the text in the group; None where nothing is chosen, several names where a list is.
    keyed : is it a map?
    package : what is written after `@`, None if nothing is.
    appended : was it added on the command line?
    """

    group: str
    option: str | tuple[str, ...] | None
    span: Span
    keyed: bool = False
    package: str | None = None
    optional: bool = False
    override: bool = False
    appended: bool = False

    @property
    def is_self(self) -> bool:
        """Does it stand for the content of the file itself?"""
        return self.option == SELF and not self.group

    @property
    def interpolated(self) -> bool:
        """Does what it chooses depend on other choices?"""
        return isinstance(self.option, str) and holds_interpolation(f"{'' if self.keyed else self.group}{self.option}")

    def choosing(self, option: str | tuple[str, ...] | None) -> Entry:
        """The same entry with another option."""
        return replace(self, option=option)

    def each(self) -> tuple[Entry, ...]:
        """An entry for every name of a list of options."""
        names = self.option if isinstance(self.option, tuple) else ()
        return tuple(Entry(self.group, name, self.span, package=self.package, optional=self.optional) for name in names)


def word(text: str, span: Span) -> Entry:
    """The entry of a word such as ``env/libero@env.train``."""
    path, _, package = text.partition("@")
    group, slash, name = path.rpartition("/")
    return Entry(group or slash, name, span, package=_package(package) if "@" in text else None)


def keyed(key: str, option: str | tuple[str, ...] | None, span: Span) -> Entry:
    """The entry of a key such as ``override db@source`` and the option chosen for it."""
    written, _, package = key.partition("@")
    *keywords, group = written.split(" ")
    found = Entry(group, option, span, True, _package(package) if "@" in key else None)
    return replace(found, optional="optional" in keywords, override="override" in keywords)


def read_entries(defaults: Value | None, findings: list[Finding]) -> list[Entry]:
    """The entries of a `defaults` list; what is none is a Finding, and left out."""
    if defaults is None:
        return []
    if not isinstance(defaults, ListNode):
        findings.append(_wrong(f"`defaults` must be a list, but it is {kind_of(defaults)}", defaults))
        return []
    return [entry for item in defaults.items if (entry := _read(item, findings)) is not None]


def _read(item: Value, findings: list[Finding]) -> Entry | None:
    if isinstance(item, Scalar) and isinstance(item.value, str):
        entry = word(item.text, item.span)
        if entry.is_self and entry.package is not None:
            findings.append(_wrong("`_self_` stands in its own package and takes no other", item))
            return None
        return entry
    if isinstance(item, MapNode):
        pairs = [pair for pair in item if pair.key.text != "optional" or len(item.entries) == 1]
        if len(pairs) == 1:
            found = _of_pair(pairs[0].key.text, pairs[0].value, item.span, findings)
            flag = item.get("optional") if len(item.entries) > 1 else None
            return replace(found, optional=True) if found and isinstance(flag, Scalar) and flag.value is True else found
        findings.append(_wrong(f"an entry of `defaults` must have one key, but this one has {len(item.entries)}", item))
        return None
    findings.append(_wrong(f"an entry of `defaults` must be a word or a map, but it is {kind_of(item)}", item))
    return None


def _of_pair(key: str, value: Value, span: Span, findings: list[Finding]) -> Entry | None:
    if isinstance(value, Scalar) and value.is_null:
        return keyed(key, None, span)
    if isinstance(value, Scalar) and isinstance(value.value, str):
        return keyed(key, value.text, span)
    if isinstance(value, ListNode) and all(isinstance(item, Scalar) and isinstance(item.value, str) for item in value.items):
        return keyed(key, tuple(item.text for item in value.items if isinstance(item, Scalar)), span)
    findings.append(_wrong(f"what `{key}` chooses must be a name or a list of names, but it is {kind_of(value)}", value))
    return None


def _package(text: str) -> str:
    name = text.partition(":")[0]
    return "" if name == "_here_" else name


def _wrong(message: str, at: Value) -> Finding:
    return error("PW013", "", message, at.span, label=kind_of(at), help=_FORMS)
