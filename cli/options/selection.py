"""Options `--select`, `--ignore` and `--warnings-as-errors` of `placewright verify`."""

from __future__ import annotations

import re
from functools import wraps
from typing import Any, Callable, Sequence

import click

from ...models.findings.finding import UnusableInput, error
from ...models.findings.selection import CodeSelection, is_known, may_be_ignored
from ...models.findings.wording import plural
from .shared import Verb, with_options

_SELECT = "Report these findings only: codes or their first characters, such as PW1,PW201."
_IGNORE = "Leave these findings out, and count them in the last line; `# placewright: ignore[CODE]` in a file does so for a line."
_STRICT = "Count a warning as an error: exit code 1."


def selection_options(verb: Verb) -> Verb:
    """Add the options to a verb, as `selection` and `warnings_as_errors`."""

    @wraps(verb)
    def with_selection(*arguments: Any, select: Sequence[str], ignore: Sequence[str], **options: Any) -> Any:
        tables = (click.get_current_context().default_map or {}).get("by_path", ())
        by_path = tuple((pattern, settings["ignore"]) for pattern, settings in tables if "ignore" in settings)
        return verb(*arguments, selection=CodeSelection(tuple(select), tuple(ignore), by_path), **options)

    return with_options(
        with_selection,
        click.option("--warnings-as-errors", is_flag=True, help=_STRICT),
        _codes_option("ignore", read_ignored, _IGNORE),
        _codes_option("select", read_codes, _SELECT),
    )


def read_codes(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the codes in texts such as `PW1,PW201`. Raises ValueError that names unknown ones."""
    codes = tuple(code.upper() for text in texts for code in re.split(r"[,\s]+", text) if code)
    if unknown := [code[:20] for code in codes if not is_known(code)]:
        raise ValueError(f"unknown {plural('code', len(unknown))}: {', '.join(unknown)}")
    return codes


def read_ignored(texts: Sequence[str]) -> tuple[str, ...]:
    """Return codes to ignore. Raises ValueError for unknown codes and for unusable input."""
    codes = read_codes(texts)
    if refused_codes := [code for code in codes if not may_be_ignored(code)]:
        raise ValueError(f"{', '.join(refused_codes)} cannot be ignored: the input is unusable, and nothing was checked")
    return codes


def _codes_option(name: str, read: Callable[[Sequence[str]], tuple[str, ...]], help_: str) -> Callable[[Verb], Verb]:
    """Return an option for codes, also from a variable of the environment."""

    def callback(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
        try:
            return read(texts)
        except ValueError as problem:
            advice = "`placewright explain` lists the codes"
            raise UnusableInput([error("PW016", "", f"{param.opts[0]}: {problem}", help=advice)]) from None

    variable = f"PLACEWRIGHT_{name.upper()}"
    return click.option(f"--{name}", multiple=True, metavar="CODE,...", envvar=variable, show_envvar=True, callback=callback, help=help_)
