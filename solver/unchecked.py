"""What the rules could not judge about an Assignment, and why."""

from __future__ import annotations

from typing import Iterator

from ..models.findings.finding import Unchecked
from ..models.machines.accelerators import GENERIC
from ..models.machines.node_group import ACCELERATOR
from ..models.model_cards.card import ModelCard
from ..models.model_cards.use import Split
from ..models.parallel import Parallel
from ..models.placements.assignment import Assignment, met
from ..models.problem import Problem


def unchecked(problem: Problem, assignment: Assignment) -> Iterator[Unchecked]:
    """Memory that nobody stated: of the processes, or of the accelerators that they are on. And CPUs and memory of nodes, where some is reserved."""
    silent, guessed = list[str](), list[str]()
    unknown, without_cpus, without_memory = [], [], []
    for component in problem.components:
        places = [(run.kind, node) for run, node, _ in met(problem.cluster, assignment.repeats(component.name))]
        if component.cpus and any(node.cpus is None for _, node in places):
            without_cpus.append(component.name)
        if component.host_memory and any(node.memory is None for _, node in places):
            without_memory.append(component.name)
        started = component.name not in problem.job.planning.not_started
        nodes = [node for kind, node in places if kind == ACCELERATOR and started]
        if nodes and not component.memory:
            (guessed if component.estimate else silent).append(component.name)
        elif any(node.accelerator_memory is None for node in nodes):
            unknown.append(component.name)
    if silent:
        yield Unchecked("PW501", ", ".join(silent), "no memory given")
    if guessed:
        yield from _estimates(problem, assignment, guessed)
    if unknown:
        yield Unchecked("PW501", ", ".join(unknown), "the memory of the accelerators is not known")
    if without_cpus:
        yield Unchecked("PW502", ", ".join(without_cpus), "the CPUs of the nodes are not known")
    if without_memory:
        yield Unchecked("PW503", ", ".join(without_memory), "the memory of the nodes is not known")
    yield from _models(problem)
    yield from _accelerators(problem)


def _accelerators(problem: Problem) -> Iterator[Unchecked]:
    """Models of accelerators of which nothing is known: often a typing error."""
    models = {
        each.node.accelerator_model for each in problem.cluster.alike if each.node.accelerators and each.node.accelerator_memory is None
    }
    for model in sorted(models - {GENERIC}):
        yield Unchecked("PW501", "", f"the accelerator model `{model}` is not known, so neither is its memory")


def _estimates(problem: Problem, assignment: Assignment, names: list[str]) -> Iterator[Unchecked]:
    """Memory that is estimated, or could not be; and what is not in an estimate, because nobody says what it follows from."""
    from ..models.memory.estimated import estimated

    known, unknown, left_out = list[str](), list[str](), dict[str, list[str]]()
    for name in names:
        component, use = problem[name], problem.job.models.get(name)
        found = estimated(component, use.card if use else None, component.parallel, assignment.amount(name))
        (unknown if found is None else known).append(name)
        model = f"`{component.estimate.model}` has" if component.estimate and component.estimate.model else "there are"
        missing = f"nobody says how many parameters {model}, by `parameters` or by a `model` that is known"
        for what in found.missing if found else (missing,):
            left_out.setdefault(what, []).append(name)
    if known:
        yield Unchecked("PW501", ", ".join(known), "the memory is only estimated")
    if unknown:
        yield Unchecked("PW501", ", ".join(unknown), "no memory given, and none could be estimated")
    for what, its in left_out.items():
        yield Unchecked("PW805", ", ".join(its), what)


def _models(problem: Problem) -> Iterator[Unchecked]:
    """Models of which nothing is known, where something is divided; and where experts are, those of which nobody says how many they are."""
    unknown: dict[str, list[str]] = {}
    for component in problem.components:
        use, parallel = problem.job.models.get(component.name), component.parallel
        if use is not None and use.card is None and any(split.of(parallel) > 1 for split in use.splits):
            why = f"nothing is known of the model `{use.path}`" if use.path else "the model is not named"
            passed = f"`{use.passed}` is that of others; write its numbers in its `estimate`, such as `{{heads: 32, kv_heads: 8}}`"
            advice = passed if use.passed else "name its `config.json` with `--model-config`"
            unknown.setdefault(f"{why}; {advice}", []).append(component.name)
        elif use is None and parallel.ep > 1:
            unknown.setdefault("nobody says how many experts there are; write them in its `estimate`, such as `{experts: 128}`", []).append(
                component.name
            )
        elif use is not None and use.card is not None and any(_are_unknown(split, use.card, parallel) for split in use.splits):
            unknown.setdefault(f"nobody says how many experts `{use.card.name}` has", []).append(component.name)
    for why, names in unknown.items():
        yield Unchecked("PW404", ", ".join(names), why)


def _are_unknown(split: Split, card: ModelCard, parallel: Parallel) -> bool:
    """Are experts divided of which nobody says how many they are?"""
    return split.what == "experts" and split.of(parallel) > 1 and not card.experts
