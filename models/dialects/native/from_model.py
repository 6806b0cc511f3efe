"""Native file of a job that is known by its model, cluster and algorithm alone."""

from __future__ import annotations

from dataclasses import replace

from ...estimate import DISTRIBUTED, MemoryInput
from ...findings.finding import UnusableInput, error
from ...machines.cluster import Cluster
from ...machines.cluster_file import cluster_to_short_data
from ...machines.node import Nodes, numbered_nodes
from ...memory.work import shape_of
from ...model_cards.card import NUMBERS, ModelCard
from ...model_cards.known import KNOWN, known_model
from ...parallel import DEGREES, Parallel
from ...text.edit import to_yaml
from ...text.nearest import nearest
from ...training_job import ANY_FILE, FileLimits
from ..written import Data
from .job_sizes import JobRequest, JobSizes, divisors

_MOST_DOUBLED = 10
_COMMENT = """Times and memory are estimates; `seconds` and `memory` that you write count
# before them. Each component may have any of the counts and parallel sizes; who shares is open.
"""


def native_file(request: JobRequest, cluster: Cluster, limits: FileLimits = ANY_FILE) -> str:
    """Return the text of the file. Raises UnusableInput for an unknown model or no accelerators.

    `limits`: what the framework can say that the plan is for.
    """
    sizes = JobSizes(request, card_of_request(request), cluster, limits)
    if not sizes.total:
        raise UnusableInput([error("PW101", "", "the cluster has no accelerators", help="name it like `--cluster 2x8xH100`")])
    run, split = sizes.trained
    solid: Data = {"contiguous": True} if limits.solid and sizes.near & (sizes.near - 1) else {}
    colocation: Data = {"colocate_with": "rollout"} if limits.one_pool else {}
    model = _model(request, sizes.card)
    most = sizes.parallel("actor", run, split).tp if limits.actor_leads and run.sharding == DISTRIBUTED else sizes.near
    components: Data = {"rollout": {**solid, **_engine(sizes, model, most)}}
    training: Data = {"sequence": run.sequence, "sharding": run.sharding, "micro_batch": run.micro_batch}
    training |= {"expert_tp": run.expert_tp} if run.expert_tp else {}
    for name in request.beside_rollout:
        parallel = sizes.parallel("actor" if limits.one_pool else name, run, split)
        degrees = {degree: size for degree in DEGREES if (size := getattr(parallel, degree)) > 1}
        components[name] = {
            "accelerators": _counts(sizes, run, parallel), **solid, **({"parallel": degrees} if degrees else {}),
            "estimate": {**model, **training, **({} if name == "reference" else {"optimizer": "adam"}), "offload": True}, **colocation,
        }  # fmt: skip
    chain = " => ".join(name for name in components if name != "critic")
    batch = {name: getattr(request, name) for name in ("prompts", "samples", "prompt", "response", "mean_response")}
    plan: Data = {"workflow": [chain, "rollout => critic"] if "critic" in components else chain}
    plan["batch"] = {name: amount for name, amount in batch.items() if amount}
    return f"# {request.algorithm.upper()} of {request.model}. {_COMMENT}" + to_yaml(
        {"cluster": cluster_to_short_data(cluster), "components": components, "plan": plan}
    )


def card_of_request(request: JobRequest) -> ModelCard:
    """Return the numbers of the model. Raises UnusableInput if it is not known."""
    card = request.card or known_model(request.model)
    if card is None:
        suggestion = nearest(request.model, KNOWN)
        advice = (
            f"name `{suggestion}`, if that is meant; or " if suggestion else ""
        ) + "pass its `config.json` as `--model`: its layers, width, heads, experts and vocabulary decide"
        raise UnusableInput([error("PW121", "", f"the model `{request.model}` is not known", help=advice)])
    return card


def _model(request: JobRequest, card: ModelCard) -> Data:
    """Return the keys of an estimate that say the model: its id, or its numbers."""
    if request.card is None:
        return {"model": request.model}
    full_card = replace(card, parameters=shape_of(MemoryInput(), card).total)
    return {name: value for name in NUMBERS if name != "tied" and (value := getattr(full_card, name))}


def _counts(sizes: JobSizes, run: MemoryInput, parallel: Parallel) -> list[int]:
    """Return the counts that the sequences divide; all if these are under half."""
    counts = sizes.counts(max(parallel.replica, parallel.pp * parallel.ep * (run.expert_tp or parallel.tp)))
    even = [count for count in counts if sizes.request.sequences % (count // parallel.replica * run.micro_batch) == 0]
    whole = even if even and 2 * even[-1] >= sizes.total else counts
    return [count for count in whole if count % parallel.replica == 0] or counts


def _engine(sizes: JobSizes, model: Data, most: int) -> Data:
    """Return the hints of the rollout, its tp at most `most` if that fits.

    Raises UnusableInput (PW606) if no node holds an engine, and the framework has none over nodes.
    """
    fitting, utilization = sizes.engines
    if not fitting and not sizes.limits.over_nodes:
        message = f"no node holds an engine of `{sizes.request.model}`, and engines of this framework do not span nodes"
        raise UnusableInput([error("PW606", "rollout", message, help="use larger nodes, or a framework whose engines do: verl, roll")])
    fitting = fitting or [Parallel(tp=divisors(sizes.card.heads, sizes.near)[-1])]
    fitting = [size for size in fitting if size.tp <= most] or fitting
    fitting = [size for size in fitting if sizes.total % size.replica == 0] or fitting
    degrees = {name: sorted({getattr(size, name) for size in fitting}) for name in DEGREES}
    several = {name: values if len(values) > 1 else values[0] for name, values in degrees.items() if values != [1]}
    estimate = {**model, "sequence": sizes.request.sequence, "utilization": utilization, "offload": True}
    return {
        "accelerators": sizes.counts(max(size.replica for size in fitting)),
        "parallel": {**several, "tp": degrees["tp"]},
        "estimate": estimate,
    }


def enough_nodes(request: JobRequest, cluster: Cluster, limits: FileLimits = ANY_FILE) -> int | None:
    """Return a power of two of nodes that about suffice; None if none do."""
    if all(stretch.node.accelerator_memory is None for stretch in cluster.alike):
        return None
    card, numbers = card_of_request(request), (1 << power for power in range(_MOST_DOUBLED))
    return next((nodes for nodes in numbers if JobSizes(request, card, add_nodes(cluster, nodes), limits).nearly_fits), None)


def add_nodes(cluster: Cluster, nodes: int) -> Cluster:
    """Return so many nodes like the first with accelerators."""
    first = next(stretch.node for stretch in cluster.alike if stretch.node.accelerators)
    return Cluster(Nodes([numbered_nodes(replace(first, rank=0), nodes)]))
