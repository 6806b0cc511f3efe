"""What the inference engines refuse, and the accelerators that their servers are given.

Source: verl, verl/workers/config/rollout.py (RolloutConfig.__post_init__), verl/workers/rollout/replica.py (RolloutReplica),
verl/workers/rollout/vllm_rollout/vllm_async_server.py, verl/experimental/agent_loop/agent_loop.py (_initialize_llm_servers),
verl/experimental/reward_loop/reward_model.py.
"""

from __future__ import annotations

from dataclasses import replace

from ....component import Parallel
from ....configuration.settings import Amount
from ....findings.fix import Fix
from ....findings.wording import with_noun
from ....pools.pool import Pool
from ..components.parallel import engine
from ..entries import Kind
from .degrees import is_engine, when_served
from .notices import IN_SERVER, IN_WORKERS
from .work import ACCELERATORS, DEGREES, MODE, Work, divisors, next_to

ROLLOUT = "actor_rollout_ref.rollout"
SERVED = (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT, Kind.SERVER)
"""What starts servers for rollout."""
WITHOUT_STAGES = ("vllm", "sglang", "trtllm")


def judge_engines(work: Work) -> None:
    """The engine of rollout, and that of a reward model. With simulators rollout is part of the actor, and no server is started."""
    if work.setup.entry.kind is Kind.SIMULATION:
        work.setup.components = tuple(replace(each, server=1) for each in work.setup.components)
        if (known := engine(work.settings, ROLLOUT)) is not None:
            _alone(work, known[1]["tp"])
    # How many accelerators rollout has need not be known for what its engine refuses.
    if work.setup.entry.kind in SERVED or (work.setup.component("rollout") and work.setup.entry.kind is Kind.DECLARED):
        _mode(work)
        if (known := engine(work.settings, ROLLOUT)) is not None:
            _degrees(work, "rollout", ROLLOUT, *known)
            _servers(work, "rollout", *known, ACCELERATORS)
            _experts(work, *known)
    if work.setup.component("reward_model") and is_engine(work, "reward_model"):
        owner = "reward_model.rollout"
        if (known := engine(work.settings, owner)) is not None:
            _degrees(work, "reward_model", owner, *known)
            own = work.settings.flag("reward_model.enable_resource_pool", DEGREES)
            _servers(work, "reward_model", *known, "reward_model.n_gpus_per_node" if own else ACCELERATORS)
            _split(work, *known)


def _alone(work: Work, tensor: Amount) -> None:
    """Every rank of rollout generates by itself; its mesh of ranks x tp holds no more than the ranks."""
    if tensor.value > 1:
        message = f"{work.said(tensor)}: beside simulators every rank generates by itself, and torch refuses a mesh of more than all ranks"
        work.tell(DEGREES, "rollout", message, tensor.span, work.set(tensor, 1), tensor.becomes(1), "more than 1", IN_WORKERS)


def _mode(work: Work) -> None:
    key = f"{ROLLOUT}.mode"
    if work.settings.word(key, MODE) == "sync":
        message = f"`{key}` is `sync`, which verl has removed: it raises a ValueError"
        help_ = f"set {work.settings.assigned(key, 'async')}"
        work.tell(MODE, "rollout", message, work.settings.place(key), help_, work.settings.becomes(key, "async"), "removed", IN_WORKERS)


def _degrees(work: Work, name: str, owner: str, parallel: Parallel, amounts: dict[str, Amount]) -> None:
    program = work.settings.word(f"{owner}.name", MODE)
    if parallel.pp > 1 and program in WITHOUT_STAGES:
        message = f"{program} has no pipeline stages in verl, but {work.said(amounts['pp'])}"
        work.tell(
            MODE,
            name,
            message,
            amounts["pp"].span,
            work.set(amounts["pp"], 1),
            amounts["pp"].becomes(1),
            "more than 1",
            when_served(work, name, IN_WORKERS),
        )
    experts, wanted = amounts["ep"], parallel.tp * parallel.dp
    if parallel.ep > 1 and parallel.ep != wanted:
        message = f"{work.said(experts)} must be tp x dp = {parallel.tp} x {parallel.dp} = {wanted}, or 1"
        work.tell(
            MODE,
            name,
            message,
            experts.span,
            work.set(experts, wanted),
            experts.becomes(wanted),
            f"not {wanted}",
            when_served(work, name, IN_WORKERS),
        )


def _servers(work: Work, name: str, parallel: Parallel, amounts: dict[str, Amount], key: str) -> None:
    """One server for every `min(accelerators of a node, replica)` ranks, whose accelerators must be of one node."""
    pool, per_node, size = work.setup.pool(name), work.amount(key, DEGREES), parallel.replica
    component = work.setup.component(name)
    if (
        pool is None
        or component is None
        or component.runs is None
        or per_node is None
        or not pool.even
        or not pool.size
        or pool.size % size
    ):
        return
    part, each = pool.parts[0].size, min(per_node.value, size)
    at = next((amount.span for amount in amounts.values() if amount.value > 1 and amount.span), per_node.span)
    fitting = [value for value in divisors(pool.size) if _fits(pool, part, per_node.value, value * (size // parallel.tp))]
    help_, edit = f"make {work.settings.assigned(key, part)}", None
    if better := next_to(parallel.tp, fitting):
        close = min(better, key=lambda value: abs(value - parallel.tp))
        help_, edit = work.set(amounts["tp"], *better), amounts["tp"].becomes(close)
    said = f"{work.said(per_node)}, which verl takes for the size of a node"
    fixes = dict(component.fixes)
    if size % each:
        message = f"a replica of {name} ({with_noun(size, 'accelerator')}) is no multiple of {said} of `{pool.name}` ({pool.sizes})"
        work.tell("PW214", name, message, at, help_, edit, with_noun(size, "accelerator"), when_served(work, name))
        each = 1  # no server is started
    elif part % each:
        fixes["PW214"] = Fix(help_, edit, () if per_node.value == part else (f"a server takes {with_noun(each, 'accelerator')} by {said}",))
    server = replace(component, server=each, fixes=fixes)
    work.setup.components = tuple(server if other is component else other for other in work.setup.components)


def _fits(pool: Pool, part: int, per_node: int, size: int) -> bool:
    each = min(per_node, size)
    return pool.size % size == 0 and (part % size == 0 or size % part == 0) and size % each == 0 and part % each == 0


def _experts(work: Work, parallel: Parallel, amounts: dict[str, Amount]) -> None:
    """With expert parallel ranks a server of vLLM holds whole tensor parallel groups."""
    per_node = work.amount(ACCELERATORS, DEGREES)
    if parallel.ep == 1 or per_node is None or work.settings.word(f"{ROLLOUT}.name", DEGREES) != "vllm":
        return
    each = min(per_node.value, parallel.replica)
    if each % parallel.tp:
        message = (
            f"with expert parallel ranks the {with_noun(each, 'accelerator')} of a server must be a multiple of {work.said(amounts['tp'])}"
        )
        fitting = next_to(parallel.tp, divisors(each))
        work.tell(DEGREES, "rollout", message, amounts["tp"].span, work.set(amounts["tp"], *fitting), None, "", IN_SERVER)


def _split(work: Work, parallel: Parallel, amounts: dict[str, Amount]) -> None:
    """The pool of the reward model is cut by tensor parallel groups alone."""
    if parallel.replica > parallel.tp:
        message = (
            f"the pool of the reward model is cut into pieces of tp {parallel.tp}, but a replica needs {parallel.replica} ({parallel})"
        )
        degree = amounts["dp"] if parallel.dp > 1 else amounts["pp"]
        work.tell(
            DEGREES,
            "reward_model",
            message,
            degree.span,
            work.set(degree, 1),
            degree.becomes(1),
            "not counted",
            when_served(work, "reward_model", IN_SERVER),
        )
