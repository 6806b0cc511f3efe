"""Compare answers with the recorded ones: `python -m tests.planner_oracle.compare [--part PART] [--sample N] [--id ID]`."""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import Any, Sequence

from .answered import Record
from .questions import PARTS, files_of
from .record import Entry, answers, read

MANY_COMPONENTS = "many unrelated components"
OUTSIDE = "outside of the scope"
SENSITIVITY = "sensitivity"
ESTIMATES = "memory estimates"
ALLOWED = {
    MANY_COMPONENTS: "a proof for eight and more unrelated components may become `feasible` with a gap: the arrangements are too many",
    OUTSIDE: "a recorded plan with tp groups over nodes, a component on several models or nested sharing that its file does not ask for "
    "may become another plan, or none: such plans are no longer searched",
    ESTIMATES: "what an estimate says a component needs was calibrated after the answers were recorded",
    SENSITIVITY: "thresholds of sensitivity may differ by 1 %: they are not recorded",
}
"""Differences that are right, decided before the planner was rebuilt -> why."""
MANY = 8
RELATIONS = ("colocate_with", "disjoint_from", "within", "relations:", "rank_aligned_with", "zero_copy_with", "apart_from", "near:")

EQUAL, BETTER, LISTED, WORSE, WRONG = CLASSES = ("equal", "better", "listed", "worse", "WRONG")
"""`worse`: a larger price, where neither the recorded answer nor the new one claims a proof."""
PLANS = ("optimal", "feasible", "verified")


def judged(old: Record, new: Record, text: str = "") -> tuple[str, str]:
    """(class, reason) of a new answer beside the recorded one; `text` is that of its files."""
    kind, reason = _judged(old, new, text)
    is_estimated = "estimate:" in text or "model: {path:" in text
    return (LISTED, ESTIMATES) if kind == WRONG and is_estimated and new["verdict"] not in ("crash", "too slow") else (kind, reason)


def _judged(old: Record, new: Record, text: str) -> tuple[str, str]:
    if old["verdict"] in ("crash", "too slow"):
        return (EQUAL if new["verdict"] == old["verdict"] else BETTER), f"was {old['verdict']}"
    if new["verdict"] in ("crash", "too slow"):
        return WRONG, f"{new['verdict']}: {new.get('error', '')}"
    outside = (LISTED, OUTSIDE) if old.get("outside") else None
    if "price" in old and "price" in new:
        return _of_prices(old, new, text)
    if new["verdict"] != old["verdict"]:
        if outside and new["verdict"] in ("impossible", "undecided"):
            return outside
        if old["verdict"] == "undecided":
            return BETTER, "was undecided"
        return WRONG, f"{old['verdict']} became {new['verdict']}"
    if ("price" in old) != ("price" in new):
        return WRONG, "a price was there, or is there, in one of the answers alone"
    if old.get("own") != new.get("own"):
        return WRONG, f"the file's own ranks cost {old.get('own')}, now {new.get('own')}"
    return EQUAL, ""


def _of_prices(old: Record, new: Record, text: str) -> tuple[str, str]:
    first = 1 if old.get("aim") == "accelerators" else 0
    before, now = ([record["price"][first], record["price"][1 - first]] for record in (old, new))
    outside = bool(old.get("outside"))
    if new["bound"] > before[0] and not outside:
        return WRONG, f"bound {new['bound']} above the known price {before[0]}"
    if now[0] < old["bound"]:
        return WRONG, f"price {now[0]} below the recorded bound {old['bound']}"
    if now[0] > before[0]:
        if outside:
            return LISTED, OUTSIDE
        if new["proved"]:
            return WRONG, f"price {now[0]} claimed proved, {before[0]} is known"
        if old["proved"]:
            return _unproved(old, text, f"price {now[0]} instead of {before[0]}, proved")
        return WORSE, f"price {now[0]} instead of {before[0]}, both unproved"
    if old["proved"] and not new["proved"]:
        return _unproved(old, text, "a proof is lost")
    if old.get("own") != new.get("own"):
        return WRONG, f"the file's own ranks cost {old.get('own')}, now {new.get('own')}"
    if now[0] < before[0] or new["proved"] > old["proved"]:
        return BETTER, f"{before[0]} -> {now[0]}"
    if now[1] > before[1]:
        claims = new["proved"] and not new.get("ties_open")
        return (WRONG if claims else WORSE), f"as good, and {now[1]} of what comes second instead of {before[1]}"
    return (BETTER, "less of what comes second") if now[1] < before[1] else (EQUAL, "")


def _unproved(old: Record, text: str, reason: str) -> tuple[str, str]:
    many = len(old["components"]) >= MANY and not any(word in text for word in RELATIONS)
    return (LISTED, MANY_COMPONENTS) if many else (WRONG, reason)


def _text(entry: Entry) -> str:
    return "" if "case" in entry["ask"] else "\n".join(files_of(entry["ask"]).values())


def _row(name: str, pairs: Sequence[tuple[Entry, Record, tuple[str, str]]]) -> str:
    counts = [sum(kind == each for _, _, (each, _) in pairs) for kind in CLASSES]
    codes = sum(entry["answer"].get("codes") != new.get("codes") for entry, new, _ in pairs)
    seconds = [
        [record["cpu"] for record in records] for records in ([entry["answer"] for entry, _, _ in pairs], [new for _, new, _ in pairs])
    ]
    spent = "".join(f"{sum(each):10.1f}{max(each, default=0):8.1f}" for each in seconds)
    return f"{name:<12}{len(pairs):>7}" + "".join(f"{count:>8}" for count in counts) + f"{codes:>13}{spent}"


def main() -> int:
    """Print a table per part and every wrong answer; 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--sample", type=int, help="so many inputs of each part, drawn with seed 1")
    parser.add_argument("--id", help="one input, such as `random/17`, shown in full")
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    entries = [entry for entry in read() if given.part in (None, entry["part"])]
    if given.id:
        entries = [entry for entry in entries if f"{entry['part']}/{entry['id']}" == given.id]
    pairs: list[tuple[Entry, Record, tuple[str, str]]] = []
    chosen: list[Entry] = []
    for part in PARTS:
        its = [entry for entry in entries if entry["part"] == part]
        some = given.sample is not None and given.sample < len(its)
        kept = set(random.Random(1).sample(range(len(its)), given.sample)) if some else set(range(len(its)))
        chosen += [entry for number, entry in enumerate(its) if number in kept]
    for entry, new in zip(chosen, answers([entry["ask"] for entry in chosen], given.workers)):
        kind, why = judged(entry["answer"], new, _text(entry))
        pairs.append((entry, new, (kind, why)))
        if kind not in (EQUAL, BETTER):
            print(f"{kind}: {entry['part']}/{entry['id']}: {why}", flush=True)
        if given.id:
            _show(entry, new)
    print(f"{'part':<12}{'inputs':>7}" + "".join(f"{kind:>8}" for kind in CLASSES) + "  other codes   old CPU   worst   new CPU   worst")
    for part in [*PARTS, "all"]:
        its_pairs = [pair for pair in pairs if part in ("all", pair[0]["part"])]
        if its_pairs:
            print(_row(part, its_pairs))
    for name in dict.fromkeys(why for _, _, (kind, why) in pairs if kind == LISTED):
        print(f"listed, {name}: {ALLOWED[name]}")
    return int(any(kind == WRONG for _, _, (kind, _) in pairs))


def _show(entry: Entry, new: Any) -> None:
    options = {key: value for key, value in entry["ask"].items() if key != "files"}
    print(json.dumps(options), _text(entry), json.dumps(entry["answer"]), json.dumps(new), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
