"""Who may know whom, and what is never loaded where it is not needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

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
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not any(found.split(".")[0] == "placewright" for found in names), name


def loaded_after_verify(folder: Path, text: str) -> tuple[int, set[str]]:
    """(exit code of `verify` on a text, names of everything it loaded)."""
    (folder / "job.yaml").write_text(text)
    code = (
        "import sys\n"
        "from placewright.cli.main import run\n"
        "code = run(['verify', 'job.yaml', '--cluster', '2x8xH100'])\n"
        "print(code, *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    exit_code, *names = done.stdout.splitlines()[-1].split()
    return int(exit_code), set(names)


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
    others = {"memory.estimated", "composition.entry", "composition.setting_text", "notation.mend"}
    assert not names & {f"placewright.models.{name}" for name in others}


@pytest.mark.parametrize("room", ["models", "solver", "report", "cli"])
def test_no_heavy_library_is_loaded_with_a_module(modules: dict[str, ast.Module], room: str) -> None:
    """At the top of a module only the search itself may import ortools; the rest imports inside functions."""
    allowed = {"ortools"} if room == "solver" else set()
    for name, tree in modules.items():
        if not name.startswith(f"{room}/"):
            continue
        top = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = {alias.name.split(".")[0] for node in top if isinstance(node, ast.Import) for alias in node.names}
        names |= {(node.module or "").split(".")[0] for node in top if isinstance(node, ast.ImportFrom) and not node.level}
        assert not names & (LATE - allowed), name
        if room == "solver" and name.startswith(("solver/rules/", "solver/objectives/")):
            assert "ortools" not in names, name
