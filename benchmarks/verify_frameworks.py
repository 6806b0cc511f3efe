"""What verifying real configurations of every framework costs, all in one process, and one alone as a command.

RLinf's and ROLL's configuration files and verl's settings come from the corpus beside the repository, verl's scripts from the checkout
that the environment variable PLACEWRIGHT_VERL names. CPU seconds of reading and of all rules, file by file, each read once before it
is measured; commands are processes of their own, median of several.

Peers, in the same run: Hydra composing the same files and the same settings on verl's own configuration, and bash reading a
script (`bash -n`, which runs nothing of it). They judge nothing: it is what anything must pay that only loads these inputs.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Callable, Iterable

from frameworks.files import CHECKOUT, Input, inputs
from placewright.models.dialects.load import load_all, load_settings
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.planner.verify import verify
from study import Rows, Study, plotting

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "import sys; sys.argv[0] = 'placewright'; from placewright.cli.main import main; main()"
MACHINES = DeclaredNodes(8, "H100")
VERDICTS = ("ok", "incomplete", "faulty", "unusable")
QUICK = 4
"""Without `--full`, so many of each kind of input."""


def measure(full: bool) -> Rows:
    """One row for each framework and form of input, for each peer, and for each command."""
    every = inputs()
    kinds = dict.fromkeys((each.framework, each.form) for each in every)
    rows: Rows = []
    for framework, form in kinds:
        its = [each for each in every if (each.framework, each.form) == (framework, form)]
        its = its if full else its[:: max(1, len(its) // QUICK)]
        rows.append(_ours(framework, form, its))
        if form != "script":
            rows += _hydra(framework, form, its)
    return rows + _commands(every, 9 if full else 1)


def _ours(framework: str, form: str, its: list[Input]) -> dict[str, object]:
    counts = dict.fromkeys(VERDICTS, 0)
    times = []
    for each in its:
        _verdicts(each)
        began = time.process_time()
        verdicts = _verdicts(each)
        times.append(time.process_time() - began)
        counts[max(verdicts, key=VERDICTS.index)] += 1
    return {**_row("placewright", framework, form, times), **counts}


def _verdicts(each: Input) -> list[str]:
    if each.path is None:
        readings = [load_settings(each.settings, MACHINES, "verl")]
    else:
        readings = list(load_all(each.path, MACHINES, each.framework))
    return [verify(reading).verdict for reading in readings] or ["unusable"]


def _row(tool: str, framework: str, form: str, times: Iterable[float]) -> dict[str, object]:
    spent = sorted(times)
    return {
        "tool": tool, "framework": framework, "form": form, "files": len(spent), "median_ms": round(1000 * median(spent), 2),
        "slowest_ms": round(1000 * spent[-1], 2), "all_s": round(sum(spent), 3),
    }  # fmt: skip


def _hydra(framework: str, form: str, its: list[Input]) -> Rows:
    """Hydra composing what it can compose; none where it is not there."""
    try:
        import hydra
        from hydra.core.global_hydra import GlobalHydra
        from omegaconf.errors import OmegaConfBaseException
    except ImportError:
        return []
    folder = Path(CHECKOUT) / "verl" / "trainer" / "config" if CHECKOUT else None
    if form == "settings" and folder is None:
        return []
    refusals = (hydra.errors.HydraException, OmegaConfBaseException, ValueError, AssertionError, RecursionError)
    times = []
    for each in its:
        where = each.path.parent if each.path else folder
        name = each.path.stem if each.path else "ppo_trainer"
        spent = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2):
                began = time.process_time()
                try:
                    with hydra.initialize_config_dir(config_dir=str(where), version_base="1.1"):
                        hydra.compose(name, list(each.settings))
                    spent.append(time.process_time() - began)
                except refusals:
                    GlobalHydra.instance().clear()
        times += spent[1:]
    return [_row("Hydra composes", framework, form, times)] if times else []


def _commands(every: list[Input], runs: int) -> Rows:
    """CPU seconds of whole processes."""
    script = next((each.path for each in every if each.form == "script" and each.path), ROOT / "examples" / "verl" / "ppo.sh")
    verify_it = [sys.executable, "-c", COMMAND, "verify"]
    ways = {
        "placewright --help": [sys.executable, "-c", COMMAND, "--help"],
        "placewright verify, a script of verl": [*verify_it, str(script), "--cluster", "4x8xH100"],
        "placewright verify, settings of verl": [*verify_it, "--dialect", "verl", "trainer.nnodes=2", "trainer.n_gpus_per_node=8", "--cluster", "2x8"],
        "placewright verify, a file of ROLL": [*verify_it, str(ROOT / "examples" / "roll" / "rlvr.yaml"), "--cluster", "2x8xH100"],
        "placewright verify, a file of RLinf": [*verify_it, str(ROOT / "examples" / "rlinf" / "reasoning.yaml"), "--cluster", "x8xH100"],
        "placewright verify, a native file": [*verify_it, str(ROOT / "examples" / "native" / "ranks.yaml")],
        "Python alone": [sys.executable, "-c", "pass"],
        "PyYAML, a file of ROLL": [sys.executable, "-c", f"import yaml; yaml.load(open({str(ROOT / 'examples' / 'roll' / 'rlvr.yaml')!r}), yaml.CSafeLoader)"],
    }  # fmt: skip
    if shutil.which("bash"):
        ways["bash -n, a script of verl"] = ["bash", "-n", str(script)]
    with tempfile.TemporaryDirectory() as folder:
        spent: Callable[[list[str]], float] = lambda command: _spent(command, Path(folder))  # noqa: E731
        return [
            {"tool": way, "form": "one process", "median_ms": round(1000 * _median(spent, command, runs), 1)}
            for way, command in ways.items()
        ]


def _median(spent: Callable[[list[str]], float], command: list[str], runs: int) -> float:
    return median([spent(command) for _ in range(runs + 1)][1:])  # the first run compiles


def _spent(command: list[str], folder: Path) -> float:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def draw(rows: Rows, path: Path) -> None:
    """The median of each kind of input, beside its slowest."""
    pyplot = plotting()
    shown = [row for row in rows if "files" in row]
    names = [f"{row['tool']}: {row['framework']}, {row['form']}" for row in shown]
    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    axes.barh(names, [float(str(row["slowest_ms"])) for row in shown], color="lightgrey", label="slowest")
    axes.barh(names, [float(str(row["median_ms"])) for row in shown], label="median")
    axes.set(xscale="log", xlabel="CPU milliseconds of one input")
    axes.invert_yaxis()
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("verify_frameworks", measure, draw).main()
