"""What is known of the models of a job: named by the user, described in the file, or of a known id."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..findings.finding import Finding, error
from ..model_cards.card import ModelCard
from ..model_cards.of_block import model_of_block
from ..model_cards.use import ESTIMATE
from ..problem import Problem
from ..reading import Reading
from ..roles import ACTOR, INFERENCE, REFERENCE, ROLLOUT, STUDENT, role_of
from .named import nowhere, passed_over, path_of
from .traffic import with_traffic

NATIVE = "native"
POLICY = (ACTOR, ROLLOUT, INFERENCE, REFERENCE, STUDENT)
"""What runs the model that is trained; the others may run another one."""


def with_models(reading: Reading, named: ModelCard | None = None) -> Reading:
    """The reading with the cards of its models, and what these let estimate. `named` is the one that the user names; it goes first.

    It and the one that the file describes are the policy. Components have it that name the same model as the first that runs
    the policy, and those that run the policy and name none: the reference may be a teacher. In a native file `named` is also that of
    components without a role, and it is divided by the degrees of those without an estimate (see named.py). Which it is not of is said.
    """
    if (again := reading.anew) is not None:
        reading = replace(reading, anew=lambda: with_models(again(), named))
    if named is not None and (other := reading.again) is not None:
        reading = replace(reading, again=lambda text, machines: with_models(other(text, machines), named))
    problem = reading.problem
    if problem is None:
        return reading
    if any(component.estimate for component in problem.components):
        from ..memory.of_job import with_estimates

        problem = replace(problem, job=with_estimates(problem.job, reading.dialect == NATIVE))
    if named and reading.dialect == NATIVE:
        from ..memory.of_job import with_degrees

        problem = replace(problem, job=with_degrees(problem.job))
    if not problem.job.models:
        return replace(reading, findings=(*reading.findings, nowhere(named))) if named else reading
    findings: list[Finding] = [*_idle_shards(problem)]
    described = named or model_of_block(reading.document.root, findings)
    told = [finding for finding in findings if finding not in reading.findings]
    roles = {component.name: role_of(component) for component in problem.components}
    paths = [use.path for name, use in problem.job.models.items() if roles.get(name) in POLICY]
    policy = paths[0] if paths else None
    models, without = {}, named is not None and reading.dialect == NATIVE
    if without and policy is None:
        policy = path_of([use.path for name, use in problem.job.models.items() if roles.get(name) == ""])
    for name, use in problem.job.models.items():
        own = use.path == policy if use.path else roles.get(name) in POLICY or (without and roles.get(name) == "")
        # What an estimate is about and names no model is the policy, if by its role it runs that.
        path = use.path or (next(filter(None, paths), "") if own and use.key == ESTIMATE else "")
        card = described if described and own else _known(path)
        models[name] = replace(use, card=_told(problem, name, card), passed=named.name if named and not own else "")
    if named:
        told += [finding for finding in passed_over(problem, models, named) if finding not in reading.findings]
    job = replace(problem.job, models=models)
    return with_traffic(replace(reading, problem=replace(problem, job=job), findings=(*reading.findings, *told)))


def _idle_shards(problem: Problem) -> Iterator[Finding]:
    """Shards of which nobody says what is divided among them: neither the estimate nor the framework."""
    for component in problem.components:
        estimate = component.estimate
        if estimate and estimate.shards and not estimate.divided_among and "sharding" not in estimate.written:
            message = f"`shards: {estimate.shards}` of `{component.name}` divides nothing: nobody says its `sharding`"
            advice = "write `sharding: fsdp` too, or another that divides, or leave `shards` out"
            yield error("PW121", component.name, message, component.span("shards"), help=advice)


def _known(path: str) -> ModelCard | None:
    if not path:
        return None
    from ..model_cards.known import known_model

    return known_model(path)


def _told(problem: Problem, name: str, card: ModelCard | None) -> ModelCard | None:
    """The card, with what the component's estimate says itself."""
    component = next((each for each in problem.components if each.name == name and each.estimate), None)
    if component is None:
        return card
    from ..memory.of_job import told

    return told(component, card)
