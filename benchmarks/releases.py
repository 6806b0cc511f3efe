"""Real files of every framework, judged for each of its releases: verdicts, errors, warnings, and milliseconds a file.

The corpus beside the repository is judged for every known release. The environment variable PLACEWRIGHT_CHECKOUTS names a folder
``FRAMEWORK/RELEASE/`` of checkouts with their submodules: their own scripts and configurations are judged for their own release, as a user
has them, where an error that the framework does not raise is a false one. Peer: the time that PyYAML takes to load the YAML files.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Iterable, Iterator

import yaml
from frameworks.files import Input, inputs
from placewright.models.composition import Composer
from placewright.models.dialects.load import load_all, load_settings
from placewright.models.dialects.recognition import dialect_named
from placewright.models.findings.finding import Severity
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.releases.release import read_releases
from placewright.models.report import Report
from placewright.planner.verify import verify
from study import Rows, Study, plotting

CHECKOUTS = os.environ.get("PLACEWRIGHT_CHECKOUTS", "")
"""Folder of checkouts by framework and release; "" where none is named."""
FRAMEWORKS = ("rlinf", "roll", "verl")
MACHINES = DeclaredNodes(8, "H100")
LARGE = DeclaredNodes(16, "H100")
"""Machines for verl's own scripts, some of which are for nodes of 16."""
SCRIPTS, FILES = (".sh", ".slurm", ".sbatch"), (".yaml", ".yml")
FOLDERS = ("examples", "recipe", "tests", "evaluations", "verl/experimental", "verl/trainer/config")
QUICK = 6
"""Without `--full`, so many files of each kind and release."""


def measure(full: bool) -> Rows:
    """One row for each framework, release and kind of input."""
    corpus = inputs()
    rows: Rows = []
    for framework in FRAMEWORKS:
        for release in _releases(framework):
            its = [each for each in corpus if each.framework == framework]
            rows.append(_row("corpus", framework, release, its if full else its[:: max(1, len(its) // QUICK)]))
    for framework in FRAMEWORKS if CHECKOUTS else ():
        for release in _releases(framework):
            folder = Path(CHECKOUTS) / framework / release
            its = [Input(framework, "script" if path.suffix in SCRIPTS else "YAML", path) for path in _files(folder, framework)]
            if its:
                rows.append(_row("own files", framework, release, its if full else its[:: max(1, len(its) // QUICK)], folder))
    return rows


def _releases(framework: str) -> list[str]:
    file = dialect_named(framework).RELEASES
    return [release.name for release in read_releases(file)] if file else []


def _files(folder: Path, framework: str) -> Iterator[Path]:
    """Launch scripts of a checkout; of RLinf and ROLL also the configurations that place something."""
    sign = {"rlinf": "component_placement", "roll": "device_mapping"}.get(framework)
    for inner in FOLDERS:
        for path in sorted((folder / inner).rglob("*")):
            if (path.suffix in SCRIPTS and path.is_file()) or (
                sign and path.suffix in FILES and path.is_file() and sign in path.read_text("utf-8", "replace")
            ):
                yield path


def _row(kind: str, framework: str, release: str, its: Iterable[Input], root: Path | None = None) -> dict[str, object]:
    composer = Composer((str(root),) if root else (), frameworks=(f"{framework}=={release}",))
    verdicts, severities, spent, peers, count = Counter[str](), Counter[Severity](), list[float](), list[float](), 0
    for each in its:
        began = time.process_time()
        reports = _reports(each, composer, own=root is not None)
        spent.append(time.process_time() - began)
        if each.form == "YAML" and each.path:
            peers.append(_loaded(each.path))
        verdicts.update(report.verdict for report in reports)
        severities.update(finding.severity for report in reports for finding in report.findings)
        count += 1
    return {
        "kind": kind, "framework": framework, "release": release, "files": count, **{name: verdicts[name] for name in ("ok", "incomplete", "faulty", "unusable")},
        "errors": severities[Severity.ERROR], "warnings": severities[Severity.WARNING],
        "median_ms": round(1000 * median(spent), 2) if spent else 0.0, "PyYAML_ms": round(1000 * median(peers), 2) if peers else 0.0,
    }  # fmt: skip


def _reports(each: Input, composer: Composer, own: bool) -> list[Report]:
    if each.path is None:
        return [verify(load_settings(each.settings, MACHINES, "verl", "training", composer))]
    dialect = "auto" if own or each.form == "script" else each.framework
    machines = LARGE if own and each.framework == "verl" else MACHINES
    return [verify(reading) for reading in load_all(each.path, machines, dialect, "training", composer)]


def _loaded(path: Path) -> float:
    began = time.process_time()
    with suppress(yaml.YAMLError):  # a template is no YAML yet
        list(yaml.safe_load_all(path.read_text("utf-8", "replace")))
    return time.process_time() - began


def draw(rows: Rows, path: Path) -> None:
    """Share of files with errors by release, one line for each framework and kind."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    for kind, framework in dict.fromkeys((row["kind"], row["framework"]) for row in rows):
        its = [row for row in rows if (row["kind"], row["framework"]) == (kind, framework)]
        shares = [100 * int(str(row["faulty"])) / max(1, int(str(row["files"]))) for row in its]
        axes.plot([f"{framework}\n{row['release']}" for row in its], shares, marker="o", label=f"{framework}, {kind}")
    axes.set(ylabel="files with errors, %")
    axes.tick_params(axis="x", labelsize=6, rotation=60)
    axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("releases", measure, draw).main()
