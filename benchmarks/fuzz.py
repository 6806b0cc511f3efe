"""Files with random bytes changed, through the whole command: does `verify` ever fail itself, and how long does the worst take?

Each is a configuration of RLinf or ROLL, settings of verl, or a script of verl (where PLACEWRIGHT_VERL names a checkout), with 1 to 8
random edits of its bytes (replaced, inserted, deleted, copied from elsewhere in it, or a piece of YAML, Python or shell put in),
verified with its machines described, and a third of the files with their `defaults` followed. They come from the corpus beside the
repository, else from the examples. `exceptions` counts runs that ended in our own fault (exit code 70).
"""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import time
from pathlib import Path

from frameworks.files import Input, inputs
from placewright.cli.main import run
from study import Rows, Study, plotting

OUR_FAULT = 70
VERDICTS = {0: "ok", 1: "findings", 2: "unusable", 5: "incomplete"}
AMOUNTS = (1, 2, 4, 8)
QUICK, FULL = 12, 10_000
"""How many files of each framework and form, shared among the amounts alike."""
MARKS = {
    "rlinf": (b"cluster:",),
    "roll": (b"device_mapping", b"strategy_args", b"num_gpus"),
    "verl": (b"trainer.", b"nnodes", b"gpus_per_node", b"parallel"),
}
"""Most edits are made near one of these."""
PRINTABLE = bytes(range(32, 127))
PIECES = tuple(
    piece.encode()
    for piece in (
        "all", "0-7", ":", ",", "-", " - ", "\n", "\r", "  ", "{", "}", "[", "]", "'", '"', "|", ">", "#", "~", "null", "true", "1e3", "1:30", "0x1",
        "${", "${cluster.num_nodes}", "${oc.env:HOME}", "*a", "&a ", "<<: ", "!!int ", "!x ", "---", "???", "9" * 30, "\t", "\x00", "\u2028", "é", "\ufeff",
        "list(range(", "))", "range(0,8)", "[0]*9", "[::-1]", "+", "**", "9**9**9", "lambda: 0", "$(", "`", "${X:-1}", "$((", "{1..9}", "\\", "\\\n", "&&", "; ", "<<EOF", "$@",
        "'\"'\"'", "=", "++", "~", "null=", "trainer.nnodes=", "for i in", "done", "if true; then", "fi", "function f {", "}",
        "cluster", "node", "label", "placement", "node_ranks", "num_nodes", "component_placement", "defaults", "override /x: y", "@package", "../x",
    )
)  # fmt: skip


def edited(data: bytes, marks: tuple[bytes, ...], amount: int, dice: random.Random) -> bytes:
    """The bytes after so many random edits, most of them near one of the marks."""
    for _ in range(amount):
        place = data.find(dice.choice(marks)) if dice.random() < 0.8 else -1
        low, high = (place, min(place + (800 if len(marks) == 1 else 120), len(data))) if place >= 0 else (0, len(data))
        start = dice.randint(low, max(low, high))
        stop = min(len(data), start + dice.choice((0, 0, 1, 1, 2, 8)))
        other = dice.randint(0, len(data))
        ways = (
            b"",
            bytes(dice.choices(range(256), k=1)),
            bytes(dice.choices(PRINTABLE, k=dice.randint(1, 2))),
            str(dice.randint(0, 99)).encode(),
            dice.choice(PIECES),
            data[other : other + dice.randint(1, 40)],
        )
        data = data[:start] + dice.choices(ways, weights=(2, 1, 6, 4, 5, 2))[0] + data[stop:]
    return data


def measure(full: bool) -> Rows:
    """One row for each framework, form and number of edits in one input."""
    dice, every = random.Random(1), inputs()
    rows: Rows = []
    with tempfile.TemporaryDirectory() as name:
        for framework, form in dict.fromkeys((each.framework, each.form) for each in every):
            its = [each for each in every if (each.framework, each.form) == (framework, form)]
            for amount in AMOUNTS:
                times = []
                counts: dict[str, int] = dict.fromkeys((*VERDICTS.values(), "exceptions"), 0)
                for _ in range((FULL if full else QUICK) // len(AMOUNTS)):
                    code, seconds = _verified(dice.choice(its), amount, Path(name), dice)
                    counts["exceptions" if code == OUR_FAULT else VERDICTS[code]] += 1
                    times.append(seconds)
                row = {"framework": framework, "form": form, "edits_in_one_file": amount, "files": len(times), "edits": len(times) * amount}
                rows.append({**row, **counts, "slowest_s": round(max(times), 3), "mean_s": round(sum(times) / len(times), 4)})
    return rows


def _verified(its: Input, amount: int, folder: Path, dice: random.Random) -> tuple[int, float]:
    """(exit code, CPU seconds) of `placewright verify` on an edited input, its text thrown away."""
    data = its.path.read_bytes() if its.path else "\n".join(its.settings).encode()
    data = edited(data, MARKS[its.framework], amount, dice)
    arguments = ["verify", "--cluster", "x8"]
    if its.path is None:
        arguments += [
            "--dialect",
            "verl",
            *(line for line in data.decode("utf-8", "replace").split("\n") if "=" in line and line[0] != "-"),
        ]
    else:
        file = folder / f"run{its.path.suffix}"
        file.write_bytes(data)
        arguments += [str(file), *(["--config-root", str(its.path.parent)] if dice.random() < 1 / 3 else [])]
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = run(arguments)
    return code, time.process_time() - began


def draw(rows: Rows, path: Path) -> None:
    """What became of the files, by the number of edits."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(figsize=(7, 5), layout="constrained")
    left = [0.0] * len(rows)
    for name in (*VERDICTS.values(), "exceptions"):
        shares = [100 * float(str(row[name])) / float(str(row["files"])) for row in rows]
        axes.barh([f"{row['framework']}, {row['form']}: {row['edits_in_one_file']}" for row in rows], shares, left=left, label=name)
        left = [one + other for one, other in zip(left, shares)]
    axes.set(xlabel="% of the files", ylabel="random edits in one input")
    axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("fuzz", measure, draw).main()
