"""Mutation check: `python tests/mutants.py --count 60 --seed 1`. Do the short tests catch what the long ones catch?

A mutant is one small change in a rule, a check, the planner or a table of a dialect: a comparison, a number, `and`, `not`.
Each is written into a copy of the checkout. The short tests of its layer run on it, those of its own folder first; where
they pass, those marked `slow`; where these fail, all short tests. A mutant that only slow tests catch means that one of them
should lose its mark.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).parent.parent
GROUPS = {
    "rules": ("solver/rules/**/*.py", "solver/check*.py", "solver/verify.py"),
    "planner": ("planner/**/*.py",),
    "dialects": ("models/dialects/*.py", "models/dialects/*/**/*.py"),
    "facts": ("models/dialects/*/facts/*.json",),
}
"""Name -> files; each group gives as many mutants."""
SWAPPED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.And: ("and", "or"),
    ast.Or: ("or", "and"), ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "//"),
}  # fmt: skip
"""Operator -> its text, and the text that replaces it."""


class Mutant(NamedTuple):
    """A change of the bytes from `start` to `end` of a file."""

    path: str
    start: int
    end: int
    text: str
    line: int

    def __str__(self) -> str:
        before = (ROOT / self.path).read_bytes()[self.start : self.end].decode()
        return f"{self.path}:{self.line}: `{before}` -> `{self.text}`"


def python_mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a Python file."""
    content, name = path.read_bytes(), str(path.relative_to(ROOT))
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Mutant]:
        if type(operator) in SWAPPED:
            old, new = SWAPPED[type(operator)]
            first, last = at(left.end_lineno or 0, left.end_col_offset or 0), at(right.lineno, right.col_offset)
            found = re.search(rb"(?<![\w=<>!*/])" + re.escape(old.encode()) + rb"(?![\w=<>*/])", content[first:last])
            if found:
                yield Mutant(name, first + found.start(), first + found.end(), new, left.end_lineno or 0)

    tree = ast.parse(content)
    annotations = {id(part) for node in ast.walk(tree) for part in _annotation(node)}
    for node in ast.walk(tree):
        if id(node) in annotations:
            continue
        if isinstance(node, ast.Compare):
            for left, operator, right in zip((node.left, *node.comparators), node.ops, node.comparators):
                yield from between(left, right, operator)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:]):
                yield from between(left, right, node.op)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield Mutant(name, at(node.lineno, node.col_offset), at(node.lineno, node.col_offset) + 3, "", node.lineno)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            text = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield Mutant(name, at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0), text, node.lineno)


def _annotation(node: ast.AST) -> Iterator[ast.AST]:
    for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
        yield from ast.walk(part) if part is not None else ()


def fact_mutants(path: Path) -> Iterator[Mutant]:
    """Every number, truth value and key of a table, one changed."""
    content = path.read_bytes()
    for found in re.finditer(rb'(?<=: )(\d+|true|false)(?=[,\s}\]])|"[a-z_][a-z_0-9.]+"(?=:)', content):
        old = found.group().decode()
        new = {"true": "false", "false": "true"}.get(old) or (str(int(old) + 1) if old.isdigit() else f'{old[:-1]}x"')
        yield Mutant(str(path.relative_to(ROOT)), found.start(), found.end(), new, content.count(b"\n", 0, found.start()) + 1)


def chosen(count: int, seed: int) -> list[Mutant]:
    """`count` mutants, of the groups in turn, each of another file where there are enough files."""
    source, groups = random.Random(seed), list[list[Mutant]]()
    for number, patterns in enumerate(GROUPS.values()):
        files = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
        of = {path: list((fact_mutants if path.suffix == ".json" else python_mutants)(path)) for path in files}
        files = [path for path in files if of[path]]
        wanted = count * (number + 1) // len(GROUPS) - count * number // len(GROUPS)
        paths = source.sample(files, min(wanted, len(files))) + source.choices(files, k=max(0, wanted - len(files)))
        groups.append([source.choice(of[path]) for path in paths])
    return [mutant for row in zip_longest(*groups) for mutant in row if mutant is not None]


def tests_near(mutant: Mutant, checkout: Path) -> tuple[list[str], list[str]]:
    """The folder of tests that mirrors the mutant's folder, or the nearest above it; the tests of its layer."""
    room = "models/dialects" if mutant.path.startswith("models") else mutant.path.split("/")[0]
    layer = [f"tests/{room}", "tests/scenarios", *(["tests/corpus"] if room == "models/dialects" else [])]
    folder = Path("tests", mutant.path.replace("/facts", "")).parent
    while not (checkout / folder).is_dir():
        folder = folder.parent
    return [str(folder)], layer


def fails(checkout: Path, *arguments: str) -> str:
    """The first test that fails, or nothing."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "2", "--dist", "worksteal", *arguments]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, env=_environment(checkout))
    if done.returncode in (0, 5):
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed.group(1) if failed else done.stdout[-300:] + done.stderr[-300:]


def _environment(checkout: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout / ".typing"), "PYTHONDONTWRITEBYTECODE": "1"}


def copied(folder: Path) -> Path:
    """A copy of the checkout, as git knows it, beside the same `shared` folder if there is one."""
    checkout = folder / "checkout"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, files):
        target = checkout / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared)
    return checkout


def main() -> None:
    """Tries the mutants and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="list the mutants and try none")
    parser.add_argument("--json", type=Path, help="write the verdicts to this file")
    options = parser.parse_args()
    mutants, rows = chosen(options.count, options.seed), list[dict[str, object]]()
    if options.list:
        print(*mutants, sep="\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        checkout = copied(Path(folder))
        for mutant in mutants:
            target = checkout / mutant.path
            before, start = target.read_bytes(), time.monotonic()
            target.write_bytes(before[: mutant.start] + mutant.text.encode() + before[mutant.end :])
            near, layer = tests_near(mutant, checkout)
            rest = [folder for folder in layer if folder not in near]
            test = fails(checkout, "-m", "not ray", *near) or fails(checkout, "-m", "not ray", *rest)
            verdict = "short" if test else ""
            if not test and (test := fails(checkout, "--deep", "-m", "slow and not ray", *layer)):
                whole = fails(checkout, "-m", "not ray")
                verdict, test = ("short", whole) if whole else ("slow", test)
            target.write_bytes(before)
            rows.append({"mutant": str(mutant), "killed_by": verdict, "test": test, "seconds": round(time.monotonic() - start)})
            print(f"{verdict or 'survives':8} {rows[-1]['seconds']:4} s  {mutant}  {test}", flush=True)
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1), "utf-8")
    for verdict in ("short", "slow", ""):
        print(f"{verdict or 'survives'}: {sum(row['killed_by'] == verdict for row in rows)} of {len(rows)}")


if __name__ == "__main__":
    main()
