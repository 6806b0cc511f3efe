"""Pages of the verbs of the command line, from click."""

from __future__ import annotations

import re
from typing import Iterator

import click

from ...cli import exit_codes
from ...cli.main import VERBS, cli

OVERVIEW = "reference/cli/index.md"
EXIT_CODES = (
    (exit_codes.OK, "ok; warnings are possible"),
    (exit_codes.FINDINGS, "errors were found, or no placement exists"),
    (exit_codes.UNUSABLE, "the input or the command line cannot be used"),
    (exit_codes.UNDECIDED, "the time limit was reached before an answer"),
    (exit_codes.DIFFERENT, "the cluster does not match the plan, or a launch failed"),
    (exit_codes.INCOMPLETE, "incomplete: something that decides is unknown"),
    (exit_codes.OUR_FAULT, "internal error of placewright"),
    (exit_codes.INTERRUPTED, "interrupted by Ctrl-C"),
)


def command_pages() -> Iterator[tuple[str, str]]:
    """Yield (path below `docs/`, Markdown) of the command and of each verb."""
    yield OVERVIEW, _overview()
    with click.Context(cli, info_name="placewright") as parent:
        for name in VERBS:
            verb = cli.get_command(parent, name)
            assert verb is not None
            yield f"reference/cli/{name}.md", _page(verb, click.Context(verb, parent, info_name=name))


def _overview() -> str:
    lines = [
        "# Command line",
        "",
        "```text",
        "placewright VERB [OPTIONS] ...",
        "```",
        "",
        "| verb | what it does |",
        "|---|---|",
    ]
    lines += [f"| [`{name}`]({name}.md) | {text} |" for name, text in VERBS.items()]
    lines += [
        "",
        "`placewright --version --verbose` lists the known releases of the frameworks. [`completion`](completion.md) makes a shell",
        "complete verbs, options and names.",
        "",
        "## Exit codes",
        "",
        "| code | meaning |",
        "|---|---|",
    ]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES]
    lines += [
        "",
        "Of several files the worst verdict counts.",
        "",
        "## Defaults of a project",
        "",
        "`placewright.toml`, or `[tool.placewright]` in `pyproject.toml`, states options once:",
        "see [configuration files](../../how_to/configuration.md#defaults-of-a-project).",
    ]
    return "\n".join(lines) + "\n"


def _page(verb: click.Command, context: click.Context) -> str:
    usage = " ".join(context.command.collect_usage_pieces(context))
    parts = [f"# placewright {verb.name}", f"```text\n{context.command_path} {usage}\n```", _help(verb.help or "")]
    rows = []
    for parameter in verb.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            options, value = re.fullmatch(r"(-[^\s,]+(?:, +-[^\s,]+)*)\s*(.*)", record[0]).groups()  # type: ignore[union-attr]
            values = re.sub(r"(?<=\w)[|](?=\w)", " | ", value)  # a phone breaks the line there
            rows.append(f"| `{options}`{{.option}}{f' `{values}`' if values else ''} | {_cell(_text(record[1]))} |")
    parts += ["## Options", "\n".join(["| option | what it does |", "|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _help(text: str) -> str:
    """Return the help of a verb as Markdown: examples, which click keeps as they are, in fences."""
    parts = []
    for paragraph in text.split("\n\n"):
        if "\b" in paragraph:
            examples = "\n".join(line.strip() for line in paragraph.replace("\b", "").strip().splitlines())
            parts.append(f"```sh\n{examples}\n```")
        else:
            parts.append(_text(" ".join(paragraph.split())))
    return "\n\n".join(parts)


def _text(text: str) -> str:
    """Return the text with `<` as it is, and options such as `--keep` in code."""
    text = text.replace("<", "&lt;")
    return re.sub(r"(?<![`\w-])(--[a-z][a-z-]*)(?![`\w-])", r"`\1`", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
