"""Random problems of all words, as many as you like: `python -m tests.solver.fuzz 0 2000 [--as-files | --larger] [WORD...]`.

Each is solved and compared with everything tried; with `--as-files` it goes through a file and the command line instead, with `--larger`
it is too large to try everything, and the search is compared with itself without all that makes it fast. The words are those of `random_whole.WORDS`: problems that use all of these, and a few others. Ends with 1 if anything disagrees.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Sequence

from placewright.models.problem import Problem

from .brute_force import TooMany
from .random_whole import Drawn, Larger
from .through_text import through_text
from .whole_model import agree, judge

BUDGET = 5_000


def main(arguments: Sequence[str]) -> int:
    """What came out how often, and why some were not searched."""
    start, stop, *words = [each for each in arguments if not each.startswith("--")]
    way = _as_file if "--as-files" in arguments else _larger if "--larger" in arguments else _judged
    counts, reasons = Counter[str](), Counter[str]()
    for seed in range(int(start), int(stop)):
        question = (Larger if way is _larger else Drawn)(random.Random(seed), *words).problem()
        try:
            verdict, why = way(question)
        except TooMany:
            verdict, why = "too many", ""
        except Exception as fault:  # whatever it is: it is told, and the others are tried too
            verdict, why = "wrong", ""
            print(f"seed {seed}: {type(fault).__name__}: {str(fault)[:1000]}", flush=True)
            print("".join(traceback.format_tb(fault.__traceback__)[-1:]), flush=True)
        counts[verdict] += 1
        reasons.update([why] if why else [])
    print(dict(counts), f"{time.process_time():.0f} s of CPU")
    for why, count in reasons.most_common():
        print(count, why)
    return int(counts["wrong"] > 0)


def _judged(question: Problem) -> tuple[str, str]:
    found = judge(question, BUDGET)
    return found.verdict, found.why


def _larger(question: Problem) -> tuple[str, str]:
    found = agree(question)
    return found.verdict, found.why


def _as_file(question: Problem) -> tuple[str, str]:
    with TemporaryDirectory() as where:
        return f"exit {through_text(replace(question, previous=None), Path(where))}", ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
