"""The solver is told things in few places only: rules, objectives, cuts and the vocabulary that they speak (variables, ranges).

The model over uses of domains and that over counts are models of their own.
"""

from __future__ import annotations

import ast
from typing import Iterator

from .conftest import nodes_of

VOCABULARY = ("variables", "amount", "ranges")
ALLOWED = (
    "solver/rules/",
    "solver/objectives/",
    "solver/cuts.py",
    *(f"solver/model/{name}.py" for name in VOCABULARY),
    "solver/patterns/master.py",
    "solver/patterns/uses.py",
    "solver/refuting/plain_model.py",  # a second opinion, with a model of its own
)
# The model's own methods, and the words of `Variables` that post; what is minimised is put together in one place.
POSTING = {"require", "minimise", "minimize", "maximize", "only_enforce_if"}
COMPOSING = {"solver/compile.py"}


def posts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, method) of every call that says something to CP-SAT."""
    for node in nodes_of(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        method, owner = node.func.attr, ast.unparse(node.func.value)
        on_a_model = owner.split(".")[-1].lstrip("_").endswith("model")
        if method in POSTING or (on_a_model and (method == "add" or method.startswith(("add_", "Add")))):
            yield node.lineno, method


def test_constraints_are_posted_only_where_they_belong(modules: dict[str, ast.Module]) -> None:
    for name, tree in modules.items():
        found = list(posts(tree))
        if name.startswith(ALLOWED):
            continue
        if name in COMPOSING:
            found = [post for post in found if post[1] not in ("minimise", "minimize")]
        assert not found, f"{name} posts constraints: {found}"


def test_the_search_for_posts_finds_them(modules: dict[str, ast.Module]) -> None:
    assert list(posts(ast.parse("self.model.add(x)\nmodel.add_max_equality(x, y)\nvariables.require(a == b)"))) == [
        (1, "add"),
        (2, "add_max_equality"),
        (3, "require"),
    ]
    assert any(list(posts(tree)) for name, tree in modules.items() if name.startswith("solver/rules/"))
