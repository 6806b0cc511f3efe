"""Record the answers of the planner: `python -m tests.planner_oracle.record [--only PART] [--workers 1]`."""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
from pathlib import Path
from typing import Any, Iterable, Iterator, Sequence

from .answered import LIMIT, SEED, Record, answered
from .questions import PARTS, Ask

DATA = Path(__file__).with_name("answers.json.gz")
SAVED_EVERY = 100
"""Answers between two times that they are written, so that an interrupted recording is not lost."""
WARM: Ask = {
    "files": {"job.yaml": "cluster: 1x2xH100\ncomponents: {actor: {seconds: {1: 2, 2: 1}}, critic: {seconds: {1: 3}, accelerators: 1}}\n"}
}
"""An input that loads all modules, so that no other one pays for it."""

Entry = dict[str, Any]
"""`part`, `id`, `ask` and `answer` of one input."""


def read() -> list[Entry]:
    """Entries of the data file; none where there is none yet."""
    if not DATA.is_file():
        return []
    entries: list[Entry] = json.loads(gzip.decompress(DATA.read_bytes()))["entries"]
    return entries


def write(entries: Iterable[Entry]) -> None:
    """Write the data file, the parts in their order."""
    order = list(PARTS)
    data = {"limit": LIMIT, "seed": SEED, "entries": sorted(entries, key=lambda entry: order.index(entry["part"]))}
    DATA.write_bytes(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0))


def answers(asks: Sequence[Ask], workers: int) -> Iterator[Record]:
    """Answer inputs in their order, in this process where there is one worker."""
    if workers == 1:
        answered(WARM)
        yield from map(answered, asks)
        return
    with multiprocessing.Pool(workers, answered, (WARM,)) as pool:
        yield from pool.imap(answered, asks)


def main() -> None:
    """Record all parts, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    for part in [given.only] if given.only else PARTS:
        inputs = list(PARTS[part]())
        done: list[Entry] = []
        for (name, ask), answer in zip(inputs, answers([ask for _, ask in inputs], given.workers)):
            done.append({"part": part, "id": name, "ask": ask, "answer": answer})
            if len(done) % SAVED_EVERY == 0 or len(done) == len(inputs):
                write([*(entry for entry in read() if entry["part"] != part), *done])
                print(f"{part}: {len(done)} of {len(inputs)}", flush=True)


if __name__ == "__main__":
    main()
