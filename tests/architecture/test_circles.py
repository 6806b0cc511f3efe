"""Files know each other in one direction, wherever in a file the import stands."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath
from typing import Iterator

import pytest

from .conftest import nodes_of


def imported(name: str, tree: ast.Module, known: dict[tuple[str, ...], str]) -> Iterator[str]:
    """The files that a file imports; of a package, that which has the name, or the package's own."""
    for node in nodes_of(tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        folder = PurePosixPath(name).parts[: -node.level]
        module = (*folder, *(node.module or "").split(".")) if node.module else folder
        yield from {
            known[found] for alias in node.names if (found := (*module, alias.name) if (*module, alias.name) in known else module) in known
        }


def test_no_file_leads_back_to_itself(modules: dict[str, ast.Module]) -> None:
    known = {PurePosixPath(name.removesuffix("/__init__.py").removesuffix(".py")).parts: name for name in modules if name != "__init__.py"}
    graph = {name: set(imported(name, tree, known)) for name, tree in modules.items()}
    assert len(graph["api.py"]) > 5
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        pytest.fail(" -> ".join(problem.args[1]))
