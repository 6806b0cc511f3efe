"""Words of the product: docstrings that begin with a verb or a noun, few relative clauses, names that say what they hold."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Iterator

from .conftest import nodes_of

RELATIVE = {"that", "which", "what", "where", "who", "when", "whether"}
PRONOUNS = {"it", "its", "these", "those", "one", "such", "other", "each", "they"}
MOST_RELATIVE, MOST_PRONOUNS = 3.0, 2.5
"""Words per 100 of the docstrings' first paragraphs, at most. click has 1.9 and 2.1, networkx 1.7 and 0.9, pydantic 2.6 and 1.1."""
REFUSED_NAMES = {"its", "one", "other", "others", "each", "told", "said", "mine", "theirs", "ours", "what", "whose", "them", "they"}
"""Pronouns and participles, which do not say what a variable holds."""
REFUSED_LEFT = {"models": 3, "runtime": 5}
"""Room -> refused names, at most: keys of files and messages, and names not yet rewritten. Lower a number when you rename some."""
PARTICIPLES = set(re.findall(r"\w+", """
    told held given found made kept left lost said seen shown taken written known sent begun chosen drawn hidden laid meant led done
"""))  # fmt: skip
PREPOSITIONS = set(re.findall(r"\w+", """
    in on by of at with beside from to apart alone open out over together behind off onto inside alike along for
"""))  # fmt: skip
ADVERBS = set(re.findall(r"\w+", """
    ways way there here own least stay stays again only together apart alike beside inside outside alone behind once so
"""))  # fmt: skip
"""Words that do not say what a variable holds, beside participles."""
LEFT = {"": 0, "cli": 0, "models": 35, "planner": 33, "report": 15, "runtime": 0, "solver": 2, "tools": 0}
"""Room -> variables and arguments of functions that are such a word alone, at most. Lower a number when you rename some."""
NO_PARTICIPLES = {"need", "speed", "seed", "feed", "embed", "heed", "proceed", "exceed"}
OF_RLINF = {"done"}
"""Methods that RLinf's and Python's results have under these names."""
SAME_NAME = {"Cluster", "Worker", "WorkerGroup"}
"""Names of RLinf's and verl's public classes, which `runtime/compat` has to offer beside ours."""


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, first paragraph) of modules, classes, functions and attributes, code in backticks left out."""
    for node in nodes_of(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for statement in node.body:
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, re.sub(r"`[^`]*`", "X", re.split(r"\n\s*\n", text.strip())[0])


def share(words: Counter[str], chosen: set[str]) -> float:
    return 100 * sum(words[word] for word in chosen) / words.total()


def test_docstrings_have_few_relative_clauses_and_pronouns(modules: dict[str, ast.Module]) -> None:
    texts = (text for tree in modules.values() for _, text in docstrings(tree))
    words = Counter(word.lower() for text in texts for word in re.findall(r"[A-Za-z][A-Za-z'-]*", text))
    assert words.total() > 10_000
    assert share(words, RELATIVE) <= MOST_RELATIVE
    assert share(words, PRONOUNS) <= MOST_PRONOUNS


def room_of(path: str) -> str:
    return path.split("/")[0] if "/" in path else ""


def test_first_sentences_are_short_statements(modules: dict[str, ast.Module]) -> None:
    long = []
    for path, tree in modules.items():
        for line, text in docstrings(tree):
            sentence = re.split(r"(?<=[.?!:])\s", text)[0]
            if sentence.endswith("?") or len(sentence.split()) > 15:
                long.append(f"{path}:{line}: {sentence}")
    assert long == []


def test_names_say_what_they_hold(modules: dict[str, ast.Module]) -> None:
    refused = []
    for path, tree in modules.items():
        for node in nodes_of(tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    if name.strip("_") in REFUSED_NAMES:
                        refused.append(f"{path}:{node.lineno}: {name}")
    rooms = Counter(map(room_of, refused))
    assert {room: count for room, count in rooms.items() if count > REFUSED_LEFT.get(room, 0)} == {}


def is_bare(name: str) -> bool:
    """True for `held` and `least`; `held_by_name` says more."""
    word = name.strip("_").lower()
    return "_" not in word and (word in ADVERBS or is_participle(word))


def test_variables_are_no_participles(modules: dict[str, ast.Module]) -> None:
    rooms: Counter[str] = Counter()
    for path, tree in modules.items():
        for function in nodes_of(tree):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                stored = (node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
                rooms[room_of(path)] += sum(
                    map(is_bare, {*stored, *(node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg))})
                )
    assert {room: count for room, count in rooms.items() if count > LEFT[room]} == {}


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions of a module and methods of its classes, without properties."""
    for owner in [tree, *(node for node in nodes_of(tree) if isinstance(node, ast.ClassDef))]:
        for node in owner.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(
                "property" in ast.unparse(decorator) for decorator in node.decorator_list
            ):
                yield node


def is_participle(name: str) -> bool:
    """True for `merged` and `held_by`; a noun after the participle makes a noun: `known_keys`."""
    first, *rest = name.strip("_").split("_")
    return (first in PARTICIPLES or (first.endswith("ed") and first not in NO_PARTICIPLES)) and PREPOSITIONS.issuperset(rest)


def test_functions_are_no_participles(modules: dict[str, ast.Module]) -> None:
    assert is_participle("_merged") and is_participle("held_by") and not is_participle("known_keys") and not is_participle("embed")
    functions = [(path, node) for path, tree in modules.items() for node in functions_of(tree)]
    assert len(functions) > 4_000
    named = [f"{path}:{node.lineno}: {node.name}" for path, node in functions if is_participle(node.name) and node.name not in OF_RLINF]
    assert named == []


def test_private_functions_are_named_by_more_than_prepositions(modules: dict[str, ast.Module]) -> None:
    names = [(f"{path}:{node.lineno}", node.name) for path, tree in modules.items() for node in functions_of(tree)]
    private = [(where, name) for where, name in names if name.startswith("_") and not name.endswith("_")]
    assert [(where, name) for where, name in private if (PREPOSITIONS - {"open"}).issuperset(name.strip("_").split("_"))] == []


def test_no_class_name_is_defined_twice(modules: dict[str, ast.Module]) -> None:
    files = defaultdict[str, set[str]](set)
    for path, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name not in SAME_NAME:
                files[node.name].add(path)
    assert {name: sorted(where) for name, where in files.items() if len(where) > 1} == {}


def test_files_have_at_most_500_lines(root: Path, modules: dict[str, ast.Module]) -> None:
    lines = {path: len((root / path).read_text("utf-8").splitlines()) for path in modules}
    assert {path: count for path, count in lines.items() if count > 500} == {}
