"""What decides about a placement and is unknown, so that a file is ``incomplete``; and the machines that it was judged on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterable

from ..models.findings.codes import topic_of
from ..models.findings.finding import Missing, Severity, Unchecked
from ..models.machines.node_group import ACCELERATOR
from ..models.machines.shorthand import in_one_word
from ..models.reading import Reading

NAME_MACHINES = "Pass `--cluster x8`"
_WHOLE = ("PW010", "PW120", "PW122")
"""Rules whose reason needs no word before it: about a file or program as a whole, or about a variable."""
NO_ROOM = "PW215"
_ROOT = re.compile("`--config-root [^`]+`")
_OPTIONS = ("--dialect", "-m ", "--framework", "--config-root", "--set", "--allow-env", "--cluster")
"""What is added first: what the file is, then its parts and values, then the machines."""


def missing_in(reading: Reading, unchecked: Iterable[Unchecked]) -> tuple[Missing, ...]:
    """Everything unknown without which the placement was not checked, most urgent first; none in a file with errors alone."""
    found = [Missing(_what(item), item.add) for item in unchecked if item.decides]
    problem = reading.problem
    if problem is None:
        if not reading.failed and not found:
            found.append(Missing("placement not checked: no component could be read", "Write what is placed in this file"))
    elif not problem.cluster.counted:
        placed = any(problem.kind(component) == ACCELERATOR for component in problem.components)
        if placed and not any("--cluster" in missing.add for missing in found):
            found.append(Missing("ranks not checked: accelerators per node unknown", NAME_MACHINES))
    elif not problem.components and not found and reading.dialect != "verl":  # verl has programs that run on CPUs alone
        found.append(Missing("placement not checked: no component is placed", "Write what is placed in this file"))
    return tuple(dict.fromkeys(sorted((_with_folder(each, reading) for each in found), key=_urgency)))


def _what(item: Unchecked) -> str:
    return item.why if item.rule in _WHOLE else f"{topic_of(item.rule)} not checked: {item.why}"


def _with_folder(missing: Missing, reading: Reading) -> Missing:
    """With the folder that a finding of the same file names."""
    if "--config-root DIR" not in missing.add:
        return missing
    folder = next((match[0] for finding in reading.findings if (match := _ROOT.search(finding.help))), None)
    return replace(missing, add=f"Pass {folder}") if folder else missing


def _urgency(missing: Missing) -> int:
    return next((rank for rank, option in enumerate(_OPTIONS) if option in missing.add), 1)


def machines_of(reading: Reading) -> str:
    """Machines that a file was judged on, in one word; "" where they are assumed or unknown."""
    problem = reading.problem
    if reading.machines is not None and reading.failed:  # what has no room there is judged on others
        return in_one_word(reading.machines)
    if any(finding.code == NO_ROOM and finding.severity is Severity.ERROR for finding in reading.findings):
        return ""  # what has no room is judged on machines that are assumed
    if problem is None or not problem.cluster.counted or not problem.cluster.nodes:
        return ""
    return "" if any(item.decides and "--cluster" in item.add for item in reading.unchecked) else in_one_word(problem.cluster)
