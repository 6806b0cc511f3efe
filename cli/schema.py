"""Verb `placewright schema`: JSON Schemas for editors."""

from __future__ import annotations

import click

from ..models.dialect_names import FRAMEWORKS


@click.command()
@click.argument(
    "kind", type=click.Choice(["native", "cluster", "plan", *FRAMEWORKS], case_sensitive=False), default="native", metavar="[KIND]"
)
def schema(kind: str) -> int:
    """Print the JSON Schema (draft-07) of a kind of file.

    The kinds are native (the default), cluster and plan, and rlinf, roll and verl for files of a
    framework with hints. With the schema an editor completes and explains every key, and marks unreadable values. With the YAML
    language server (VS Code, Neovim...) the first line of a file names its schema:

    \b
    placewright schema native > placewright.schema.json
    # yaml-language-server: $schema=placewright.schema.json
    """
    from ..report.schema import schema_to_json

    click.echo(schema_to_json(kind), nl=False)
    return 0
