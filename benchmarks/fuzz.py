"""Files with random bytes changed, through the whole command: does `verify` ever fail itself, and how long does the worst take?

Each file is a configuration with 1 to 8 random edits of its bytes (replaced, inserted, deleted, copied from elsewhere in it,
or a piece of YAML put in), verified with its machines described, and for a third of the files with its `defaults`
followed. The configurations are RLinf's own where the corpus lies beside the repository, else those of the tests.
`exceptions` counts runs that ended in our own fault (exit code 70).
"""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import time
from pathlib import Path

from placewright.cli.main import run
from study import Rows, Study

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "rlinf"
OUR_FAULT = 70
VERDICTS = {0: "ok", 1: "findings", 2: "unusable"}
AMOUNTS = (1, 2, 4, 8)
QUICK, FULL = 2_000, 10_000
"""How many files in all, shared among the amounts alike."""
PRINTABLE = bytes(range(32, 127))
PIECES = tuple(
    piece.encode()
    for piece in (
        "all", "0-7", ":", ",", "-", " - ", "\n", "\r", "  ", "{", "}", "[", "]", "'", '"', "|", ">", "#", "~", "null", "true", "1e3", "1:30", "0x1",
        "${", "${cluster.num_nodes}", "${oc.env:HOME}", "*a", "&a ", "<<: ", "!!int ", "!x ", "---", "???", "9" * 30, "\t", "\x00", "\u2028", "é", "\ufeff",
        "cluster", "node", "label", "placement", "node_ranks", "num_nodes", "component_placement", "defaults", "override /x: y", "@package", "../x",
    )
)  # fmt: skip


def seeds() -> list[tuple[Path, bytes]]:
    """(the folder of a configuration, its bytes)."""
    if CORPUS.is_dir():
        files = [CORPUS / line for line in (CORPUS / "placement_files.txt").read_text("utf-8").split()]
    else:
        files = sorted([*(ROOT / "examples").glob("*.yaml"), *(ROOT / "tests").rglob("*.yaml")])
    return [(file.parent, file.read_bytes()) for file in files]


def edited(data: bytes, amount: int, dice: random.Random) -> bytes:
    """The bytes after so many random edits, most of them near `component_placement`."""
    for _ in range(amount):
        place = data.find(b"cluster:") if dice.random() < 0.8 else -1
        low, high = (place, min(place + 800, len(data))) if place >= 0 else (0, len(data))
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
    """One row for each number of edits in one file."""
    dice, found = random.Random(1), seeds()
    rows: Rows = []
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "run.yaml"
        for amount in AMOUNTS:
            times = []
            counts: dict[str, int] = dict.fromkeys((*VERDICTS.values(), "exceptions"), 0)
            for _ in range((FULL if full else QUICK) // len(AMOUNTS)):
                folder, data = dice.choice(found)
                file.write_bytes(edited(data, amount, dice))
                code, seconds = _verified(file, folder if dice.random() < 1 / 3 else None)
                counts["exceptions" if code == OUR_FAULT else VERDICTS[code]] += 1
                times.append(seconds)
            row = {"edits_in_one_file": amount, "files": len(times), "edits": len(times) * amount, **counts}
            rows.append({**row, "slowest_s": round(max(times), 3), "mean_s": round(sum(times) / len(times), 4)})
    return rows


def _verified(file: Path, root: Path | None) -> tuple[int, float]:
    """(exit code, CPU seconds) of `placewright verify`, its text thrown away."""
    arguments = ["verify", str(file), "--cluster", "x8", *(["--config-root", str(root)] if root else [])]
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = run(arguments)
    return code, time.process_time() - began


def draw(rows: Rows, path: Path) -> None:
    """What became of the files, by the number of edits."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "placewright"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    left = [0.0] * len(rows)
    for name in (*VERDICTS.values(), "exceptions"):
        shares = [100 * float(str(row[name])) / float(str(row["files"])) for row in rows]
        axes.barh([str(row["edits_in_one_file"]) for row in rows], shares, left=left, label=name)
        left = [one + other for one, other in zip(left, shares)]
    axes.set(xlabel="% of the files", ylabel="random edits in one file")
    axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    Study("fuzz", measure, draw).main()
