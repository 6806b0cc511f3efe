"""Lists of what the repository holds: releases, functions, examples, studies, and its own documents."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Iterator

import placewright

from ...models.dialect_names import FRAMEWORKS
from ...models.dialects.recognition import dialect_named
from ...models.model_cards.known import KNOWN
from ...models.performance.hardware import SPEEDS
from ...models.releases.release import read_releases

DOCUMENTS = {"CHANGELOG.md": "about/changelog.md", "SECURITY.md": "about/security.md", "CONTRIBUTING.md": "about/contributing.md"}
"""Documents at the root of the repository -> their pages."""
EXAMPLES = "reference/examples.md"
STUDIES = "benchmarks.md"
VERBS = (
    ("Read and judge", ("load", "verify", "explain", "explanation", "convert")),
    ("Solve", ("solve", "whatif", "replan", "alternatives", "account")),
    ("Run", ("launch", "attach", "discover")),
    ("Plans and machines", ("cluster", "read_plan", "write_plan")),
)
_LANGUAGES = {".yaml": "yaml", ".sh": "bash", ".py": "python", ".json": "json"}


def listed_pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path below `docs/`, Markdown) of each list; `root` is the repository."""
    yield "reference/releases.md", _releases()
    yield "reference/models.md", _models()
    yield "reference/python.md", _functions()
    yield EXAMPLES, _examples(root / "examples")
    yield STUDIES, _studies(root / "benchmarks")
    for name, uri in DOCUMENTS.items():
        yield uri, (root / name).read_text("utf-8")


def anchor_of(path: str) -> str:
    """Return the anchor of an example on its page."""
    return "".join(character for character in path.lower().replace(" ", "-") if character.isalnum() or character in "-_")


def module_of(name: str) -> str:
    """Return the module that defines a public name of the package."""
    return str(getattr(placewright, name).__module__)


def _releases() -> str:
    lines = [
        "# Known releases",
        "",
        "A file is judged for one release of its framework. [Configuration files](../how_to/configuration.md#which-release-a-file-is-for)",
        "says how it is chosen. `placewright --version --verbose` prints this list.",
    ]
    for name in FRAMEWORKS:
        file = dialect_named(name).RELEASES
        if file is None:
            continue
        table = read_releases(file)
        lines += ["", f"## {table.framework}", "", "| release | commit | date |", "|---|---|---|"]
        for release in table:
            newest = " (newest)" if release == table.newest else ""
            lines.append(f"| {release.name}{newest} | `{release.commit}` | {release.date} |")
    return "\n".join(lines) + "\n"


def _models() -> str:
    lines = [
        "# Known models and accelerators",
        "",
        "`plan`, `init` and estimates know these by name; the numbers of others come from a `config.json` (`--model-config`), the cluster",
        "file or `estimate`. What they are used for: [performance](../performance.md), [memory](../memory.md).",
        "",
        "| model | parameters | layers | experts |",
        "|---|---|---|---|",
        *(f"| {name} | {card.parameters:,} | {card.layers} | {card.experts or ''} |" for name, card in sorted(KNOWN.items())),
        "",
        "Dense operations a second are in 10^12, memory is in GiB, its bandwidth in 10^12 bytes a second; links are in 10^9 bytes a second.",
        "",
        "| accelerator | bf16 | fp8 | memory | bandwidth | link | host | network | source |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, speed in SPEEDS.items():
        figures = (speed.bf16, speed.fp8, speed.memory, speed.bandwidth, speed.link, speed.host, speed.network)
        lines.append(f"| {name} | {' | '.join(f'{figure:g}' if figure else '' for figure in figures)} | {speed.source} |")
    return "\n".join(lines) + "\n"


def _functions() -> str:
    """Return directives for mkdocstrings: every public name of the package."""
    lines = [
        "# Python API",
        "",
        "`import placewright as pw`. Nothing heavy is loaded before it is used. The [tutorial](../tutorials/python.md) shows it at work.",
    ]
    shown: set[str] = set()
    for title, names in VERBS:
        lines += ["", f"## {title}"]
        for name in names:
            lines += ["", f"::: {module_of(name)}.{name}"]
        shown.update(names)
    lines += ["", "## Classes and exceptions"]
    for name in placewright.__all__:
        if name not in shown:
            lines += ["", f"::: {module_of(name)}.{name}"]
    return "\n".join(lines) + "\n"


def _examples(folder: Path) -> str:
    parts = ["# Example files\n\nEvery page of this site runs these files; they are in `examples/` of the repository."]
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder.parent).as_posix()
        if path.is_file() and "__pycache__" not in name and not name.endswith("schema.json"):
            text = path.read_text("utf-8").rstrip()
            parts.append(f"## {name}\n\n```{_LANGUAGES.get(path.suffix, 'text')}\n{text}\n```")
    return "\n\n".join(parts) + "\n"


def _studies(folder: Path) -> str:
    parts = [
        "# Benchmarks",
        "A study is one command. It runs placewright beside its peers and writes its figures and a picture. Without `--full` "
        "it ends within a minute.\n\n```sh\npython benchmarks/verify_scale.py --full --json figures.json\n```",
        "The figures below are those of the last full run, in `benchmarks/results/`.",
    ]
    for picture in sorted((folder / "results").glob("*.svg")):
        tree = ast.parse((folder / f"{picture.stem}.py").read_text("utf-8"))
        first, *rest = (ast.get_docstring(tree) or "").replace("<", "&lt;").split("\n\n")
        study = json.loads(picture.with_suffix(".json").read_text("utf-8"))
        machine = ", ".join(f"{name} {value}" for name, value in study["machine"].items())
        parts += [f"## {picture.stem}", first, f"![Figures of the study {picture.stem}](benchmarks/{picture.name})"]
        parts += [*rest, f"`python benchmarks/{picture.stem}.py --full`; {len(study['rows'])} rows; {machine}."]
    return "\n\n".join(parts) + "\n"
