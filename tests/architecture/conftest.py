"""The sources of the package, read once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import placewright
import pytest

ROOMS = ("models", "planner", "solver", "runtime", "report", "cli")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the package; skips where it is not a checkout."""
    found = Path(next(iter(placewright.__path__))).resolve()
    if not (found / "pyproject.toml").exists():
        pytest.skip("placewright is installed, not a checkout")
    return found


@pytest.fixture(scope="session")
def modules(root: Path) -> dict[str, ast.Module]:
    """Every module of the package as a syntax tree, by its path below the root."""
    files = [
        root / "__init__.py",
        *(file for file in root.glob("*.py") if file.name != "setup.py"),
        *(file for room in ROOMS for file in (root / room).rglob("*.py")),
    ]
    return {file.relative_to(root).as_posix(): ast.parse(file.read_text("utf-8")) for file in dict.fromkeys(files)}


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a module, listed once for all tests."""
    return tuple(ast.walk(tree))
