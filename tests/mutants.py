"""Mutation check: `python tests/mutants.py --count 60 --seed 1`. Do the short tests catch what the long ones catch?

A mutant is one small change in a rule, a check, the planner or a table of a dialect: a comparison, a number, `and`, `not`.
One run of the short tests records which of them reach the statement of each mutant (`record`; the record is kept). Then each
mutant is written into a copy of the checkout and meets these tests alone, the quickest first, until one fails. Those that
survive meet the slow tests all at once, then alone what failed there. A mutant that only slow tests catch means that one of
them should lose its mark, or that a short test is missing.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from itertools import accumulate, takewhile, zip_longest
from pathlib import Path
from typing import Iterator, NamedTuple, Sequence

ROOT = Path(__file__).parent.parent
GROUPS = {
    "rules": ("solver/rules/**/*.py", "solver/check*.py", "solver/verify.py"),
    "planner": ("planner/**/*.py",),
    "dialects": ("models/dialects/*.py", "models/dialects/*/**/*.py"),
    "facts": ("models/dialects/*/facts/*.json",),
}
"""Name -> files; each group gives as many mutants."""
TESTS = [f"tests/{folder}" for folder in ("solver", "planner", "models", "report", "cli", "scenarios", "corpus")]
MOST, LONGEST = 300, 60.0
"""Tests that a mutant meets alone, and their seconds in the record, at most."""
PROBE = """import os
seen = set()
def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    if test and (number, test) not in seen:
        seen.add((number, test))
        with open({log!r}, "a") as file:
            file.write(f"{{number}} {{test}}\\n")
"""
"""A module of the copy: writes which test, or which program that a test starts, reaches the statement of which mutant."""
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


def probed(path: Path, offsets: dict[int, int | None]) -> str:
    """The file with a call of `probe.hit(number)` before the statement at each offset; in every function if it has none."""
    content, tree, calls = path.read_bytes(), ast.parse(path.read_bytes()), list[tuple[list[ast.stmt], int, int]]()
    blocks = [(node, block) for node in ast.walk(tree) for _, block in ast.iter_fields(node) if isinstance(block, list)]
    for number, offset in offsets.items():
        inside = list[tuple[int, list[ast.stmt], int]]()
        if offset is not None:
            here = (content.count(b"\n", 0, offset) + 1, offset - content.rfind(b"\n", 0, offset) - 1)
            for node, block in blocks:
                for index, part in enumerate(block):
                    if isinstance(part, ast.stmt) and (part.lineno, part.col_offset) <= here < (part.end_lineno, part.end_col_offset):
                        inside.append((0 if isinstance(node, (ast.Module, ast.ClassDef)) else part.lineno, block, index))
        line, block, index = inside[-1] if inside else (0, [], 0)
        if line:
            calls.append((block, index, number))
        else:
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            calls += [(node.body, int(ast.get_docstring(node) is not None), number) for node in functions]
    for block, index, number in sorted(calls, key=lambda call: -call[1]):
        block.insert(index, ast.parse(f"__import__('placewright.probe', fromlist=['']).hit({number})").body[0])
    return ast.unparse(tree)


def record(mutants: list[Mutant], checkout: Path, processes: int) -> tuple[list[set[str]], dict[str, float]]:
    """The short tests that reach each mutant; seconds of each test. A table's mutant is reached by its dialect's functions."""
    log, offsets = checkout / "hits.txt", defaultdict[str, dict[int, int | None]](dict)
    for number, mutant in enumerate(mutants):
        content, folder = (checkout / mutant.path).read_bytes(), (checkout / mutant.path.split("/facts/")[0])
        if mutant.path.endswith(".py") and b"def " in content:
            offsets[mutant.path][number] = mutant.start
        else:
            for file in (folder if folder.is_dir() else folder.parent).rglob("*.py"):
                offsets[str(file.relative_to(checkout))][number] = None
    originals = {path: (checkout / path).read_bytes() for path in offsets}
    for path, numbers in offsets.items():
        (checkout / path).write_text(probed(checkout / path, numbers), "utf-8")
    (checkout / "probe.py").write_text(PROBE.format(log=str(log)), "utf-8")
    output = run(checkout, "-n", str(processes), "--durations=0", "-m", "not ray", *TESTS).stdout
    for path, original in originals.items():
        (checkout / path).write_bytes(original)
    seconds = {test: float(time) for time, test in re.findall(r"^([\d.]+)s call +(\S.*)$", output, re.MULTILINE)}
    reached = [set[str]() for _ in mutants]
    for line in log.read_text("utf-8").splitlines():
        (number, _, step), phase = line.partition(" "), line.rpartition(" ")[2]
        test = step.removesuffix(f" {phase}")
        reached[int(number)].add(test)
        if phase == "(setup)":  # a fixture may serve the whole file
            reached[int(number)] |= {other for other in seconds if other.startswith(test.partition("::")[0] + "::")}
    return reached, seconds


def nearness(test: str, path: str) -> int:
    """Folders that a test has in common with a path of the product."""
    pairs = zip(test.removeprefix("tests/").split("/"), path.split("/"))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def failed(checkout: Path, *arguments: str) -> list[str]:
    """The tests that fail."""
    done = run(checkout, "--tb=no", "--timeout=60", *arguments)
    names = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return names or ([] if done.returncode in (0, 5) else [done.stdout[-300:] + done.stderr[-300:]])


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest on the copy."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / ".typing")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # half of the time of a small run is compiling
    command = [str(Path(sys.executable).with_name("pytest")), "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, env=environment)


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


def kept_record(mutants: list[Mutant], folder: Path, processes: int) -> tuple[list[set[str]], dict[str, float]]:
    """The record of the last commit, made in a copy below `folder` if there is none yet."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    key = hashlib.sha256("\n".join([head, *map(str, mutants)]).encode()).hexdigest()[:16]
    kept = Path.home() / ".cache" / "placewright" / f"mutants-{key}.json"
    if not kept.exists():
        reached, seconds = record(mutants, copied(folder), processes)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([[sorted(tests) for tests in reached], seconds]), "utf-8")
    reached, seconds = json.loads(kept.read_text("utf-8"))
    return [set(tests) for tests in reached], seconds


@contextmanager
def applied(checkout: Path, mutants: Sequence[Mutant]) -> Iterator[None]:
    """Puts mutants into the copy for a while; a time of its own for each file, so that no bytecode of before is taken."""
    before = {mutant.path: (checkout / mutant.path).read_bytes() for mutant in mutants}
    for mutant in sorted(mutants, key=lambda mutant: -mutant.start):
        content = (checkout / mutant.path).read_bytes()
        (checkout / mutant.path).write_bytes(content[: mutant.start] + mutant.text.encode() + content[mutant.end :])
        os.utime(checkout / mutant.path, (time.time() - 1e6,) * 2)
    yield
    for path, content in before.items():
        (checkout / path).write_bytes(content)


def main() -> None:
    """Tries the mutants and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="list the mutants and try none")
    parser.add_argument("--no-slow", action="store_true", help="leave out the run of all tests for those that survive")
    parser.add_argument("--processes", type=int, default=2, help="processes of the runs of all tests")
    options = parser.parse_args()
    mutants = chosen(options.count, options.seed)
    if options.list:
        print(*mutants, sep="\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        reached, seconds = kept_record(mutants, Path(folder, "record"), options.processes)
        checkout, survivors, killed = copied(Path(folder)), list[Mutant](), Counter[str]()
        for mutant, tests in zip(mutants, reached):
            order = sorted(tests, key=lambda test: (-nearness(test, mutant.path), seconds.get(test, 0.0), test))
            until = accumulate(seconds.get(test, 0.0) for test in order)
            order = [test for test, time_until in zip(order, until) if time_until <= LONGEST][:MOST]
            start, test = time.monotonic(), ""
            if order:
                Path(folder, "tests").write_text("\n".join(order), "utf-8")
                with applied(checkout, [mutant]):
                    test = next(iter(failed(checkout, "-x", f"@{folder}/tests")), "")
            killed["short"] += bool(test)
            survivors += [] if test else [mutant]
            print(f"{'short' if test else '':8} {time.monotonic() - start:4.0f} s of {len(tests)}  {mutant}  {test}", flush=True)
        if survivors and not options.no_slow:
            with applied(checkout, survivors):
                failing = failed(checkout, "--deep", "-n", str(options.processes), "-m", "not ray", *TESTS)
            Path(folder, "tests").write_text("\n".join(failing), "utf-8")
            for mutant in survivors:
                with applied(checkout, [mutant]):
                    short = failed(checkout, "-x", f"@{folder}/tests") if failing else []
                    test = next(iter(short or (failed(checkout, "--deep", "-x", f"@{folder}/tests") if failing else [])), "")
                verdict = "short" if short else "slow" if test else "survives"
                killed[verdict] += 1
                print(f"{verdict:8} {mutant}  {test}", flush=True)
    print(*(f"{verdict}: {count} of {len(mutants)}" for verdict, count in killed.items()), sep="\n")


if __name__ == "__main__":
    main()
