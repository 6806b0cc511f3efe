"""The terms of the objective, each by its own definition, on places that are known."""

from __future__ import annotations

from itertools import combinations
from math import ceil
from typing import Iterator

from .demands import Helds, cut
from .words import ACCELERATOR, NODE, Job, Kept, Wish

PLURAL = {"zone": "zones", "rack": "racks", "nvlink_domain": "NVLink domains", "node": "nodes"}
Tier = tuple[tuple[str, int, int], ...]
"""Names, values and weights of the terms that are weighed together."""


def tiers(job: Job, helds: Helds, preferred_cut: int) -> Iterator[Tier]:
    """All tiers of the objective in order of importance; of a job without a term, the tier is 0."""
    job = job.as_shared({name: held.mask for name, held in helds.items()})
    for what in ("accelerators", "processes"):
        short = [
            max(w.counts) - helds[w.name].total
            for w in job.wishes
            if (w.kind == NODE) == (what == "processes") and w.counts and w.given is None
        ]
        yield ((f"{what} below the requested maximum", sum(short), 1),)
    yield (("preferred groups cut", preferred_cut, 1),)
    sent = [tuple(_sent(job, helds, level)) for level in job.cluster.levels]
    if job.weights is None:
        yield from sent
    else:
        yield tuple((name, value, job.weights[level]) for level, terms in zip(job.cluster.levels, sent) for name, value, _ in terms)
    yield from _extra(job, helds)
    yield from _contiguous(job, helds)
    yield from _fullest(job, helds)
    yield (("difference between open counts", _difference(job, helds), 1),)


def _difference(job: Job, helds: Helds) -> int:
    """Differences between the accelerators of every two components with a range; those on the same accelerators count once."""
    inside = {names[0] for kind, names, _ in job.relations if kind == "subset"}
    counts = []
    for names in job.bundles:
        members = [job[name] for name in names]
        if any(wish.kind != ACCELERATOR or wish.given is not None or wish.name in inside for wish in members):
            continue
        asked = [wish.counts for wish in members if wish.counts]
        if asked and max(map(min, asked)) < min(map(max, asked)) and any(min(each) < max(each) for each in asked):
            counts.append(helds[members[0].name].total)
    return sum(abs(first - second) for first, second in combinations(counts, 2))


def prefers(job: Job, wish: Wish) -> list[Kept]:
    """What is kept together if that can be, of a component that is searched."""
    return [] if wish.name in job.settled else [kept for kept in wish.keeps if not kept.required]


def preferred(job: Job, wish: Wish, helds: Helds) -> int:
    """How many preferred groups of a component are cut, where the order of its ranks is known."""
    return sum(cut(job.cluster, wish, kept, helds[wish.name]) for kept in prefers(job, wish))


def _sent(job: Job, helds: Helds, level: str) -> Tier:
    """MiB across one level: what replicas exchange, weights and streams of links. What is between given ranks is not told."""
    cluster, name = job.cluster, PLURAL[level]
    exchanging = [wish for wish in job.wishes if wish.traffic and wish.name not in job.settled]
    collectives = sum(wish.traffic * (len(helds[wish.name].amounts(cluster, level)) - 1) for wish in exchanging)
    weights = streams = 0
    for link in job.links:
        here, there = (helds[link[end]].amounts(cluster, level) for end in ("from", "to"))
        if not {link["from"], link["to"]} <= job.settled:
            weights += link["weights"] * len(set(there) - set(here))
            streams += link["stream"] * sum(max(0, there[domain] - link.get("ratio", 1) * here[domain]) for domain in there)
    named = (("collectives", collectives), ("weights", weights), ("streams", streams))
    return tuple((f"MiB of {what} across {name}", value, 1) for what, value in named)


def _extra(job: Job, helds: Helds) -> Iterator[Tier]:
    """Domains beyond one of what is searched and of which nobody says what it exchanges."""
    bundles = [[job[name] for name in names] for names in job.bundles]
    searched = [each for each in bundles if each[0].kind != NODE and any(wish.name not in job.settled for wish in each)]
    quiet = [each[0] for each in searched if not any(_weighed(job, wish) for wish in each)]
    for level in job.cluster.levels:
        extra = sum(len(helds[wish.name].amounts(job.cluster, level)) - 1 for wish in quiet)
        yield ((f"extra {PLURAL[level]}", extra, 1),)


def _weighed(job: Job, wish: Wish) -> bool:
    return bool(wish.traffic) or any(link["to"] == wish.name for link in job.links)


def _contiguous(job: Job, helds: Helds) -> Iterator[Tier]:
    """Nodes of solid ranges beyond the fewest that have room for as many."""
    bundles = [[job[name] for name in names if job[name].contiguous] for names in job.bundles if not names & job.settled]
    yield (("extra nodes of contiguous components", sum(_extra_nodes(job, each[0], helds) for each in bundles if each), 1),)


def _extra_nodes(job: Job, wish: Wish, helds: Helds) -> int:
    held = helds[wish.name]
    sizes = sorted((sum(job.cluster.seats[bit].node == node for bit in set(wish.line)) for node in wish.nodes), reverse=True)
    fewest = ceil(held.total / max(sizes))
    return sum(amount > 0 for amount in held.seats_on) - fewest


def _fullest(job: Job, helds: Helds) -> Iterator[Tier]:
    """Processes on the fullest node of each component that is on nodes as such."""
    dealt = [wish for wish in job.wishes if wish.kind == NODE and wish.given is None]
    yield (("processes on the fullest nodes", sum(max(helds[wish.name].processes_on) for wish in dealt), 1),)
