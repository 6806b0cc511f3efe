"""The same files with ranks that are given: from a placement that holds, perhaps with something changed."""

from __future__ import annotations

from random import Random
from typing import Any, Iterable, Mapping, Sequence

import yaml

from .words import NODE, Cluster, Job, Wish

Places = Mapping[str, Sequence[tuple[int, tuple[int, ...]]]]
"""Node and seats of each process, by component."""


def with_places(text: str, job: Job, places: Places, names: Iterable[str]) -> str:
    """The file with the places of these components, and the degrees that `job` has, written into it."""
    data = yaml.safe_load(text)
    for name in names:
        keys, wish = data["components"][name], job[name]
        keys["placement"] = _text(wish, places[name]) or [
            _entry(job.cluster, wish.kind, rank, process) for rank, process in enumerate(places[name])
        ]
        if "parallel" in keys:
            keys["parallel"] = dict(wish.degrees)
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=200)


def _text(wish: Wish, processes: Sequence[tuple[int, tuple[int, ...]]]) -> str:
    """Ranks as a text such as ``0,2-3``, or nothing where the places are not in the order of their numbers.

    A text names the range; `stride` orders the processes in it.
    """
    if wish.stride > 1:
        return ""
    number = {seat: rank for rank, seat in enumerate(wish.line)}
    found = [number.get(seat, -1) for _, seats in processes for seat in seats]
    if not found or found != sorted(set(found)) or found[0] < 0 or len(processes) % 2:
        return ""
    text = ",".join(map(str, found))
    if wish.per == 1:
        return text
    parts = (f"{','.join(map(str, found[rank * wish.per : (rank + 1) * wish.per]))}" for rank in range(len(processes)))
    return ",".join(f"{part.replace(',', '-')}:{rank}" for rank, part in enumerate(parts)) if _solid(found, wish.per) else ""


def _solid(found: Sequence[int], per: int) -> bool:
    return all(found[start] + per - 1 == found[start + per - 1] for start in range(0, len(found), per))


def _entry(cluster: Cluster, kind: str, rank: int, process: tuple[int, tuple[int, ...]]) -> dict[str, Any]:
    node, seats = process
    where = {} if kind == NODE else {"accelerators" if kind == "accelerator" else "hardware": [cluster.seats[seat].index for seat in seats]}
    return {"ranks": str(rank), "node": node, **where}


def changed(random: Random, job: Job, places: Places) -> Places:
    """The places with one or two things changed: a process moved, two of them swapped, one left out or added.

    Processes share a seat only where processes are counted, and no groups are cut from the seats.
    """
    while True:
        found = _changed(random, job, places)
        if all(_may_share(job[name]) or not _twice(its) for name, its in found.items()):
            return found


def _may_share(wish: Wish) -> bool:
    return wish.counted == "processes" and wish.unit == 1 and not wish.contiguous and not wish.keeps[1:]


def _twice(processes: Sequence[tuple[int, tuple[int, ...]]]) -> bool:
    held = [seat for _, seats in processes for seat in seats]
    return len(set(held)) < len(held)


def _changed(random: Random, job: Job, places: Places) -> Places:
    found = {name: list(each) for name, each in places.items()}
    for _ in range(random.randint(1, 2)):
        name = random.choice(list(found))
        its, way = found[name], random.random()
        rank = random.randrange(len(its))
        if way < 0.3 and len(its) > 1:
            other = random.randrange(len(its))
            its[rank], its[other] = its[other], its[rank]
        elif way < 0.4 and len(its) > 1:
            del its[rank]
        elif way < 0.55:
            another = random.choice(list(found))
            if job[another].kind == job[name].kind and job[another].per == job[name].per:
                its[rank] = random.choice(found[another])
        else:
            moved = _anywhere(random, job, name)
            if moved is not None and way < 0.9:
                its[rank] = moved
            elif moved is not None:
                its.append(moved)
    return found


def _anywhere(random: Random, job: Job, name: str) -> tuple[int, tuple[int, ...]] | None:
    """A process somewhere in the node groups of a component."""
    wish, node = job[name], random.choice(job[name].nodes)
    if wish.kind == NODE:
        return node, ()
    seats = [bit for bit, seat in enumerate(job.cluster.seats) if seat.node == node and seat.kind == wish.kind]
    return (node, tuple(sorted(random.sample(seats, wish.per)))) if len(seats) >= wish.per else None
