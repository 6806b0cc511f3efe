"""Options that several verbs share, and the reading of their values."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import click

from ...models import dialect_names
from ...models.findings.finding import UnusableInput, error
from ...models.findings.selection import path_matches
from ...models.level import DEFAULT_LEVEL, LEVELS
from ...models.machines.reading import read_machines
from ...models.record import dataclass
from ..exit_codes import UNUSABLE
from .completion_words import nodes

FORMATS = ("json", "github", "sarif", "junit")
"""Formats for programs, each a module of `report/`."""

if TYPE_CHECKING:
    from ...models.composition import Composer
    from ...models.machines.cluster import Cluster
    from ...models.machines.shorthand import DeclaredNodes
    from ...models.model_cards import ModelCard
    from ...models.reading import Reading
    from ...models.text.source import Source


Verb = Callable[..., Any]


def with_options(verb: Verb, *options: Callable[[Verb], Verb]) -> Verb:
    """Add options to a verb; its help lists the last one first."""
    for option in options:
        verb = option(verb)
    return verb


_SET = "Set a value or choose a group, as on the command line of Hydra; may be given several times."
_CONFIG_ROOT = "Look for the groups of `defaults` here too; nothing is read outside of these folders and that of the file."
_FRAMEWORK = "The release that the files are for, such as verl==0.6.1; may be given for several frameworks. "
_FRAMEWORK += "Default: the one that lies beside the file or that its keys show, else the newest."
_ALLOW_ENV = "Let interpolations read this environment variable; its text is never shown."
_CLUSTER = "The machines: NODESxACCELERATORS[xMODEL] such as 2x8xH100 or 2x8+1x0, x8 for as many nodes as the file "
_CLUSTER += "declares with 8 each, or a cluster file."
_MODEL = "The `config.json` of the policy, whose heads, layers and experts are divided among ranks. In a native file it is the model "
_MODEL += "of each component that has degrees or an `estimate`, names no other model, and is not a critic, reward, teacher, env or agent."
CLUSTER_VARIABLE = "PLACEWRIGHT_CLUSTER"
"""Environment variable that names the cluster if the command line does not."""
DIALECTS = ("auto", *dialect_names.DIALECTS)


def check_with(read: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback of an option: a ValueError of `read` is a usage error."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        try:
            return read(value)
        except ValueError as problem:
            raise click.BadParameter(str(problem), ctx, param) from None

    return callback


def _memory_mib(value: str) -> int:
    """Return the MiB of a text such as `4GiB`.

    A search needs 512 MiB to begin; no machine has more than 1024 TiB.
    """
    from ...models.quantity import read_memory

    if not 512 <= (amount := read_memory(value)) <= 1 << 30:
        raise ValueError(f"`{value}` is not between 512MiB and 1024TiB")
    return amount


def lose_option(help_: str) -> Callable[[Verb], Verb]:
    """Return the option `--lose`, as the argument `losses`."""
    return click.option(
        "--lose", "losses", multiple=True, metavar="NODE,...", callback=check_with(_node_words), shell_complete=nodes, help=help_
    )


def _node_words(texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return node names and ranks, at least one for each text such as `node-3,7`."""
    nodes_by_text = tuple(tuple(word.strip() for word in text.split(",") if word.strip()) for text in texts)
    if not all(nodes_by_text):
        raise ValueError("name nodes by name or rank, such as `node-3,7`")
    return nodes_by_text


def echo_unusable(problem: UnusableInput, form: str) -> int:
    """Print unusable machines, nodes or plans in a format for programs; return the exit code."""
    from ...report.results import VerifyResults, render
    from ..pages import page_text

    click.echo(render(form, VerifyResults(findings=problem.findings, page_of=page_text)))
    return UNUSABLE


def _known_frameworks(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the releases, each of a known framework."""
    if not texts:
        return ()
    from ...models.dialects.released import known_framework

    return tuple(map(known_framework, texts))


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files: machines, dialect, settings, level, model."""

    machines: Cluster | DeclaredNodes | None
    dialect: str
    settings: tuple[str, ...]
    roots: tuple[str, ...]
    allowed: tuple[str, ...]
    frameworks: tuple[str, ...]
    level: str
    model: ModelCard | None = None
    by_path: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @cached_property
    def composer(self) -> Composer:
        """Composer of the files of this command, which share what it has read."""
        from ...models.composition import Composer

        return Composer(self.roots, self.settings, self.allowed, self.frameworks)

    def at(self, file: str | Source) -> ReadOptions:
        """Return the options for a file, with the settings of its path."""
        name = file if isinstance(file, str) else file.name
        patterns = tuple(pattern for pattern, _ in self.by_path if path_matches(name, pattern))
        if patterns and patterns not in self._by_patterns:
            changes = {option: value for pattern, options in self.by_path if pattern in patterns for option, value in options.items()}
            self._by_patterns[patterns] = replace(self, **changes)
        return self._by_patterns.get(patterns, self)

    @cached_property
    def _by_patterns(self) -> dict[tuple[str, ...], ReadOptions]:
        return {}

    def load(self, file: str, machines: Cluster | DeclaredNodes | None = None) -> Reading:
        """Read a file, or standard input for `-`. The model is not known yet."""
        from ...models.dialects.load import load
        from .standard_input import source_of

        text = source_of(file)
        options = self.at(text)
        return load(text, machines or options.machines, options.dialect, options.level, options.composer)

    def with_model(self, reading: Reading) -> Reading:
        """Return a reading with the model of `--model-config`, if one is named."""
        from ...models.dialects.agreement import with_policy

        return with_policy(reading, self.model) if self.model else reading


def _settings_by_path(ctx: click.Context) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return (pattern, options) of the project, without those that the command line names."""
    tables = (ctx.default_map or {}).get("by_path", ())
    if not tables:
        return ()
    from click.core import ParameterSource

    sources = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    free = [name for name in ("cluster", "dialect", "level", "frameworks") if ctx.get_parameter_source(name) not in sources]
    by_path = []
    for pattern, settings in tables:
        options = {name: settings[name] for name in free if name in settings}
        if "cluster" in options:
            options["machines"] = read_machines(options.pop("cluster"))
        by_path.append((pattern, options))
    return tuple(by_path)


def source_options(verb: Verb) -> Verb:
    """Add `--cluster`, `--dialect`, `--set` and its kin to a verb, as the argument `source`.

    The verb has `level_option` and may have `model_option` too. An unreadable shorthand is a usage
    error; unusable files raise UnusableInput. With `--format json` both are printed as JSON.
    """

    @wraps(verb)
    def with_source(*arguments: Any, cluster: str | None, model_config: str | None = None, **options: Any) -> Any:
        model = None
        try:
            machines = None if cluster is None else read_machines(cluster)
            by_path = _settings_by_path(click.get_current_context())
            if model_config is not None:
                from ...models.model_cards.card import read_model_config

                model = read_model_config(model_config)
        except (UnusableInput, ValueError) as problem:
            if isinstance(problem, UnusableInput):
                raise
            if options.get("form", "text") != "text":
                unread = error("PW011", "", str(problem), help="write it like `2x8xH100` or `x8`")
                raise UnusableInput([unread]) from None
            raise click.BadParameter(str(problem), click.get_current_context(), param_hint="'--cluster'") from None
        reading = {name: options.pop(name) for name in ("dialect", "settings", "roots", "allowed", "frameworks", "level")}
        return verb(*arguments, source=ReadOptions(machines, model=model, by_path=by_path, **reading), **options)

    folder = click.Path(exists=True, file_okay=False)
    return with_options(
        with_source,
        click.option(
            "--framework", "frameworks", multiple=True, metavar="NAME==VERSION", callback=check_with(_known_frameworks), help=_FRAMEWORK
        ),
        click.option("--allow-env", "allowed", multiple=True, metavar="NAME", help=_ALLOW_ENV),
        click.option("--config-root", "roots", multiple=True, type=folder, metavar="DIR", help=_CONFIG_ROOT),
        click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help=_SET),
        click.option(
            "--dialect",
            type=click.Choice(DIALECTS, case_sensitive=False),
            default="auto",
            show_default=True,
            help="How the file says placements.",
        ),
        click.option("--cluster", metavar="SHORTHAND|FILE", envvar=CLUSTER_VARIABLE, show_envvar=True, help=_CLUSTER),
    )


form_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For a person or a program."
)
formats_option = click.option(
    "--format", "form", type=click.Choice(["text", *FORMATS]), default="text", show_default=True,
    help="For a person or a program: annotations of GitHub, SARIF for code scanning, JUnit for test views.",
)  # fmt: skip
site_option = click.option(
    "--docs-url",
    "site",
    metavar="URL",
    default="",
    envvar="PLACEWRIGHT_DOCS_URL",
    help="Where you serve the documentation, for links to codes.",
)
level_option = click.option(
    "--level", type=click.Choice(LEVELS), default=DEFAULT_LEVEL, show_default=True, help="How much is checked; placement is faster."
)
model_option = click.option("--model-config", metavar="FILE", help=_MODEL)


class Seconds(click.FloatRange):
    """Finite number above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; anything else is a usage error."""
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return seconds


limit_option = click.option("--limit", type=Seconds(), default=10.0, show_default=True, help="Deterministic seconds of a search.")


def search_options(verb: Verb) -> Verb:
    """Add `--limit`, `--seed` and `--memory-limit` to a verb that searches."""
    return with_options(
        verb,
        click.option(
            "--memory-limit", metavar="SIZE", default="4GiB", show_default=True, callback=check_with(_memory_mib),
            help="What a search may take: it runs in a process of its own.",
        ),
        click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, help="Equal files and seeds give equal plans."),
        limit_option,
    )  # fmt: skip
