"""What a job sends in every step, estimated from the sizes of its models where nobody says it.

Weights: after each step a trainer gives the whole model, in 16 bits, to what generates with it, or recomputes with it. Source: RLinf,
rlinf/workers/rollout (sync_model_from_actor); ROLL, roll/third_party/*/model_update.py; verl, verl/workers/sharding_manager.
Gradients: replicas of a trainer add up one gradient, in 16 bits, for each parameter. Source: Megatron-LM,
megatron/core/distributed/param_and_grad_buffer.py; PyTorch FSDP, reduce-scatter of gradients.
Nothing is estimated where adapters are trained, where the number of parameters is not known, or for models that no framework names, but the
estimate of a component's memory or the user for its degrees.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..component import Component
from ..derivation import Derivation, Figure
from ..job import Job
from ..link import Link
from ..model_cards.card import ModelCard
from ..model_cards.use import DEGREES, ESTIMATE
from ..reading import Reading
from ..roles import ACTOR, CRITIC, INFERENCE, ROLLOUT, STUDENT, role_of
from ..text.tree import ListNode, MapNode, Value, leaves

BYTES = 2
"""Of a weight or a gradient: bfloat16."""
GRADIENTS, WEIGHTS = "gradients per step (an estimate)", "weights per step (an estimate)"
GIVERS, TRAINED = (ACTOR, STUDENT), (ACTOR, STUDENT, CRITIC)
TAKERS = (ROLLOUT, INFERENCE)
_NOT_SET = ("", "0", "0.0", "null", "None", "none", "~", "false", "False")


def with_traffic(reading: Reading) -> Reading:
    """The reading with estimates in place of those that it has; what the user says stays as it is."""
    if reading.problem is None:
        return reading
    job = _without(reading.problem.job)
    kept = tuple(each for each in reading.derivations if not each.name.startswith((GRADIENTS, WEIGHTS)))
    cards = {name: use.card for name, use in job.models.items() if use.card and use.card.parameters and use.key not in (ESTIMATE, DEGREES)}
    if cards and not _adapters(reading.document.root):
        gradients = [c for c in job.components if c.name in cards and role_of(c) in TRAINED and not c.traffic]
        links = tuple(_links(job, cards))
        amounts = {c.name: mebibytes(cards[c.name]) for c in gradients}
        components = tuple(replace(c, traffic=amounts[c.name]) if c.name in amounts else c for c in job.components)
        job = replace(job, components=components, links=(*job.links, *links), estimated=tuple(amounts))
        kept += tuple(_told(job, name, GRADIENTS, cards[name]) for name in amounts)
        kept += tuple(_told(job, link.target, f"{WEIGHTS} from {link.source}", cards[link.target]) for link in links)
    return replace(reading, problem=replace(reading.problem, job=job), derivations=kept)


def mebibytes(card: ModelCard) -> int:
    """MiB of all weights of a model, rounded up."""
    return -(-BYTES * card.parameters // (1 << 20))


def _without(job: Job) -> Job:
    """The job without estimates."""
    if not job.estimated and not any(link.estimate for link in job.links):
        return job
    components = tuple(replace(c, traffic=0) if c.name in job.estimated else c for c in job.components)
    return replace(job, components=components, links=tuple(link for link in job.links if not link.estimate), estimated=())


def _links(job: Job, cards: dict[str, ModelCard]) -> Iterator[Link]:
    """From each trainer to each that runs its model, but where the user links them."""
    said = {(link.source, link.target) for link in job.links}
    for source in _with_roles(job, GIVERS):
        for target in _with_roles(job, TAKERS):
            card, other = cards.get(source.name), cards.get(target.name)
            if card is not None and card == other and (source.name, target.name) not in said:
                yield Link(source.name, target.name, mebibytes(card), estimate=_formula(card))


def _with_roles(job: Job, roles: tuple[str, ...]) -> Iterator[Component]:
    return (component for component in job.components if role_of(component) in roles)


def _formula(card: ModelCard) -> str:
    assumed = ", as its name says" if card.assumed else ""
    return f"{BYTES} bytes x {card.parameters:,} parameters of {card.name}{assumed}"


def _told(job: Job, name: str, what: str, card: ModelCard) -> Derivation:
    use = job.models[name]
    figures = (Figure(use.key, use.path, use.span),) if use.span else ()
    return Derivation(name, what, f"{mebibytes(card):,} MiB", _formula(card), figures)


def _adapters(value: Value) -> bool:
    """Is any key about LoRA set? Then the adapters alone may be sent."""
    if isinstance(value, ListNode):
        return any(map(_adapters, value.items))
    if not isinstance(value, MapNode):
        return False
    return any(("lora" in e.key.text.lower() and _is_set(e.value)) or _adapters(e.value) for e in value)


def _is_set(value: Value) -> bool:
    return any(leaf.text not in _NOT_SET for leaf in leaves(value))
