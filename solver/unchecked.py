"""Unknown facts of a file, and the checks skipped as a consequence."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Iterable, Iterator

from ..models.findings.codes import topic_of
from ..models.findings.finding import Finding, Missing, Severity, Unchecked
from ..models.machines.node import GENERIC
from ..models.machines.node_group import ACCELERATOR
from ..models.machines.shorthand import shorten
from ..models.model_cards.card import ModelCard
from ..models.model_cards.use import Split
from ..models.parallel import Parallel
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.text.environment import NO_VENDOR

if TYPE_CHECKING:
    from ..models.reading import Reading

NAME_MACHINES = "Pass `--cluster x8`"
_WHOLE = ("PW010", "PW120", "PW122")
"""Rules whose reason stands alone: about a file, a program or a variable."""
NO_ROOM = "PW215"
_KEY = re.compile("Pass `--set ([^`=]+)=VALUE`")
_PLAIN = re.compile("[0-9]+x[0-9]+")
_VARIABLE = re.compile(r"`(\w+)` is not set in the script|\$\{oc\.env:\s*(\w+)")
_LINK = re.compile(r"\$\{(?:oc\.select:\s*)?([a-z_][\w.]*)(?:,[^${}]*)?\}")
_ROOT = re.compile("`--config-root [^`]+`")
_OPTIONS = ("--dialect", "-m ", "--framework", "--config-root", "--set", "--allow-env", "--cluster")
"""Options in order of urgency: kind of file, parts and values, then machines."""


def missing_in(reading: Reading, items: Iterable[Unchecked]) -> tuple[Missing, ...]:
    """Return the unknown facts that prevent a check of the placement, most urgent first.

    Empty for a file with errors alone.
    """
    missing_facts = [
        _cause_of(item, reading) or Missing(item.why if item.rule in _WHOLE else f"{topic_of(item.rule)} not checked: {item.why}", item.add)
        for item in items
        if item.decides
    ]
    problem = reading.problem
    if problem is None:
        if not reading.failed and not missing_facts:
            missing_facts.append(Missing("placement not checked: no component could be read", "Write what is placed in this file"))
    elif not problem.cluster.counted:
        has_ranks = any(problem.kind(component) == ACCELERATOR for component in problem.components)
        if has_ranks and not any("--cluster" in missing.add for missing in missing_facts):
            missing_facts.append(Missing("ranks not checked: accelerators per node unknown", NAME_MACHINES))
    elif (
        not problem.components and not missing_facts and not reading.failed and reading.dialect != "verl"
    ):  # verl has programs that run on CPUs alone
        missing_facts.append(Missing("placement not checked: no component is placed", "Write what is placed in this file"))
    return tuple(dict.fromkeys(sorted((_with_folder(missing, reading) for missing in missing_facts), key=_urgency)))


def _cause_of(item: Unchecked, reading: Reading) -> Missing | None:
    """Return the variable or the machines that decide a key; None for others."""
    from ..models.text.tree import Scalar, find  # a search loads no YAML

    key = _KEY.search(item.add)
    value = find(reading.document.root, key[1]) if key else None
    if isinstance(value, Scalar) and (link := _LINK.fullmatch(value.text)):  # its value is that of another key
        value = find(reading.document.root, link[1])
    if key is None or not isinstance(value, Scalar):
        return None
    reason = reading.document.reasons.get(value.span, "")
    if NO_VENDOR in reason:
        machines = machines_of(reading)
        cluster = f"Pass `--cluster {machines}xH100`" if _PLAIN.fullmatch(machines) else "Name it, such as `--cluster 2x8xH100`"
        return Missing(f"settings are not known: {NO_VENDOR}", cluster)
    name = next(filter(None, (match[match.lastindex or 0] for match in _VARIABLE.finditer(f"{reason} {value.text}"))), "")
    fact = f"`{key[1]}` is not known: the environment variable `{name}` is not read"
    return Missing(fact, f"{item.add}, or set `{name}` and pass `--allow-env {name}`") if name else None


def doubts_of(reading: Reading, findings: Iterable[Finding]) -> Iterator[Unchecked]:
    """Yield that the code beside the file differs; decisive if the release refuses the file."""
    choice = reading.document.release
    if choice is not None and choice.differs:
        decides = any(choice.doubt in finding.notes for finding in findings)
        reason = f"the {choice.reason} {choice.differs} than {choice.release}"
        yield Unchecked(
            "PW122", "", reason, decides, f"Pass `--framework {reading.dialect}=={choice.release.name}` to judge it as that release"
        )


def _with_folder(missing: Missing, reading: Reading) -> Missing:
    """Insert the folder named by a finding of the file."""
    if "--config-root DIR" not in missing.add:
        return missing
    folder = next((match[0] for finding in reading.findings if (match := _ROOT.search(finding.help))), None)
    return replace(missing, add=f"Pass {folder}") if folder else missing


def _urgency(missing: Missing) -> int:
    return next((rank for rank, option in enumerate(_OPTIONS) if option in missing.add), 1)


def machines_of(reading: Reading) -> str:
    """Return the file's machines in one word; "" if assumed or unknown."""
    problem = reading.problem
    # A file that does not fit these machines is judged on others.
    if reading.machines is not None and reading.failed:
        return shorten(reading.machines)
    if any(finding.code == NO_ROOM and finding.severity is Severity.ERROR for finding in reading.findings):
        return ""  # a file that does not fit is judged on assumed machines
    if problem is None or not problem.cluster.counted or not problem.cluster.nodes:
        return ""
    return "" if any(item.decides and "--cluster" in item.add for item in reading.unchecked) else shorten(problem.cluster)


def list_unchecked(problem: Problem, assignment: Assignment) -> Iterator[Unchecked]:
    """Yield unknown memory of processes or accelerators.

    Also unknown CPUs and memory of nodes, if components reserve some.
    """
    silent, estimates = list[str](), list[str]()
    unknown, without_cpus, without_memory = [], [], []
    for component in problem.components:
        repeats = assignment.repeats(component.name)
        places = [
            (repeat.runs[0].kind, stretch.node) for repeat in repeats for stretch, _ in problem.cluster.alike_among(repeat.node_ranks)
        ]
        if component.cpus and any(node.cpus is None for _, node in places):
            without_cpus.append(component.name)
        if component.host_memory and any(node.memory is None for _, node in places):
            without_memory.append(component.name)
        is_started = component.name not in problem.job.planning.not_started
        nodes = [node for kind, node in places if kind == ACCELERATOR and is_started]
        if nodes and not component.memory:
            (estimates if component.estimate else silent).append(component.name)
        elif any(node.accelerator_memory is None for node in nodes):
            unknown.append(component.name)
    if silent:
        yield Unchecked("PW501", ", ".join(silent), "no memory given")
    if estimates:
        yield from _estimates(problem, assignment, estimates)
    if unknown:
        yield Unchecked("PW501", ", ".join(unknown), "the memory of the accelerators is not known")
    if without_cpus:
        yield Unchecked("PW502", ", ".join(without_cpus), "the CPUs of the nodes are not known")
    if without_memory:
        yield Unchecked("PW503", ", ".join(without_memory), "the memory of the nodes is not known")
    yield from _models(problem)
    yield from _accelerators(problem)


def _accelerators(problem: Problem) -> Iterator[Unchecked]:
    """Yield unknown accelerator models: often a misspelling."""
    models = {
        stretch.node.accelerator_model
        for stretch in problem.cluster.alike
        if stretch.node.accelerators and stretch.node.accelerator_memory is None
    }
    for model in sorted(models - {GENERIC}):
        yield Unchecked("PW501", "", f"the accelerator model `{model}` is not known; a cluster file may state its memory")


def _estimates(problem: Problem, assignment: Assignment, names: list[str]) -> Iterator[Unchecked]:
    """Yield estimated or unknown memory, and estimates' missing terms with the reason."""
    from ..models.memory.estimate import estimate_memory

    estimates, unknown, left_out = list[str](), list[str](), dict[str, list[str]]()
    for name in names:
        component, use = problem[name], problem.job.models.get(name)
        estimate = estimate_memory(component, use.card if use else None, component.parallel, assignment.amount(name))
        (unknown if estimate is None else estimates).append(name)
        model = f" of `{component.estimate.model}`" if component.estimate and component.estimate.model else ""
        missing = f"the number of parameters{model} is unknown: write `parameters`, or a known `model`"
        for term in estimate.missing if estimate else (missing,):
            left_out.setdefault(term, []).append(name)
    if estimates:
        yield Unchecked("PW501", ", ".join(estimates), "the memory is only estimated")
    if unknown:
        yield Unchecked("PW501", ", ".join(unknown), "no memory given, and none could be estimated")
    for term, components in left_out.items():
        yield Unchecked("PW805", ", ".join(components), term)


def _models(problem: Problem) -> Iterator[Unchecked]:
    """Yield unknown models of divided components, and unknown numbers of experts."""
    unknown: dict[str, list[str]] = {}
    for component in problem.components:
        use, parallel = problem.job.models.get(component.name), component.parallel
        if use is not None and use.card is None and any(split.of(parallel) > 1 for split in use.splits):
            reason = f"the model `{use.path}` is unknown" if use.path else "the model is not named"
            help_text = f"`{use.passed}` is for other components: write the numbers in the `estimate`, such as `{{heads: 32, kv_heads: 8}}`"
            advice = help_text if use.passed else "name its `config.json` with `--model-config`"
            unknown.setdefault(f"{reason}; {advice}", []).append(component.name)
        elif use is None and parallel.ep > 1:
            unknown.setdefault("the number of experts is unknown: write it in the `estimate`, such as `{experts: 128}`", []).append(
                component.name
            )
        elif use is not None and use.card is not None and any(_are_unknown(split, use.card, parallel) for split in use.splits):
            unknown.setdefault(f"the number of experts of `{use.card.name}` is unknown", []).append(component.name)
    for reason, names in unknown.items():
        yield Unchecked("PW404", ", ".join(names), reason)


def _are_unknown(split: Split, card: ModelCard, parallel: Parallel) -> bool:
    """Return True if an unknown number of experts is divided."""
    return split.card_field == "experts" and not split.refused and split.of(parallel) > 1 and not card.experts and not card.dense
