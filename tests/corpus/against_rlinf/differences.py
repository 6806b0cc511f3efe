"""Where placewright differs from RLinf on purpose, with the reasons: the only table of them."""

from __future__ import annotations

import json
from typing import Callable

from placewright.models.findings.finding import Severity

from .comparison import Answers, Placed

REASONS = {
    "number-not-text": "a node placement's local accelerator is the number 0, not the text",
    "off-by-one": "a process that reaches beyond its node is refused, not given a missing accelerator",
    "nameless": "a component without a name (`actor,:`) is warned of and left out",
    "auto-share": "in auto mode a component has its share at the start, not all that RLinf may move to it",
    "kept-group": "the node group of a component is kept in model parallel modes, with a warning",
    "env-robots": "robots beyond the file's are a warning: variables of a node without any may add some",
    "listed-ranks": "a YAML list of node ranks is what the documentation promises",
    "listed-groups": "a YAML list of node groups is what the documentation promises",
    "degree": "a degree that is not a whole number from 1 is refused, though the placement class of RLinf does not look at each",
    "profiler-options": "options of a profiler place nothing and are not checked, only its name",
}


def reason_of(answers: Answers) -> str | None:
    """The name of the reason why both differ; "" where they agree, None where they must not differ."""
    if _plain(answers.theirs) == _plain(answers.ours):
        return ""
    return next((name for name, covers in _COVERS.items() if covers(answers)), None)


def _plain(placed: Placed | None, nameless: bool = False) -> str:
    """The Placements as text, with local accelerators as numbers."""
    field = "local_accelerator_rank"
    rows = placed and {name: [{**row, field: int(row[field])} for row in its] for name, its in placed.items() if name or not nameless}
    return json.dumps(rows, sort_keys=True)


def _says(answers: Answers, code: str, part: str) -> bool:
    return any(each.code == code and part in each.message for each in answers.findings)


def _only(answers: Answers, code: str) -> bool:
    """Do we refuse what RLinf accepts, for this code alone?"""
    return answers.theirs is not None and answers.ours is None and answers.codes == (code,)


def _beyond_node(answers: Answers) -> bool:
    counts = [count for count, _ in answers.question.nodes]
    rows = [row for its in (answers.theirs or {}).values() for row in its]
    return _only(answers, "PW203") and any(rank >= counts[row["cluster_node_rank"]] for row in rows for rank in row["local_hardware_ranks"])


def _nameless(answers: Answers) -> bool:
    return answers.ours is not None and "" in (answers.theirs or ()) and _plain(answers.theirs, True) == _plain(answers.ours)


def _at_start(answers: Answers) -> bool:
    theirs, ours = answers.theirs or {}, answers.ours or {}
    differing = {name for name, its in theirs.items() if _plain({"": its}) != _plain({"": ours.get(name, [])})}
    return bool(ours) and _says(answers, "PW124", "in auto mode RLinf starts") and differing <= {"actor", "rollout"}


def _keeps_group(answers: Answers) -> bool:
    refused = [each for each in answers.findings if each.severity is Severity.ERROR]
    return not refused and (_says(answers, "PW124", "drops the node group") or _says(answers, "PW124", "takes its ranks for accelerators"))


def _more_robots(answers: Answers) -> bool:
    warned = any(each.severity is Severity.WARNING and each.code in ("PW102", "PW112") for each in answers.findings)
    return answers.theirs is None and answers.ours is not None and warned


def _listed(key: str) -> Callable[[Answers], bool]:
    return lambda answers: answers.theirs is None and answers.ours is not None and _says(answers, "PW105", f"`{key}` of")


def _degree(answers: Answers) -> bool:
    refused = [each for each in answers.findings if each.severity is Severity.ERROR and each.code != "PW203"]
    return answers.theirs is not None and bool(refused) and all(e.code == "PW105" and e.subject.endswith("_parallel_size") for e in refused)


_COVERS: dict[str, Callable[[Answers], bool]] = {
    "off-by-one": _beyond_node,
    "nameless": _nameless,
    "auto-share": _at_start,
    "kept-group": _keeps_group,
    "env-robots": _more_robots,
    "listed-ranks": _listed("node_ranks"),
    "listed-groups": _listed("node_group"),
    "degree": _degree,
}
