"""Words that a shell completes in arguments: codes, models and names of nodes."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from ...models.findings.finding import UnusableInput


def codes(ctx: click.Context, param: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Return the codes that begin so, else files."""
    from ...models.findings.codes import CODES

    items = [CompletionItem(code) for code in CODES if prefix and code.startswith(prefix.upper())]
    return items or [CompletionItem(prefix, type="file")]


def models(ctx: click.Context, param: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Return the ids of known models that begin so."""
    from ...models.model_cards.known import KNOWN

    return [CompletionItem(model) for model in KNOWN if model.startswith(prefix)]


def nodes(ctx: click.Context, param: click.Parameter, prefix: str) -> list[CompletionItem]:
    """Return the names of nodes of `--cluster` that begin so."""
    from ...models.machines.cluster import Cluster
    from ...models.machines.reading import read_machines

    try:
        machines = read_machines(str(ctx.params["cluster"])) if ctx.params.get("cluster") else None
    except (UnusableInput, ValueError):
        return []
    names = [node.name for node in machines.nodes] if isinstance(machines, Cluster) else []
    return [CompletionItem(name) for name in names if name.startswith(prefix)]
