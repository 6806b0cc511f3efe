"""Other machines: more of them, fewer, or without some that are named."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Sequence

from ...models.findings.finding import Finding, error
from ...models.findings.wording import are, with_noun
from ...models.machines.accelerators import accelerators
from ...models.machines.changed import with_nodes
from ...models.machines.cluster import Cluster
from ...models.machines.node import Node
from ...models.machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ...models.problem import Problem
from ...models.text.nearest import nearest
from ..replanning.lose import given_on, lose

_MORE = re.compile(r"\+?([0-9]{1,6})(?:x([0-9]{1,6}))?(?:x([A-Za-z0-9][A-Za-z0-9_.:-]{0,63}))?")
_FEWER = re.compile(r"-([0-9]{1,6})")


def with_machines(problem: Problem, text: str) -> Problem | Finding:
    """The question on other machines: ``+4`` nodes like the largest, ``4xH100`` like those, ``4x8xH100`` of this form, ``-2`` the last ones.

    A Finding where the text is none of these, or no node like that is there to be copied.
    """
    if match := _FEWER.fullmatch(text.strip()):
        count, size = int(match[1]), len(problem.cluster.nodes)
        if not 0 < count < size:
            return _unread(text, f"there {are(size)} {with_noun(size, 'node')}; at least one of them must be left")
        gone = range(size - count, size)
        return next(given_on(problem, gone), None) or lose(problem, gone)
    match = _MORE.fullmatch(text.strip())
    if not match or not 0 < int(match[1]) <= MAX_NODES - len(problem.cluster.nodes):
        return _unread(text, "write such as `+4x8xH100`, `4xH100`, `+2` or `-2`")
    sample = _sample(problem.cluster, int(match[2]) if match[2] else None, match[3] or "")
    if sample is None:
        return _unread(
            text, f"no node has {match[3] or 'accelerators'}; say how many each has, such as `{match[1]}x8x{match[3] or 'H100'}`"
        )
    return replace(problem, cluster=with_nodes(problem.cluster, sample, int(match[1])))


def without_named(problem: Problem, words: Sequence[str]) -> Problem | tuple[Finding, ...]:
    """The question without nodes that are named or numbered; Findings for those that do not exist."""
    numbers = {problem.cluster.name(rank): rank for rank in range(len(problem.cluster.nodes))}
    lost, findings = dict[int, None](), list[Finding]()
    for word in words:
        if word in numbers:
            lost[numbers[word]] = None
        elif word.isdecimal() and int(word) < len(numbers):
            lost[int(word)] = None
        else:
            close = nearest(word, numbers)
            advice = f"name `{close}`" if close else f"name one of them, such as `{next(iter(numbers), '')}`, or its rank"
            findings.append(error("PW609", "", f"`{word[:80]}` is no node of this cluster", help=advice))
    if len(lost) == len(numbers):
        findings.append(error("PW609", "", "nothing is left without these nodes", help="leave at least one node"))
    findings += given_on(problem, tuple(lost))
    return tuple(findings) or lose(problem, tuple(lost))


def _sample(cluster: Cluster, each: int | None, model: str) -> Node | None:
    """A node like the ones to add; its rank is that of the node whose groups they are to be in, -1 if there is none."""
    nodes = [alike.node for alike in cluster.alike if alike.node.accelerators]
    like = [node for node in nodes if not model or node.accelerator_model.lower() == model.lower()]
    largest = max(like, key=lambda node: len(node.accelerators), default=None)
    if largest is not None and (each is None or each == len(largest.accelerators)):
        return largest
    if each is None or not each <= MAX_ACCELERATORS_PER_NODE:
        return None
    if largest is not None:
        its = largest.accelerators[0]
        return replace(largest, accelerators=accelerators(each, f"{its.vendor}:{its.model}", its.memory))
    return Node(-1, "", accelerators(each, model or "GPU"))


def _unread(text: str, advice: str) -> Finding:
    return error("PW609", "", f"`{text[:80]}` does not say which machines", help=advice)
