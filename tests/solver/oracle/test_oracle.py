"""`solve` and `verify` against an oracle that knows nothing of them: README's demands, and every placement tried.

`PLACEWRIGHT_SEEDS=300` compares 300 times as many random files, about 100,000.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Callable

import pytest
import yaml
from sampling import examples

from .comparing import Disagreement, given_somehow, solved, written_back
from .counting import demands_of
from .generator import native_file
from .given import changed, with_places

FIRST, FILES = 600, examples(350)
KNOWN: dict[str, Callable[[dict[str, Any]], bool]] = {}
"""Sorts of files that the product is known to get wrong, each by a test of its data: they are passed over. To be empty."""
REFUSALS = {
    "apart", "colocated", "contiguous", "count", "cpus", "disjoint", "host_memory", "in order", "keep", "memory", "near", "not fewer", "pin",
    "place", "rank aligned", "shared", "spread", "subset", "unit", "work", "zero copy",
}  # fmt: skip
"""What the oracle must have refused at least once, in a search or of given ranks."""


@pytest.mark.slow
def test_the_product_says_what_the_oracle_says(tmp_path: Path) -> None:
    counts, failures = Counter[str](), list[str]()
    for seed in range(FIRST, FIRST + FILES):
        try:
            counts.update(compared(seed, tmp_path))
        except Disagreement as disagreement:
            failures.append(f"seed {seed}: {disagreement}")
    print("\n".join(f"{number:8} {name}" for name, number in sorted(counts.items())))
    assert not failures, f"{len(failures)} disagreements:\n" + "\n".join(sorted(failures, key=len)[:5])
    missing = sorted(name for name in expected() if not counts[name])
    assert not missing, f"never exercised: {missing}"
    compared_files = counts["solve: optimal"] + counts["solve: impossible"] + counts["solve: refused at once"]
    assert compared_files > 0.7 * FILES, counts


def compared(seed: int, folder: Path) -> Counter[str]:
    """Compares all about one file; what was exercised."""
    text, random, counts = native_file(seed), Random(seed), Counter[str]()
    if any(known(yaml.safe_load(text)) for known in KNOWN.values()):
        return Counter(["passed over"])
    solution = solved(text, folder)
    counts[f"solve: {solution.said}"] += 1
    if solution.said in ("optimal", "impossible"):
        counts.update(demands_of(text))
        counts.update(f"refused: {name}" for name in solution.refused)
    if solution.places is None:
        return counts
    counts.update(f"term: {name}" for tier in solution.terms for name, value, _ in tier if value)
    written_back(text, solution, folder)
    for _ in range(2):
        said, wrong = given_somehow(text, solution, random, folder)
        counts.update([f"given: {said}", *(f"refused: {name}" for name in wrong)])
    names = sorted(solution.places)
    if len(names) > 1 and random.random() < 0.5:
        some = random.sample(names, random.randint(1, len(names) - 1))
        places = solution.places if random.random() < 0.6 else changed(random, solution.job, solution.places)
        beside = with_places(text, solution.job, places, some)
        found = solved(beside, folder)
        counts[f"beside given: {found.said}"] += 1
        if found.said in ("optimal", "impossible"):
            counts.update(demands_of(beside))
    return counts


def expected() -> set[str]:
    """Every rule, term, sort, count and state of which a count is kept."""
    found = {f"refused: {name}" for name in REFUSALS}
    found |= {f"state: {name}" for name in ("given", "pinned", "open")}
    found |= {f"sort: {name}" for name in ("accelerators", "other hardware", "nodes")}
    found |= {f"{key}: {kind}" for key in ("accelerators", "processes") for kind in ("fixed", "range", "list")}
    relations = {
        "colocated",
        "disjoint",
        "colocated or disjoint",
        "subset",
        "in order",
        "not fewer",
        "apart",
        "near",
        "rank aligned",
        "zero copy",
    }
    found |= {f"relation: {kind}" for kind in relations}
    found |= {f"key: {key}" for key in (
        "accelerator", "accelerators_per_process", "any_order", "apart_from", "colocate_with", "contiguous", "cpus", "disjoint_from", "exclude",
        "host_memory", "keep.component", "keep.ep", "keep.replica", "keep.tp", "memory", "near", "node_group", "offloaded", "parallel.cp",
        "parallel.dp", "parallel.ep", "parallel.pp", "parallel.tp", "parallel.tp open", "phase", "pin", "rank_aligned_with", "spread.domains",
        "spread.level", "spread.percent", "stride", "traffic", "within", "zero_copy_with",
    )}  # fmt: skip
    found |= {f"keep: {name}" for name in ("node", "numa", "rack", "zone", "nvlink_domain", "preferred")}
    found |= {f"machines: {name}" for name in ("cpus", "memory", "taken", "numa", "models", "sizes", "zone", "rack", "nvlink_domain")}
    found |= {f"link: {name}" for name in ("weights", "stream", "ratio")} | {"work", "objective: lexicographic", "objective: weighted"}
    levels = {"zone": "zones", "rack": "racks", "nvlink_domain": "NVLink domains"}.values()
    found |= {f"term: MiB of {what} across {level}" for what in ("collectives", "weights", "streams") for level in levels}
    found |= {f"term: extra {level}" for level in levels}
    found |= {f"term: {what} below the requested maximum" for what in ("accelerators", "processes")}
    found |= {"term: preferred groups cut", "term: extra nodes of contiguous components", "term: processes on the fullest nodes"}
    return found
