"""Who may know whom, and what is never loaded where it is not needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .conftest import nodes_of

HEAVY = {"ortools", "ray", "networkx", "pandas", "numpy", "matplotlib", "jinja2", "fastapi", "uvicorn", "zmq"}
LATE = HEAVY | {"rich"}
RLINF = """\
cluster:
  num_nodes: 2
  component_placement:
    actor: 0-7
    rollout: 8-15
    env:
      node_group: node
      placement: 0-1:0-3
"""


def test_the_layer_contract_is_kept(root: Path, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_inside_the_package_imports_are_relative(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        for node in nodes_of(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not any(found.split(".")[0] == "placewright" for found in names), name


TIMES = """\
cluster: 2x8xH100
components:
  actor: {accelerators: 4-8, phase: train, seconds: {4: 30, 8: 16}}
  rollout: {accelerators: 4-8, phase: generate, seconds: {4: 40, 8: 22}}
plan:
  workflow: rollout -> actor
"""
VERL = """\
python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8 \\
    algorithm.adv_estimator=grpo actor_rollout_ref.rollout.name=vllm actor_rollout_ref.actor.use_dynamic_bsz=True \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=2
"""


def loaded_after_verify(folder: Path, text: str, name: str = "job.yaml") -> tuple[int, set[str]]:
    """(exit code of `verify` on a text, names of everything it loaded)."""
    return loaded_after(["verify", name, "--cluster", "2x8xH100"], folder, text)


def loaded_after(words: list[str], folder: Path, text: str) -> tuple[int, set[str]]:
    """(exit code of a command about a text, names of everything it loaded); the second word is the name of the file."""
    (folder / words[1]).write_text(text)
    code = f"import sys\nfrom placewright.cli.main import run\ncode = run({words!r})\nprint(code, *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    exit_code, *names = done.stdout.splitlines()[-1].split()
    return int(exit_code), set(names)


def loaded(names: set[str], *others: str) -> set[str]:
    """Names that are one of these modules of the package, which exist, or inside it."""
    for other in others:
        assert find_spec(f"placewright.{other}"), other
    return {name for name in names if f"{name}.".startswith(tuple(f"placewright.{other}." for other in others))}


def test_verify_of_an_rlinf_file_loads_no_heavy_library(tmp_path: Path) -> None:
    code, names = loaded_after_verify(tmp_path, RLINF)
    assert code == 0
    assert not names & (HEAVY | {"pydantic", "rich"})


def test_verify_of_hints_loads_no_solver(tmp_path: Path) -> None:
    code, names = loaded_after_verify(tmp_path, "cluster: 2x8xH100\ncomponents:\n  actor: {accelerators: 8}\n  env: {placement: 8-15}\n")
    assert code == 0
    assert not names & HEAVY


def test_verify_of_a_plain_file_loads_nothing_that_only_other_files_need(tmp_path: Path) -> None:
    code, names = loaded_after_verify(tmp_path, "cluster: 2x8xH100\ncomponents:\n  actor: {accelerators: 8}\n  env: {placement: 8-15}\n")
    assert code == 0
    assert not loaded(
        names, "models.memory.estimate", "models.composition.defaults", "models.composition.setting", "models.placements.correction"
    )


def test_verify_of_times_loads_what_the_arithmetic_needs_and_no_search(tmp_path: Path) -> None:
    code, names = loaded_after_verify(tmp_path, TIMES)
    assert code == 0
    assert not names & HEAVY
    assert "placewright.planner.why.quick_infeasibility" in names
    assert not loaded(names, "planner.search", "planner.benders", "solver.objectives", "solver.model", "models.memory.estimate")


def test_verify_of_a_verl_script_without_hints_loads_no_forms(tmp_path: Path) -> None:
    code, names = loaded_after_verify(tmp_path, VERL, "run.sh")
    assert code == 0
    assert not names & (HEAVY | {"pydantic"})
    assert not loaded(names, "solver.layout.layout", "solver.layout.ranks")


@pytest.mark.parametrize(
    ("text", "name"), [(RLINF, "job.yaml"), ("trainer.nnodes=1\ntrainer.n_gpus_per_node=8\n", "run.txt"), (VERL, "run.sh")]
)
def test_the_grammar_of_bash_is_loaded_for_scripts_alone(tmp_path: Path, text: str, name: str) -> None:
    _, names = loaded_after_verify(tmp_path, text, name)
    assert ("tree_sitter" in names) == name.endswith(".sh")


def test_solve_of_a_small_file_loads_nothing_that_only_other_files_need(tmp_path: Path) -> None:
    text = "cluster: 1x8xH100\ncomponents:\n  actor: {accelerators: 4, parallel: {tp: 2}}\n  rollout: {accelerators: 4}\n"
    code, names = loaded_after(["solve", "job.yaml"], tmp_path, text)
    assert code == 0
    assert not names & (LATE | {"pydantic", "fractions"})
    assert sys.version_info < (3, 11) or "subprocess" not in names  # in 3.10 the module `platform` loads it
    others = (
        "solver.refuting",
        "solver.interval_dp",
        "planner.search",
        "planner.accounting",
        "planner.policies",
        "solver.choosing.lying_over",
    )
    assert not loaded(names, *others, "models.planning.planned", "report.planning", "report.moves")


def test_hints_load_no_pydantic(tmp_path: Path) -> None:
    _, names = loaded_after(["verify", "job.yaml", "--cluster", "2x8xH100"], tmp_path, TIMES)
    assert "pydantic" not in names


@pytest.mark.parametrize("room", ["models", "planner", "solver", "report", "cli"])
def test_no_heavy_library_is_loaded_with_a_module(modules: dict[str, ast.Module], room: str) -> None:
    """At the top of a module only the search itself may import ortools; the rest imports inside functions."""
    allowed = {"ortools"} if room in ("planner", "solver") else set()
    for name, tree in modules.items():
        if not name.startswith(f"{room}/") or name == "cli/service/app.py":  # `serve-verify` alone loads it
            continue
        top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = {alias.name.split(".")[0] for node in top if isinstance(node, ast.Import) for alias in node.names}
        names |= {(node.module or "").split(".")[0] for node in top if isinstance(node, ast.ImportFrom) and not node.level}
        assert not names & (LATE - allowed), name
        if room == "solver" and name.startswith(("solver/rules/", "solver/objectives/")):
            assert "ortools" not in names, name
