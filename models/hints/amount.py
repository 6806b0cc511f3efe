"""How much a component asks for, from accelerators, processes or both."""

from __future__ import annotations

from ..component import UNBOUNDED
from ..findings.finding import UnusableInput, error
from ..findings.span import Span
from ..findings.wording import do, with_noun
from ..machines.node_group import CLUSTER_LABEL
from ..quantity import write_range
from .forms import ComponentForm


def amount(form: ComponentForm, name: str, on_nodes: bool, span: Span) -> tuple[int, int, int]:
    """(resources per process, least, most). Raises UnusableInput where they contradict each other."""

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
        least, most = processes or (1, UNBOUNDED)
        return 1, least, most
    if accelerators and processes and each is None and accelerators[0] == accelerators[1] and processes[0] == processes[1]:
        if accelerators[0] % processes[0]:
            raise refuse(
                f"{with_noun(accelerators[0], 'accelerator')} of `{name}` {do(accelerators[0])} not divide among {processes[0]} processes",
                "make one a multiple",
            )
        each = accelerators[0] // processes[0]
    each = each or 1
    by_process = (processes[0] * each, processes[1] * each) if processes else None
    if accelerators and by_process:
        least, most = max(accelerators[0], by_process[0]), min(accelerators[1], by_process[1])
        if least > most:
            asked = f"{write_range(accelerators)} accelerators and for {write_range(by_process)} in processes of {each}"
            raise refuse(f"`{name}` asks for {asked}", "write one of the two, or `accelerators_per_process` too")
        return each, least, most
    return (each, *(accelerators or by_process or (1, UNBOUNDED)))
