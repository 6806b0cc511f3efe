"""Models of a job: named, described or known; and the traffic that follows from them.

Weights: after each step a trainer sends the whole model, in 16 bits, to components that generate or
recompute with it. Source: RLinf, rlinf/workers/rollout (sync_model_from_actor); ROLL,
roll/third_party/*/model_update.py; verl, verl/workers/sharding_manager.
Gradients: replicas of a trainer add up one gradient, in 16 bits, for each parameter. Source:
Megatron-LM, megatron/core/distributed/param_and_grad_buffer.py; PyTorch FSDP, reduce-scatter of
gradients.
There is no estimate for adapters, for an unknown number of parameters, or for models that no
framework names; a model of a memory estimate or of degrees does not count as named.
"""

from __future__ import annotations

from functools import partial
from typing import Callable, Iterator, Mapping, Sequence

from .component import Component
from .derivation import Derivation, Figure
from .findings.finding import Finding, Severity, error
from .hints.block import model_of_block
from .job import Job, Link
from .machines.cluster import Cluster
from .model_cards.card import ModelCard
from .model_cards.lengths import length_findings
from .model_cards.use import DEGREES, ESTIMATE, ModelUse
from .problem import Problem
from .reading import FileSession, RankOpener, Reading
from .record import dataclass, replace
from .releases.release import Release
from .roles import ACTOR, CRITIC, INFERENCE, REFERENCE, ROLLOUT, STUDENT, role_of
from .text.tree import ListNode, MapNode, Value, leaves

CODE = "PW404"
BYTES = 2
"""Bytes of a weight or a gradient: bfloat16."""
GRADIENTS, WEIGHTS = "gradients per step (an estimate)", "weights per step (an estimate)"
GIVERS, TRAINED = (ACTOR, STUDENT), (ACTOR, STUDENT, CRITIC)
TAKERS = (ROLLOUT, INFERENCE)
_NOT_SET = ("", "0", "0.0", "null", "None", "none", "~", "false", "False")
NATIVE = "native"
POLICY = (ACTOR, ROLLOUT, INFERENCE, REFERENCE, STUDENT)
"""Roles that run the trained model; others may run another model."""


def model_path(paths: Sequence[str]) -> str | None:
    """Return the first unknown model of `paths`, else the first. "" if a name is missing."""
    from .model_cards.known import known_model

    if not paths or not all(paths):
        return "" if paths else None
    return next((path for path in paths if known_model(path) is None), paths[0])


def foreign_model_notes(problem: Problem, models: Mapping[str, ModelUse], policy_card: ModelCard) -> Iterator[Finding]:
    """Yield notes about components with a model other than the named model."""
    components_asking = [component for component in problem.components if _asks(problem, component, models)]
    if not components_asking:
        yield unused_model_note(policy_card)
    for component in components_asking:
        name, use, role = component.name, models[component.name], role_of(component)
        if use.passed:
            why = f"it names `{use.path}`" if use.path else f"its role is {role}" if role else "nothing says that it runs the policy"
            advice = "" if use.card else "write its numbers in its `estimate`, such as `{heads: 32, kv_heads: 8, layers: 32}`"
            message = f"the model of `{policy_card.name}` is not taken for `{name}`: {why}"
            span = use.span or component.span(ESTIMATE if component.estimate else DEGREES)
            yield Finding(CODE, Severity.NOTE, name, message, span, help=advice)


def unused_model_note(policy_card: ModelCard) -> Finding:
    """Return the note for a named model that no component uses."""
    message = (
        f"the model of `{policy_card.name}` is taken for no component: none has an estimate of its memory, nor degrees that divide a model"
    )
    return Finding(CODE, Severity.NOTE, "", message)


def _asks(problem: Problem, component: Component, models: Mapping[str, ModelUse]) -> bool:
    """Return True if a model matters to the component: for an estimate or for degrees."""
    use, degrees = models.get(component.name), problem.job.choices.get(component.name, (component.parallel,))
    if use is None:
        return False
    return component.estimate is not None or any(split.of(parallel) > 1 for parallel in degrees for split in use.splits)


def with_traffic(reading: Reading) -> Reading:
    """Return the reading with renewed traffic estimates; user amounts stay."""
    if reading.problem is None:
        return reading
    job = _without(reading.problem.job)
    derivations = tuple(derivation for derivation in reading.derivations if not derivation.name.startswith((GRADIENTS, WEIGHTS)))
    cards = {name: use.card for name, use in job.models.items() if use.card and use.card.parameters and use.key not in (ESTIMATE, DEGREES)}
    if cards and not _has_lora_keys(reading.document.root):
        gradients = [c for c in job.components if c.name in cards and role_of(c) in TRAINED and not c.traffic]
        links = tuple(_links(job, cards))
        amounts = {c.name: mebibytes(cards[c.name]) for c in gradients}
        components = tuple(replace(c, traffic=amounts[c.name]) if c.name in amounts else c for c in job.components)
        job = replace(job, components=components, links=(*job.links, *links), estimated=tuple(amounts))
        derivations += tuple(_traffic_derivation(job, name, GRADIENTS, cards[name]) for name in amounts)
        derivations += tuple(_traffic_derivation(job, link.target, f"{WEIGHTS} from {link.source}", cards[link.target]) for link in links)
    return replace(reading, problem=replace(reading.problem, job=job), derivations=derivations)


def mebibytes(card: ModelCard) -> int:
    """Return the MiB of all weights of a model, rounded up."""
    return -(-BYTES * card.parameters // (1 << 20))


def _without(job: Job) -> Job:
    if not job.estimated and not any(link.estimate for link in job.links):
        return job
    components = tuple(replace(c, traffic=0) if c.name in job.estimated else c for c in job.components)
    return replace(job, components=components, links=tuple(link for link in job.links if not link.estimate), estimated=())


def _links(job: Job, cards: dict[str, ModelCard]) -> Iterator[Link]:
    """Yield links from trainers to users of the same model, except for user links."""
    pairs_linked = {(link.source, link.target) for link in job.links}
    for source in _with_roles(job, GIVERS):
        for target in _with_roles(job, TAKERS):
            card, other_card = cards.get(source.name), cards.get(target.name)
            if card is not None and card == other_card and (source.name, target.name) not in pairs_linked:
                yield Link(source.name, target.name, mebibytes(card), estimate=_formula(card))


def _with_roles(job: Job, roles: tuple[str, ...]) -> Iterator[Component]:
    return (component for component in job.components if role_of(component) in roles)


def _formula(card: ModelCard) -> str:
    remark = ", as its name says" if card.assumed else ""
    return f"{BYTES} bytes x {card.parameters:,} parameters of {card.name}{remark}"


def _traffic_derivation(job: Job, name: str, kind: str, card: ModelCard) -> Derivation:
    use = job.models[name]
    figures = (Figure(use.key, use.path, use.span),) if use.span else ()
    return Derivation(name, kind, f"{mebibytes(card):,} MiB", _formula(card), figures)


def _has_lora_keys(value: Value) -> bool:
    """Return True if a LoRA key is set: then only adapters may be sent."""
    if isinstance(value, ListNode):
        return any(map(_has_lora_keys, value.items))
    if not isinstance(value, MapNode):
        return False
    return any(("lora" in e.key.text.lower() and _is_set(e.value)) or _has_lora_keys(e.value) for e in value)


def _is_set(value: Value) -> bool:
    return any(leaf.text not in _NOT_SET for leaf in leaves(value))


def with_models(reading: Reading, policy_card: ModelCard | None = None) -> Reading:
    """Return the reading with model cards and the estimates that follow from them.

    `policy_card` is the user's model and has priority. The named model and the model that the file
    describes are the policy. Components use it if they name the same model as the first component
    that runs the policy, or run the policy and name none: the reference may be a teacher. In a
    native file `policy_card` also applies to components without a role, and is divided by the degrees of
    those without an estimate. A note lists the components that it does not apply to.
    """
    if policy_card is not None or reading.session.opening is not None:
        reading = replace(reading, session=_add_cards(reading.session, policy_card))
    problem = reading.problem
    if problem is None:
        return reading
    if any(component.estimate for component in problem.components):
        from .memory.estimate import with_estimates

        problem = replace(problem, job=with_estimates(problem.job, reading.dialect == NATIVE))
    if policy_card and reading.dialect == NATIVE:
        from .memory.estimate import with_degrees

        problem = replace(problem, job=with_degrees(problem.job))
    if not problem.job.models:
        return replace(reading, findings=(*reading.findings, unused_model_note(policy_card))) if policy_card else reading
    findings: list[Finding] = [*_idle_shards(problem)]
    card_of_policy = policy_card or model_of_block(reading.document.root, findings)
    new_findings = [finding for finding in findings if finding not in reading.findings]
    roles = {component.name: role_of(component) for component in problem.components}
    paths = [use.path for name, use in problem.job.models.items() if roles.get(name) in POLICY]
    policy = paths[0] if paths else None
    models, is_native = {}, policy_card is not None and reading.dialect == NATIVE
    if is_native and policy is None:
        policy = model_path([use.path for name, use in problem.job.models.items() if roles.get(name) == ""])
    for name, use in problem.job.models.items():
        is_policy = use.path == policy if use.path else roles.get(name) in POLICY or (is_native and roles.get(name) == "")
        # An estimate without a model is about the policy if the component's role runs the policy.
        path = use.path or (next(filter(None, paths), "") if is_policy and use.key == ESTIMATE else "")
        card = card_of_policy if card_of_policy and is_policy else _find_card(path)
        models[name] = replace(use, card=_overridden(problem, name, card), passed=policy_card.name if policy_card and not is_policy else "")
    if policy_card:
        new_findings += [finding for finding in foreign_model_notes(problem, models, policy_card) if finding not in reading.findings]
    by_name = {component.name: component for component in problem.components}
    new_findings += [finding for finding in map(reading.judge, length_findings(models, by_name)) if finding not in reading.findings]
    job = replace(problem.job, models=models)
    return with_traffic(replace(reading, problem=replace(problem, job=job), findings=(*reading.findings, *new_findings)))


@dataclass(frozen=True)
class _OpeningWithModels:
    """Opening with model cards in the readings."""

    opening: RankOpener
    named: ModelCard | None

    def open_ranks(self) -> Reading:
        """See `RankOpener.open_ranks`."""
        return with_models(self.opening.open_ranks(), self.named)

    def find_refusals(self) -> tuple[Finding, ...]:
        """See `RankOpener.find_refusals`."""
        return self.opening.find_refusals()


def _read_for(read: Callable[[Release], Reading], policy_card: ModelCard | None, release: Release) -> Reading:
    return with_models(read(release), policy_card)


def _add_cards(session: FileSession, policy_card: ModelCard | None) -> FileSession:
    """Return the session with model cards in the readings."""
    opening, as_before, for_release = session.opening, session.as_before, session.for_release

    def read(text: str, machines: Cluster | None = None, /) -> Reading:
        return with_models(session.read(text, machines), policy_card)

    return replace(
        session,
        opening=_OpeningWithModels(opening, policy_card) if opening is not None else None,
        as_before=read if as_before is not None and policy_card is not None else as_before,
        for_release=partial(_read_for, for_release, policy_card) if for_release is not None and policy_card is not None else for_release,
    )


def _idle_shards(problem: Problem) -> Iterator[Finding]:
    """Yield an error for `shards` without a sharding from the estimate or the framework."""
    for component in problem.components:
        estimate = component.estimate
        if estimate and estimate.shards and not estimate.divided_among and "sharding" not in estimate.written:
            message = f"`shards: {estimate.shards}` of `{component.name}` divides nothing: `sharding` is unset"
            advice = "write `sharding: fsdp` too, or another that divides, or leave `shards` out"
            yield error("PW121", component.name, message, component.span("shards"), help=advice)


def _find_card(path: str) -> ModelCard | None:
    if not path:
        return None
    from .model_cards.known import known_model

    return known_model(path)


def _overridden(problem: Problem, name: str, card: ModelCard | None) -> ModelCard | None:
    """Return the card, overridden by the component's estimate."""
    component = next((candidate for candidate in problem.components if candidate.name == name and candidate.estimate), None)
    if component is None:
        return card
    from .memory.estimate import with_estimate_numbers

    return with_estimate_numbers(component, card)
