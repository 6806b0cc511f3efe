"""How much a component asks for, from accelerators, processes or both."""

from __future__ import annotations

from typing import NamedTuple, Sequence

from ..component import UNBOUNDED
from ..counts import Counts, in_both, is_one_range, times, write_counts
from ..findings.finding import UnusableInput, error
from ..findings.span import Span
from ..findings.wording import do, with_noun
from ..machines.node_group import CLUSTER_LABEL
from .forms import ComponentForm


class Asked(NamedTuple):
    """Resources per process, the least and the most of all its processes, and which of the numbers between (none: all)."""

    each: int
    least: int
    most: int
    counts: Counts = ()


def amount(form: ComponentForm, name: str, on_nodes: bool, span: Span) -> Asked:
    """How much it asks for. Raises UnusableInput where `accelerators` and `processes` contradict each other."""

    def refuse(message: str, help_text: str) -> UnusableInput:
        return UnusableInput([error("PW121", name, message, span, help=help_text)])

    accelerators, processes, each = form.accelerators, form.processes, form.accelerators_per_process
    if on_nodes:
        if (accelerators or each) and CLUSTER_LABEL in form.node_group:
            raise refuse(
                f"`{name}` asks for accelerators, and no node of the cluster has any", "write `processes:`, or add nodes that have some"
            )
        if accelerators or each:
            raise refuse(f"`{name}` asks for accelerators in a group that numbers nodes", "write `processes:`, or name another node group")
        return _asked(1, processes)
    if accelerators and processes and each is None and (one := _number(accelerators)) and (other := _number(processes)):
        if one % other:
            raise refuse(
                f"{with_noun(one, 'accelerator')} of `{name}` {do(one)} not divide among {other} processes",
                "make one a multiple",
            )
        each = one // other
    each = each or 1
    by_process = times(processes, each) if processes else None
    if accelerators and by_process:
        if not (both := in_both(accelerators, by_process)):
            asked = f"{write_counts(accelerators)} accelerators and for {write_counts(by_process)} in processes of {each}"
            raise refuse(f"`{name}` asks for {asked}", "write one of the two, or `accelerators_per_process` too")
        return _asked(each, both)
    return _asked(each, accelerators or by_process)


def _asked(each: int, counts: Counts | None) -> Asked:
    if not counts:
        return Asked(each, 1, UNBOUNDED)
    return Asked(each, counts[0][0], counts[-1][1], () if is_one_range(counts) else counts)


def _number(counts: Sequence[tuple[int, int]]) -> int:
    """The only count; 0 where there are several."""
    return counts[0][0] if counts[0][0] == counts[-1][1] else 0
