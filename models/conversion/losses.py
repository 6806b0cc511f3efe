"""What a conversion drops or says otherwise (PW605), and what it cannot do at all (PW606)."""

from __future__ import annotations

import re
from typing import Iterator

from ..component import IN_ORDER, KEYS, NOT_FEWER, SUBSET, Relation
from ..findings.finding import Finding, Severity, error, warning
from ..findings.wording import are
from ..problem import Problem
from ..text.tree import MapNode, Scalar, Value

LOSS, REFUSAL = "PW605", "PW606"
ENGINES = frozenset({"vllm", "sglang", "trtllm", "hf", "huggingface"})
"""Engines by the names that frameworks have for them."""
_DEGREE = re.compile(r"(ulysses\w*|\w*expert\w*|ep)_size")
"""Degrees of sequences and experts, which not every framework has, by their keys."""


def moved(subject: str, message: str, help: str = "") -> Finding:
    """A loss because of which something may be placed otherwise than before, or is not placed at all: a warning."""
    return warning(LOSS, subject, message, help=help)


def dropped(subject: str, message: str, help: str = "") -> Finding:
    """A loss that changes no place: a remark."""
    return Finding(LOSS, Severity.INFO, subject, message, help=help)


def refusal(subject: str, message: str, help: str = "") -> Finding:
    """A reason why there is no conversion."""
    return error(REFUSAL, subject, message, help=help)


def unsaid_demands(problem: Problem) -> Iterator[Finding]:
    """The demands on components that are left to solve which the new file does not make, as another framework makes them.

    Of given ranks they are true already.
    """
    hinted = {component.name for component in problem.hinted}
    for relation in problem.job.relations:
        if relation.kind not in KEYS and relation.reason and hinted.intersection(relation.components):
            message = f"that {_said(relation)}, as {relation.reason} demands, is not said any more"
            yield moved("+".join(relation.components), message)
    for share in problem.shares:
        if share.component in hinted:
            message = f"that the {share.said} of `{share.amount_name}` {are(share.amount)} dealt out evenly to `{share.component}`"
            yield moved(share.component, f"{message}, is not said any more")


def unsaid_times(problem: Problem) -> Iterator[Finding]:
    """What was measured of components, by which counts and degrees are chosen: no conversion carries it over."""
    timed = [component for component in problem.components if component.timed is not None]
    if timed:
        names = " and ".join(filter(None, (", ".join(f"`{each.name}`" for each in timed[:-1]), f"`{timed[-1].name}`")))
        message = f"the times of {names}, and what `plan` says of these, are not carried over"
        loss = moved if any(component.runs is None for component in timed) else dropped
        yield loss("", message, "add them to the new file, where counts and degrees are to be chosen by them")


def unsaid_settings(root: MapNode, problem: Problem, text: str) -> Iterator[Finding]:
    """Engines, and degrees of sequences and experts, that the file names and the new text has otherwise."""
    words, degrees = set(re.findall(r"\w+", text)), {size for each in problem.components for size in (each.parallel.cp, each.parallel.ep)}
    for path, value in _settings(root):
        is_degree = _DEGREE.fullmatch(path.rpartition(".")[2]) and type(value) is int and value > 1 and value not in degrees
        if is_degree or (value in ENGINES and value not in words and words & ENGINES):
            yield dropped("", f"`{path}` of {value} is not carried over", "set it in the new file, where the job needs it")


def _settings(value: Value, path: str = "") -> Iterator[tuple[str, object]]:
    """Path and value of every setting."""
    for entry in value if isinstance(value, MapNode) else ():
        yield from _settings(entry.value, f"{path}.{entry.key.text}".lstrip("."))
    if isinstance(value, Scalar):
        yield path, value.value


def _said(relation: Relation) -> str:
    names = [f"`{name}`" for name in relation.components]
    if relation.kind == NOT_FEWER:
        return f"{names[0]} has at least as many processes as {names[1]}"
    if relation.kind == SUBSET:
        return f"{names[0]} lies within {names[1]}"
    kind = "one after the other on the whole cluster" if relation.kind == IN_ORDER else relation.kind
    return f"{' and '.join(names)} are {kind}"
