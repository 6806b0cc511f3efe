"""Command `placewright`: its verbs, each loaded only when called, and its exit codes.

0 ok; 1 findings, or an infeasible request; 2 unusable input or command line; 3 undecided within the
limit; 4 the cluster does not match the plan; 5 incomplete; 70 internal error.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, NoReturn, Sequence

import click

from .exit_codes import BROKEN_PIPE, INTERRUPTED, OK, OUR_FAULT, UNUSABLE
from .output.colour import color_option
from .output.help import HelpContext
from .output.text import echo

if TYPE_CHECKING:
    from ..models.findings.finding import UnusableInput


VERBS = {
    "verify": "Check the placements of configuration files.",
    "solve": "Find placements where a file gives hints instead of ranks.",
    "plan": "Plan a job from its model, cluster and algorithm, without a file.",
    "init": "Write the native file that `plan` uses.",
    "fit": "Fit estimated times to the metrics of a run.",
    "whatif": "Report what each demand, machine or setting costs: solve again without it.",
    "explain": "Explain what a file needs and where its numbers come from, or a code such as PW102.",
    "show": "Draw a plan or the placements of a file: a grid, an SVG or an HTML page.",
    "convert": "Write a configuration in another dialect.",
    "launch": "Start the workers of a file or a plan on Ray.",
    "status": "List the launches, and where their workers are.",
    "stop": "End a launch that was detached or kept.",
    "discover": "List the machines, and write them as a cluster file.",
    "server": "Serve an editor: findings, fixes, explanations, completion (LSP).",
    "serve-verify": "Verify, solve and explain over HTTP.",
    "completion": "Print what makes a shell complete verbs, options and names.",
    "schema": "Print what a file may contain, as JSON Schema for editors.",
}
WORTH_COLLECTING = 200_000
"""Number of new objects before a garbage collection for cycles.

A file or two make fewer. Collecting while modules load, which all stay, takes a twentieth of `verify`.
"""
READ_FILES = frozenset({"verify", "solve", "fit", "whatif", "explain", "show", "convert", "launch"})
"""Verbs that read configurations; the settings of a project apply to them."""
LEAVES_NOTHING = frozenset({"verify"})
"""Verbs that start and open nothing; their process exits without teardown.

Teardown of the loaded modules takes a tenth of `verify`.
"""


class LazyGroup(click.Group):
    """Verbs by name, loaded on demand.

    A verb is the attribute of the same name in the module of the same name beside this file.
    """

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the verbs, in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load and return a verb; None for an unknown name."""
        if cmd_name not in VERBS:
            return None
        module = cmd_name.replace("-", "_")
        verb: click.Command = getattr(import_module(f".{module}", __package__), module)
        verb.context_class = HelpContext
        return verb

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb of a line, with the project settings as option defaults."""
        try:
            name, verb, rest = super().resolve_command(ctx, args)
        except click.UsageError as unknown:
            raise click.UsageError(f"{unknown.message.rstrip('.')}. {_guess_verb(args[0])}", ctx) from None
        if name in READ_FILES and not ctx.resilient_parsing and not (name == "explain" and _are_codes(rest)):
            from .settings import settings_of

            ctx.default_map = {name: settings_of(os.curdir)}
        return name, verb, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their sentences, without loading them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _guess_verb(word: str) -> str:
    """Return the probable meaning of a word that is not a verb."""
    from ..models.text.nearest import closest

    if os.path.exists(word):
        return f"To check a file, write `placewright verify {word}`."
    close = closest(word, VERBS)
    return f"Did you mean `{close}`?" if close else f"Verbs are {', '.join(VERBS)}."


def _are_codes(words: Sequence[str]) -> bool:
    """Return True if `explain` gets only codes; they need no settings, not even valid ones."""
    from ..report.page import means_code

    return bool(words) and all(means_code(word) for word in words if not word.startswith("-"))


def _show_version(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from ..report.version import version

        click.echo(f"placewright {version() or '(not installed)'}")
        if ctx.params.get("verbose"):
            from .releases import known_releases

            echo(known_releases())
        ctx.exit(OK)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--verbose", is_flag=True, is_eager=True, help="With --version, list the known releases of the frameworks.")
@color_option
@click.option("--version", is_flag=True, expose_value=False, callback=_show_version, help="Show the version and exit.")
def cli(verbose: bool) -> None:
    """Which process of a distributed RL training job runs on which accelerator of which node.

    Exit codes: 0 ok, 1 findings or impossible, 2 unusable input, 3 undecided in time,
    4 cluster does not match the plan, 5 incomplete, 70 internal error.
    """


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    gc.set_threshold(WORTH_COLLECTING)
    skips_teardown = LEAVES_NOTHING.issuperset(sys.argv[1:2])
    code = run(sys.argv[1:])
    if skips_teardown:
        with suppress(OSError):  # the reader of the output is gone
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit code. Never raises."""
    from ..models.findings.finding import UnusableInput
    from ..report.wrapping import COLUMNS, columns_of

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names from a file must not break an ASCII terminal
    COLUMNS.set(min(columns_of(sys.stdout), columns_of(sys.stderr)))
    try:
        code = _invoke(arguments)
        if not sys.stdout.closed:  # a language server closes it
            sys.stdout.flush()
        return code
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.ClickException as problem:
        buffer = StringIO()
        problem.show(buffer)
        echo(buffer.getvalue().rstrip("\n"), err=True)
        return UNUSABLE
    except UnusableInput as problem:
        return _unusable(problem, _format_of(arguments))
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:  # the reader is gone
        _drop_output()
        return BROKEN_PIPE
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
            _drop_output()
            click.echo(f"the output cannot be written: {problem.strerror}", err=True)
            return UNUSABLE
        if os.environ.get("PLACEWRIGHT_DEBUG"):
            raise
        summary = " ".join(f"{type(problem).__name__}: {problem}".split())
        echo(f"placewright itself failed: {summary[:300]}\nset PLACEWRIGHT_DEBUG=1 to see where, and please report it", err=True)
        return OUR_FAULT


def _invoke(arguments: Sequence[str]) -> int:
    """Run the verb and return its exit code.

    click's own `main` treats a broken pipe as an ordinary failure.
    """
    if "_PLACEWRIGHT_COMPLETE" in os.environ:  # a shell asks for completions
        if "COMP_WORDS" not in os.environ:
            raise click.UsageError("_PLACEWRIGHT_COMPLETE is for shells: `placewright completion bash` prints what sets it")
        cli.main(list(arguments), prog_name="placewright")
    try:
        with cli.make_context("placewright", list(arguments)) as context:
            return int(cli.invoke(context) or OK)
    except click.exceptions.Exit as done:
        return done.exit_code


def _drop_output() -> None:
    """Leave nothing to flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _format_of(arguments: Sequence[str]) -> str:
    """Return the format that the words ask for with `--format`."""
    formats = [word.partition("=")[2] for word in arguments if word.startswith("--format=")]
    formats += [value for word, value in zip(arguments, arguments[1:]) if word == "--format"]
    return formats[-1] if formats else "text"


def _unusable(problem: UnusableInput, form: str) -> int:
    if form != "text":
        from .options.shared import echo_unusable

        return echo_unusable(problem, form)
    from ..report.text import count_findings
    from .output.findings import echo_findings

    echo_findings(problem.findings, err=True)
    click.echo(f"unusable, {count_findings(problem.findings)}", err=True)
    return UNUSABLE
