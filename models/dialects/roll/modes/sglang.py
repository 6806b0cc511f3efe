"""What sglang demands of the GPUs of one worker.

An engine is cut into tp x pp parts; the worker sees its GPUs on the node of its first id alone. Parts that do not fit there are
started on nodes that are counted from the worker's rank, if the worker holds the first GPU of each of them.
Source: ROLL, roll/distributed/strategy/sglang_strategy.py (SgLangStrategy.initialize); roll/distributed/executor/cluster.py.
"""

from __future__ import annotations

from ....findings.wording import with_noun
from ..roles.role import Role
from ..roles.setup import Setup
from .degrees import Degrees
from .notices import IN_WORKERS
from .pairing import part

CODE = "PW403"
MOST_WORKERS = 4096
"""Of so many workers that lie on several nodes each is looked at; an own limit, no job is near it."""


def sglang(setup: Setup, role: Role, its: Degrees) -> None:
    """tp x pp is a multiple of what a worker sees, and where it is more the worker holds whole nodes at the right place."""
    ids, each, size = role.ids, role.num_gpus_per_worker, its.parallel.replica
    if ids is None or not each or ids.count % each:
        return
    if size == each and each <= setup.per_node and all(_whole_on_nodes(part, each, setup.per_node) for part in ids.parts):
        return
    for rank in range(min(ids.count // each, MOST_WORKERS)):
        held = list(part(ids, rank * each, (rank + 1) * each))
        why = _fault(held, rank, size, setup.per_node)
        if why:
            message = f"the engine of {role.key} has tp {its.tp.value} x pp {its.pp.value} = {size} parts, but worker {rank} {why}"
            key = role.path("num_gpus_per_worker")
            help, edit = "put all GPUs of a worker on one node, or on whole nodes", None
            if size != each and ids.count % size == 0:
                help, edit = f"set `{key}: {size}`, with all GPUs of a worker on one node", setup.settings.becomes(key, str(size))
            at = its.tp.span or role.per_worker_span or role.place
            setup.notes.error(CODE, role.key, message, at, f"{size} parts", help, edit, IN_WORKERS)
            return


def _whole_on_nodes(piece: range, each: int, per_node: int) -> bool:
    """Do its ids fill workers that lie on one node each?"""
    return piece.step == 1 and len(piece) % each == 0 and piece.start % each == 0 and per_node % each == 0


def _fault(held: list[int], rank: int, size: int, per_node: int) -> str:
    """Why an engine cannot start; "" if it can."""
    node = held[0] // per_node
    sees = len({each for each in held if each // per_node == node})
    if size % sees:
        return f"sees {with_noun(sees, 'GPU')} on node {node}, which do not divide them"
    nodes = size // sees
    first = {each // per_node for each in held if each % per_node == 0}
    if nodes > 1 and len(first & set(range(rank * nodes, (rank + 1) * nodes))) < nodes:
        wanted = f"nodes {rank * nodes}-{(rank + 1) * nodes - 1}"
        return f"sees {with_noun(sees, 'GPU')} on node {node} and has not GPU 0 of {wanted} for the rest"
    return ""
