"""Verb `placewright server`: a language server for editors."""

from __future__ import annotations

import click

from ..models.findings.finding import UnusableInput, error
from ..report.version import version


@click.command()
def server() -> int:
    """Serve an editor on standard input and output: findings, fixes, explanations, completion.

    The protocol is LSP 3.17. Machines and releases are those of `placewright.toml` or
    `[tool.placewright]` beside the file, else of PLACEWRIGHT_CLUSTER. Needs the extra `lsp`.
    """
    try:
        from .editor.server import make_server
    except ModuleNotFoundError as problem:
        add = '`pip install "placewright[lsp]"`'
        raise UnusableInput([error("PW001", "", f"a language server needs `{problem.name}`, which is not installed", help=add)]) from None
    make_server(version()).start_io()
    return 0
