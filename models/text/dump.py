"""Data as a new YAML text: blocks outside, the innermost maps and lists on one line."""

from __future__ import annotations

from typing import Any

import yaml

from .yaml_reader import EXPONENT

WIDTH = 120


class _Dumper(yaml.SafeDumper):
    """Never writes aliases; lists below a key are indented."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_implicit_resolver(*EXPONENT)


def to_yaml(data: dict[str, Any]) -> str:
    """The text, keys in the given order; read again it holds the same values."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=WIDTH)
    return text


def number_or_text(text: str) -> int | str:
    """A text of plain digits as the number that is written in the same way, so that it needs no quotes."""
    return int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text else text
