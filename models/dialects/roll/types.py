"""Keys and types of all values, as ROLL compares them with its classes at load.

Source: dacite, core.py (from_dict) and types.py (is_instance), called by ROLL's
examples/start_*_pipeline.py without `cast` and `strict`.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from typing import Iterator, NamedTuple, Sequence

from ...configuration.notes import Notes, is_unknown
from ...findings.causes import meet
from ...findings.finding import Severity
from ...text.nearest import SLIP, closest
from ...text.tree import Entry, ListNode, MapNode, Scalar, Value
from ..checks import Facts, OneOf
from .findings import report
from .job import RollChecks
from .names import AT_LOAD

CODE = "PW105"
_MAPS, _LISTS, _EITHER = ("dict", "Dict"), ("list", "List"), ("Optional", "Union")
_NARROWER = {"system_envs": "Dict[str, str]"}
"""Keys with maps whose values must be texts: ROLL hands them to `os.environ` and to Ray."""
_NOUNS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a text"}


class Misfit(NamedTuple):
    """Value without the type of its key. `owner` and `entry` hold it, if it can be removed."""

    path: str
    value: Value
    kind: ast.expr
    owner: MapNode | None = None
    entry: Entry | None = None


@cache
def _parse(kind: str) -> ast.expr:
    return ast.parse(kind, mode="eval").body


@cache  # the nodes of a type are kept by `_parse`
def _parts(kind: ast.expr) -> tuple[str, Sequence[ast.expr]]:
    """Return the name of a type and its arguments: `Dict[str, int]` is ("Dict", [str, int])."""
    if not isinstance(kind, ast.Subscript):
        return kind.id if isinstance(kind, ast.Name) else "None", ()
    return ast.unparse(kind.value), kind.slice.elts if isinstance(kind.slice, ast.Tuple) else (kind.slice,)


def _words(arguments: Sequence[ast.expr]) -> list[object]:
    return [argument.value for argument in arguments if isinstance(argument, ast.Constant)]


def number_of(notes: Notes, value: Value | None) -> int | float | None:
    """Return the number that Hydra reads. Unlike YAML it reads an unquoted `1e-3` as a number."""
    number = value.value if isinstance(value, Scalar) else None
    if isinstance(value, Scalar) and isinstance(number, str):
        is_quoted = notes.document.text_of(value.span.file)[value.span.start : value.span.start + 1] in ("'", '"')
        try:
            return None if is_quoted or not number[-1:].isdigit() else float(number)
        except ValueError:
            return None
    return number if isinstance(number, (int, float)) else None


class TypeChecks(RollChecks):
    """Errors of values of wrong types, and warnings of misspelt keys of inner maps."""

    def check(self) -> None:
        """Report every value that has no error yet."""
        root = self.settings.at("")
        error_spans = [finding.span for finding in self.notes.findings if finding.severity is Severity.ERROR and finding.span]
        for misfit in self._misfits_in(root, self.pipeline.config, "") if isinstance(root, MapNode) else ():
            is_judged = misfit.path.endswith(".strategy_name") or any(meet(misfit.value.span, span) for span in error_spans)
            if self.pipeline.checks_types and not is_judged:
                self._report(misfit)

    def _misfits_in(self, owner: MapNode, name: str, path: str) -> Iterator[Misfit]:
        fields, is_used = self.setup.profile.keys(name), not path or any(role.key == path and role.created for role in self.setup.roles)
        for entry in owner:
            inner = f"{path}.{entry.key.text}" if path else entry.key.text
            value = self.settings.at(inner) if entry.key.text in fields else None
            if value is not None:
                kind = (_NARROWER.get(entry.key.text) if is_used else None) or fields[entry.key.text][0]
                yield from self._misfits(Misfit(inner, value, _parse(kind), owner, entry), name.rpartition(".")[0])
                continue
            similar = [key for key in fields if abs(len(key) - len(entry.key.text)) <= SLIP]  # no whole word more or less
            if name.endswith("Arguments") and entry.key.text not in fields and (close := closest(entry.key.text, similar, SLIP)):
                help, edit = self.notes.to_rename(owner, entry, close)
                role, _, section = path.rpartition(".")
                values = {"section": section, "of": f" of `{role}`" if role else "", "key": entry.key.text, "help": help}
                report(self.notes, "no_key_of_section", role, entry.key.span, edit, **values)

    def _misfits(self, place: Misfit, prefix: str) -> Iterator[Misfit]:
        path, value, kind, *_ = place
        name, arguments = _parts(kind)
        if _is_open(value):
            return
        if not self._fits(value, kind, prefix):
            yield place
        elif name in _EITHER:
            possible = (argument for argument in arguments if self._fits(value, argument, prefix))
            yield from min((list(self._misfits(place._replace(kind=argument), prefix)) for argument in possible), key=len, default=())
        elif isinstance(value, ListNode) and arguments:
            for position, item in enumerate(value.items):
                yield from self._misfits(Misfit(f"{path}.{position}", item, arguments[0]), prefix)
        elif isinstance(value, MapNode) and len(arguments) == 2:
            for entry in value:
                item = self.settings.at(f"{path}.{entry.key.text}") or entry.value
                yield from self._misfits(Misfit(f"{path}.{entry.key.text}", item, arguments[1], value, entry), prefix)
        elif isinstance(value, MapNode) and (class_name := self._class_of(name, prefix)):
            yield from self._misfits_in(value, class_name, path)

    def _class_of(self, name: str, prefix: str) -> str:
        """Return the class of a type in ROLL's own files; "" for any other type."""
        return next((candidate for candidate in (f"{prefix}.{name}", name) if self.setup.profile.keys(candidate)), "")

    def _fits(self, value: Value, kind: ast.expr, prefix: str) -> bool:
        """Return True if a value, whatever it holds, has a type."""
        name, arguments = _parts(kind)
        if name in _EITHER:
            is_null = name == "Optional" and isinstance(value, Scalar) and value.is_null
            return is_null or any(self._fits(value, argument, prefix) for argument in arguments)
        if isinstance(value, MapNode):
            return name in (*_MAPS, "Any") or bool(self._class_of(name, prefix))
        if isinstance(value, ListNode):
            return name in (*_LISTS, "Any")
        number = number_of(self.notes, value)
        return {
            "Any": True,
            "None": value.is_null,
            "Literal": value.value in _words(arguments),
            "bool": isinstance(value.value, bool),
            "int": isinstance(number, int),
            "float": number is not None,
            "str": number is None and not value.is_null and not isinstance(value.value, bool),
        }.get(name, _is_open(value))

    def _noun(self, kind: ast.expr) -> str:
        name, arguments = _parts(kind)
        if name in _EITHER:
            return " or ".join(dict.fromkeys(self._noun(argument) for argument in arguments))
        if name == "Literal":
            return "one of " + ", ".join(f"`{word}`" for word in _words(arguments) if word is not None)
        return _NOUNS.get(name, "a list" if name in _LISTS else "a map")

    def _report(self, misfit: Misfit) -> None:
        path, value, kind, owner, entry = misfit
        subject = next((role.key for role in self.setup.roles if f"{path}.".startswith(f"{role.key}.")), "")
        name, arguments = _parts(kind)
        name, arguments = _parts(arguments[0]) if name == "Optional" else (name, arguments)
        is_written = isinstance(value, Scalar) and not value.is_null
        if name == "Literal" and is_written:
            words = [str(word) for word in _words(arguments) if word is not None]
            OneOf(code=CODE, source="ROLL, roll/configs", when=AT_LOAD, key=path, values=words).run(
                Facts(self.notes, self.settings, subject)
            )
        elif name == "int" and is_written:
            self.settings.report_type(path, value, 1)
            self.notes.findings[-1] = replace(self.notes.findings[-1], subject=subject)
        else:
            noun, is_null = self._noun(kind), isinstance(value, Scalar) and value.is_null
            edit = self.notes.remove(owner, entry) if is_null and owner is not None and entry is not None else None
            self.notes.report_type(subject, path, value, noun, f"write {noun}" + (", or remove it" if edit else ""), edit)


def _is_open(value: Value) -> bool:
    return is_unknown(value) or (isinstance(value, Scalar) and "${" in value.text)
