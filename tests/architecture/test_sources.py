"""What no source of the package may hold."""

from __future__ import annotations

import ast
from pathlib import Path

from .conftest import nodes_of

MAX_LINES = 500
FORBIDDEN_CALLS = {"eval", "exec", "__import__"}
COMPILES_CLASSES = {"models/record.py"}  # the constructor of a class, from the names of its own fields
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
LAST_RESORT = {"cli/main.py"}  # the one place that may catch everything, to say it and to end with 70


def calls(tree: ast.Module) -> list[ast.Call]:
    return [node for node in nodes_of(tree) if isinstance(node, ast.Call)]


def test_no_file_is_longer_than_500_lines(root: Path, modules: dict[str, ast.Module]) -> None:
    lengths = {name: len((root / name).read_text("utf-8").splitlines()) for name in modules}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_nothing_is_evaluated_or_unpickled(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        for call in calls(tree) if name not in COMPILES_CLASSES else ():
            assert not (isinstance(call.func, ast.Name) and call.func.id in FORBIDDEN_CALLS), f"{name}:{call.lineno}"
        for node in nodes_of(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not {found.split(".")[0] for found in names} & FORBIDDEN_MODULES, f"{name} imports {names}"


def test_no_shell_is_started(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        for call in calls(tree):
            text = ast.unparse(call.func)
            assert text not in ("os.system", "os.popen", "subprocess.getoutput"), f"{name}:{call.lineno}"
            shells = [word for word in call.keywords if word.arg == "shell" and ast.unparse(word.value) != "False"]
            assert not shells, f"{name}:{call.lineno}"


def test_ray_is_never_attached_to_by_chance_nor_stopped(root: Path, modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        for call in calls(tree):
            words = {word.arg: ast.unparse(word.value).strip("'\"") for word in call.keywords}
            assert words.get("address") != "auto", f"{name}:{call.lineno}"
        assert "ray stop" not in (root / name).read_text("utf-8"), name


def test_no_fault_is_swallowed(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        for handler in (node for node in nodes_of(tree) if isinstance(node, ast.ExceptHandler)):
            place = f"{name}:{handler.lineno}"
            assert handler.type is not None, place
            caught = ast.unparse(handler.type)
            goes_on = any(isinstance(node, ast.Raise) for node in ast.walk(handler))
            if caught == "Exception":  # elsewhere only to tell one that has no type of its own, and to raise all others
                assert goes_on or name in LAST_RESORT, place
            if "BaseException" in caught:  # only to clean up on the way out
                assert goes_on, place


def test_no_assert_guards_input(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        assert not any(isinstance(node, ast.Assert) for node in nodes_of(tree)), name


def test_nothing_is_left_to_do(root: Path, modules: dict[str, ast.Module]) -> None:
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
    for name, tree in modules.items():
        text = (root / name).read_text("utf-8")
        assert not any(word in text for word in words), name
        # A message may tell that a framework raises one.
        assert not any(isinstance(node, ast.Name) and node.id == "NotImplementedError" for node in nodes_of(tree)), name


def test_every_module_says_what_it_is(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        assert ast.get_docstring(tree) or not tree.body, name


def test_every_module_reads_annotations_late(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        if len(tree.body) > 1:
            first = tree.body[1]
            assert isinstance(first, ast.ImportFrom) and first.module == "__future__", name
