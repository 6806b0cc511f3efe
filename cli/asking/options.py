"""Options that several verbs share, and the reading of their values."""

from __future__ import annotations

import math
from functools import wraps
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

import click

from ...models import dialect_names
from ...models.findings.finding import UnusableInput, error
from ...models.level import DEFAULT_LEVEL, LEVELS

if TYPE_CHECKING:
    from ...models.machines.cluster import Cluster
    from ...models.machines.shorthand import AsDeclared


Verb = TypeVar("Verb", bound=Callable[..., Any])
_SET = "Set a value or choose a group, as on the command line of Hydra; may be given several times."
_CONFIG_ROOT = "Look for the groups of `defaults` here too; nothing is read outside of these folders and that of the file."
_FRAMEWORK = "The release that the files are for, such as verl==0.6.1; may be given for several frameworks. Default: see README."
_ALLOW_ENV = "Let interpolations read this environment variable; its text is never shown."
CLUSTER_VARIABLE = "PLACEWRIGHT_CLUSTER"
"""Environment variable that names the cluster if the command line does not."""
DIALECTS = ("auto", *dialect_names.DIALECTS)


def memory_mib(ctx: click.Context, param: click.Parameter, value: str) -> int:
    """Return the MiB of an option such as `4GiB`; a click callback.

    A search needs 512 MiB to begin; no machine has more than 1024 TiB.
    """
    from ...models.quantity import read_memory

    try:
        amount = read_memory(value)
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from None
    if not 512 <= amount <= 1 << 30:
        raise click.BadParameter(f"`{value}` is not between 512MiB and 1024TiB", ctx, param)
    return amount


def read_machines(text: str) -> Cluster | AsDeclared:
    """Return the machines of a shorthand (``2x8xH100``, ``x8``) or of a cluster file.

    Raises UnusableInput for an unusable file, ValueError for an unusable shorthand.
    """
    from ...models.machines.shorthand import looks_like_shorthand, read_shorthand

    if looks_like_shorthand(text):
        return read_shorthand(text)
    from ...models.machines.cluster_file import read_cluster

    return read_cluster(text)


def node_words(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the node names and ranks in each text such as `node-3,7`.

    A click callback; each text names at least one node.
    """
    nodes = tuple(tuple(word.strip() for word in text.split(",") if word.strip()) for text in texts)
    if not all(nodes):
        raise click.BadParameter("name nodes by name or rank, such as `node-3,7`", ctx, param)
    return nodes


def cluster_option(verb: Verb) -> Verb:
    """Add `--cluster` to a verb, as the argument `machines`: Cluster, AsDeclared or None.

    An unreadable shorthand is a usage error; an unusable cluster file raises UnusableInput. A verb
    with
    `--format json` prints both as JSON.
    """

    @wraps(verb)
    def with_machines(*arguments: Any, cluster: str | None, **options: Any) -> Any:
        try:
            machines = None if cluster is None else read_machines(cluster)
        except (UnusableInput, ValueError) as problem:
            if options.get("form") == "json":
                return said_as_json(problem)
            if isinstance(problem, ValueError):
                raise click.BadParameter(str(problem), click.get_current_context(), param_hint="'--cluster'") from None
            raise
        return verb(*arguments, machines=machines, **options)

    return click.option(
        "--cluster",
        metavar="SHORTHAND|FILE",
        envvar=CLUSTER_VARIABLE,
        show_envvar=True,
        help="The machines: NODESxACCELERATORS[xMODEL] such as 2x8xH100 or 2x8+1x0, x8 for as many nodes as the file "
        "declares with 8 each, or a cluster file.",
    )(cast(Verb, with_machines))


def said_as_json(problem: UnusableInput | ValueError) -> int:
    """Print unusable machines, nodes or plans as JSON and return the exit code."""
    from ...report.json import render

    unread = (error("PW011", "", str(problem), help="write it like `2x8xH100` or `x8`"),)
    click.echo(render((), findings=problem.findings if isinstance(problem, UnusableInput) else unread))
    return 2


def dialect_option(verb: Verb) -> Verb:
    """Add `--dialect` to a verb, as the argument `dialect`."""
    return click.option("--dialect", type=click.Choice(DIALECTS), default="auto", show_default=True, help="How the file says placements.")(
        verb
    )


def model_option(verb: Verb) -> Verb:
    """Add `--model-config` to a verb, as the argument `model`: a ModelCard or None.

    An unusable file raises UnusableInput; a verb with `--format json` prints the findings as JSON.
    """

    @wraps(verb)
    def with_model(*arguments: Any, model_config: str | None, **options: Any) -> Any:
        card = None
        try:
            if model_config is not None:
                from ...models.model_cards.card import read_model_config

                card = read_model_config(model_config)
        except UnusableInput as problem:
            if options.get("form") == "json":
                return said_as_json(problem)
            raise
        return verb(*arguments, model=card, **options)

    text = "The `config.json` of the policy, whose heads, layers and experts are divided among ranks. In a native file it is the model "
    text += "of each component that has degrees or an `estimate`, names no other model, and is no critic, reward, teacher, env or agent."
    return click.option("--model-config", metavar="FILE", help=text)(cast(Verb, with_model))


def level_option(verb: Verb) -> Verb:
    """Add `--level` to a verb, as the argument `level`."""
    return click.option(
        "--level", type=click.Choice(LEVELS), default=DEFAULT_LEVEL, show_default=True, help="How much is checked; placement is faster."
    )(verb)


def _known_frameworks(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Check that every release names a known framework; a click callback."""
    if not texts:
        return ()
    from ...models.dialects.released import known_framework

    try:
        return tuple(map(known_framework, texts))
    except ValueError as problem:
        raise click.BadParameter(str(problem), ctx, param) from None


def composing_options(verb: Verb) -> Verb:
    """Add `--set`, `--config-root`, `--allow-env` and `--framework`, as the argument `composer`."""

    @wraps(verb)
    def composed(
        *arguments: Any, settings: tuple[str, ...], roots: tuple[str, ...], allowed: tuple[str, ...], frameworks: tuple[str, ...],
        **options: Any,
    ) -> Any:  # fmt: skip
        from ...models.composition import Composer

        return verb(*arguments, composer=Composer(roots, settings, allowed, frameworks), **options)

    return composing_arguments(cast(Verb, composed))


def composing_arguments(verb: Verb) -> Verb:
    """Add the options of `composing_options` as separate arguments.

    The arguments are `settings`, `roots`, `allowed` and `frameworks`, from which a Composer is
    made.
    """
    folder = click.Path(exists=True, file_okay=False)
    for option in (
        click.option("--framework", "frameworks", multiple=True, metavar="NAME==VERSION", callback=_known_frameworks, help=_FRAMEWORK),
        click.option("--allow-env", "allowed", multiple=True, metavar="NAME", help=_ALLOW_ENV),
        click.option("--config-root", "roots", multiple=True, type=folder, metavar="DIR", help=_CONFIG_ROOT),
        click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=_SET),
    ):
        verb = option(verb)
    return verb


class Seconds(click.FloatRange):
    """Finite number above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; anything else is a usage error."""
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds
