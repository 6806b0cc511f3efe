"""Explanation of a configuration as text: grid, components, sharing, derivations."""

from __future__ import annotations

from pathlib import PurePath
from typing import Iterable

from ...models.component import APART, COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, NEAR, RANK_ALIGNED, SUBSET, UNBOUNDED, ZERO_COPY
from ...models.derivation import Derivation, Figure
from ...models.findings.wording import with_noun
from ...models.level import DEFAULT_LEVEL
from ...models.machines.node_group import ACCELERATOR
from ...models.quantity import write_counts
from ...models.report import INCOMPLETE, UNUSABLE, Report
from ...solver.explaining.demands import DemandText
from ...solver.explaining.explain import PARTLY, Explanation, SharedAccelerators
from ...solver.explaining.needs import ComponentNeed, Layout, Needs
from ...solver.wording import join_names
from ..grid import grid
from ..table import resource_ranks, table
from ..terminal import escape, paint
from ..text import count_findings, render_findings, render_unchecked
from ..wrapping import PIPED

WIDTH = PIPED
MAX_VALUE, MAX_NAME = 40, 120
MAX_NODES = 16
"""Maximum number of grid lines; beyond it a table is shorter."""
NO_NUMBER = ("PW501", "PW502")
"""Codes without influence on the derived numbers."""
MAX_UNCHECKED = 5
"""Maximum number of lines for unchecked demands."""
MAX_SHARED = 20
"""Maximum number of sentences on sharing."""
_ASKED = {
    COLOCATED: "is to hold the same accelerators as",
    SUBSET: "is to be within",
    DISJOINT: "is to share none with",
    RANK_ALIGNED: "is to hold the same accelerators, in the same order of ranks, as",
    ZERO_COPY: "is to find its part of the weights at home, on the accelerators of",
    APART: "is to share no {level} with",
    NEAR: "is to be in no {level} without",
    COLOCATED_OR_DISJOINT: "is to share all or none with",
}


def render(explanation: Explanation, colour: bool = False, level: str = DEFAULT_LEVEL) -> str:
    """Format the explanation of a file in at most COLUMNS columns, names uncut."""
    report = explanation.report
    if report.verdict == UNUSABLE:
        return "\n\n".join([render_findings(report.errors, report.texts, colour), _verdict(explanation, colour, level)])
    blocks = []
    if explanation.needs and explanation.sharing and explanation.plan:
        blocks += [_grid(explanation), _components(explanation, explanation.needs)]
        blocks.append(_add_title("shared", _format_shared(explanation.sharing, explanation.needs), colour))
        blocks.append(_add_title("demanded", [_format_demand(demand, report.file) for demand in explanation.demands], colour))
    notes = Footnotes(report.file)
    numbers = _numbers(explanation.derivations, notes)
    blocks += [numbers, notes.text(), _not_known(report)]
    return "\n\n".join([*filter(None, blocks), _verdict(explanation, colour, level)])


def _grid(explanation: Explanation) -> str:
    plan = explanation.plan
    if plan is None or not explanation.known or not any(plan.assignment.count_held(name) for name in plan.components):
        return ""
    text = grid(plan)
    return text if text.count("\n") <= MAX_NODES + 2 else ""


def _components(explanation: Explanation, needs: Needs) -> str:
    """Format the components: nodes, amounts per node, accelerators, processes, ranks."""
    plan = explanation.plan
    if plan is None or not needs.components:
        return ""
    cpus = any(need.cpus for need in needs.components)
    rows = [["component", "nodes x each", "accelerators", "processes", *(["CPUs"] if cpus else []), "ranks"]]
    for need in needs.components:
        ranks = resource_ranks(plan, plan.assignment.of(need.name)) if need.layout else need.written or "to solve"
        amount = str(need.accelerators or "-") if need.layout else _format_need(need)
        cpu_cells = [str(need.cpus or "-")] if cpus else []
        rows.append([need.name, layout(need.layout) or "-", amount, str(need.processes or "-"), *cpu_cells, ranks])
    return table(rows, right=(2, 3, 4) if cpus else (2, 3))


def _format_need(need: ComponentNeed) -> str:
    if need.asked is None or need.kind != ACCELERATOR:
        return "-"
    lower, upper = need.asked
    if upper >= UNBOUNDED:
        return f"{lower} or more"
    return write_counts(need.counts or (need.asked,))


def layout(nodes_by_count: Layout) -> str:
    """Format `2 x 8`, `2 x 8 + 1 x 4`, or `5 x 1-8` for many different amounts."""
    if len(nodes_by_count) > 3:
        counts = [count for _, count in nodes_by_count]
        return f"{sum(nodes for nodes, _ in nodes_by_count)} x {min(counts)}-{max(counts)}"
    return " + ".join(f"{nodes} x {count}" for nodes, count in nodes_by_count)


def _format_shared(sharing: SharedAccelerators, needs: Needs) -> list[str]:
    """Return a sentence for each shared set of accelerators, and for overlapping sets."""
    sentences, names_of_ranks = [], dict[str, list[str]]()
    for need in needs.components:
        if need.written:
            names_of_ranks.setdefault(need.written, []).append(need.name)
    sentences += [f"{_names(names)} name the same ranks" for names in names_of_ranks.values() if len(names) > 1]
    for members in sharing.together:
        if len(members.components) > 1:
            sentences.append(f"{_names(members.components)} hold the same {with_noun(members.accelerators, 'accelerator', ',')}")
    for overlap in sharing.overlaps:
        first, second, common = overlap.first, overlap.second, overlap.shared
        many = len(first.components) > 1
        if overlap.kind == PARTLY:
            of = f"{common} in common, of {first.accelerators} and {second.accelerators}"
            sentences.append(f"{_names(first.components)} overlap{'' if many else 's'} {_names(second.components)} in part: {of}")
        else:
            sentences.append(
                f"{_names(first.components)} {'are' if many else 'is'} within {_names(second.components)}: {common} of {second.accelerators}"
            )
    for members in sharing.together if len(sharing.together) > 1 or len(needs.components) > 1 else ():
        if sharing.alone(members) and len(members.components) == 1:
            sentences.append(f"{_names(members.components)} shares none: {with_noun(members.accelerators, 'accelerator', ',')} of its own")
    sentences += [
        f"{escape(relation.components[0])} {_ASKED[relation.kind].format(level=relation.level)} {_names(relation.components[1:])}"
        for relation in sharing.asked
        if relation.kind in _ASKED
    ]
    if sharing.compared < len(sharing.together):
        sentences.append(f"the first {sharing.compared} different sets of accelerators were compared, of {len(sharing.together)}")
    more = len(sentences) - MAX_SHARED
    return sentences if more <= 0 else [*sentences[:MAX_SHARED], f"and {more} more such sentences; JSON holds them all"]


def _format_demand(demand: DemandText, file: str) -> str:
    """Format `actor: each tp group in one node (line 5)`; a link has both names."""
    subject = " to ".join(map(escape, demand.components)) or "the job"
    line = f" (line {demand.span.line})" if demand.span and demand.span.file == file else ""
    return f"{subject}: {escape(demand.text)}{line}"


def _names(names: Iterable[str]) -> str:
    return join_names([*map(escape, names)])


def _add_title(title: str, lines: list[str], colour: bool) -> str:
    return "\n".join([f"{paint(title, 'bold', colour)}:", *(f"  {line}" for line in lines)]) if lines else ""


def _numbers(derivations: tuple[Derivation, ...], notes: Footnotes) -> str:
    """Format derived numbers: component, name, value, formula with footnotes."""
    if not derivations:
        return ""
    rows, last = [["of", "number", "value", "formula"]], None
    for derivation in derivations:
        subject = derivation.component or "job"
        formula = " ".join(filter(None, (derivation.formula, notes.marks(derivation.figures))))
        rows.append([subject if subject != last else "", derivation.name, str(derivation.value), formula])
        last = subject
    return table(rows, right=(2,), uncut=True)


def _not_known(report: Report) -> str:
    """Format what could not be judged, first lines only."""
    title, *lines = render_unchecked(demand for demand in report.unchecked if demand.rule not in NO_NUMBER).split("\n")
    more = len(lines) - MAX_UNCHECKED
    return "\n".join([title, *lines[:MAX_UNCHECKED], *([f"  and {more} more, which `placewright verify` lists"] if more > 0 else [])])


def _verdict(explanation: Explanation, colour: bool, level: str) -> str:
    report, needs = explanation.report, explanation.needs
    counts = [count_findings(report.errors), count_findings(finding for finding in report.findings if finding not in report.errors)]
    counts[0] = paint(counts[0], "red", colour) if counts[0] else paint("no error", "green", colour)
    command = "verify" if level == DEFAULT_LEVEL or not report.findings else f"verify --level {level}"
    parts = [*(_summary(explanation, needs) if needs else []), f"{command} finds {', '.join(filter(None, counts))}"]
    if report.verdict == INCOMPLETE:
        missing = report.missing[0]
        parts.append(f"{paint(INCOMPLETE, 'yellow', colour)}: {escape(missing.fact)}. {escape(missing.add)}")
    return f"{escape(report.title)}: {'; '.join(parts)}"


def _may_be_fewer(needs: Needs) -> str:
    """Format the note for unread choices, which the least need leaves out."""
    unread = [
        *([f"{with_noun(needs.unread_choices, 'choice', ',')} of degrees"] if needs.unread_choices else []),
        *([f"{with_noun(needs.sizes_not_read, 'size', ',')} of pools"] if needs.sizes_not_read else []),
    ]
    are_not = "was not read" if needs.unread_choices + needs.sizes_not_read == 1 else "were not read"
    return f" (with {' and '.join(unread)}, which {are_not}, it may be fewer)" if unread else ""


def _summary(explanation: Explanation, needs: Needs) -> list[str]:
    """Return lines on needs, idle resources and assumptions."""
    if not explanation.known:
        nodes = with_noun(needs.nodes_there, "node", ",")
        have = "it has" if needs.nodes_there == 1 else "they have"
        return [f"runs on {nodes}; how many accelerators {have} is unknown"]
    cpus = f" and {with_noun(needs.cpus, 'CPU', ',')}" if needs.cpus else ""
    parts = [f"needs {with_noun(needs.accelerators, 'accelerator', ',')}{cpus} on {with_noun(needs.nodes, 'node', ',')}"]
    if needs.open:
        demand = f"needs at least {with_noun(needs.accelerators + needs.open, 'accelerator', ',')}, {needs.open} of them for what is to be solved"
        parts = [f"{demand}{_may_be_fewer(needs)}"]
    elif needs.there:
        parts[0] += f", {needs.idle or 'none'} of {needs.there} idle"
    if explanation.assumed:
        parts.append(f"no machines were named: {explanation.assumed} on each node are assumed, enough for all ranks")
    return parts


class Footnotes:
    """Numbered footnotes, each figure once. `file` is the explained file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._numbers: dict[Figure, int] = {}

    def marks(self, figures: Iterable[Figure]) -> str:
        """Return `[1,2]`; "" without figures."""
        numbers = [self._numbers.setdefault(figure, len(self._numbers) + 1) for figure in figures]
        return f"[{','.join(map(str, numbers))}]" if numbers else ""

    def text(self) -> str:
        """Format a line per figure: number, place or default, key, value; "" without any.

        Lines are those of the explained file unless another one is named.
        """
        rows = [[f"[{number}]", self._place(figure), _figure_text(figure)] for figure, number in self._numbers.items()]
        return f"figures (lines of {escape(self._file)}):\n" + table(rows, right=(0,), uncut=True) if rows else ""

    def _place(self, figure: Figure) -> str:
        span = figure.span
        if span is None:
            return "default" if figure.default else "-"
        if span.file == self._file:
            return f"line {span.line}"
        # An option of the command line is one line.
        return span.file if span.file.startswith("--") else f"{PurePath(span.file).name}:{span.line}"


def _figure_text(figure: Figure) -> str:
    return f"{_cut(figure.name, MAX_NAME)}: {_cut(str(figure.value), MAX_VALUE)}" + (f" ({figure.default})" if figure.default else "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
