"""Timeline of an iteration and memory of each set of accelerators, as SVG."""

from __future__ import annotations

from typing import Mapping
from xml.etree.ElementTree import Element, SubElement

from ...models.account import ESTIMATED, KEPT, Account, BlockBill, SegmentMemory, Usage, group_by_block
from ..planning.words import bill_name, parts, seconds, task_name
from ..planning.works import place_name
from .palette import fill
from .svg import GAP, LINE, SIDE, new_svg, shorten, text, tooltip

WIDTH, LABEL, RIGHT = 860.0, 240.0, 150.0
"""Pixels: width of a chart, of the labels before its bars, of the figures behind them."""
_BAR = 20
_SPAN = WIDTH - LABEL - RIGHT


def timeline(account: Account, numbers: Mapping[str, int]) -> Element | None:
    """Draw the work of an iteration; None without times. `numbers`: component -> number."""
    places = group_by_block(account.usages)
    total = sum(usage.nanoseconds for usage in places[0]) if places else 0
    if not total:
        return None
    names = parts(account.planned.question, account.planned, account.planned.best.design)
    drawing = new_svg(WIDTH, LINE * 2 + len(places) * (_BAR + GAP * 2), "Timeline: who works when in an iteration")
    start = 0
    for usage in places[0]:
        x = LABEL + _SPAN * start / total
        if usage.nanoseconds:
            text(drawing, x, LINE - 5, shorten(f"{names[usage.segment]}", _SPAN * usage.nanoseconds / total), "small")
        start += usage.nanoseconds
    y = float(LINE)
    for place in places:
        label = place_name(account, place[0])
        row = SubElement(drawing, "g")
        tooltip(row, [label])
        text(row, 2, y + _BAR - 6, shorten(label, LABEL - 8))
        _bar(row, LABEL, y, _SPAN, "idle", f"{label}: no known work")
        start = 0
        for usage in place:
            _draw_turns(row, account, usage, numbers, start, total, y)
            start += usage.nanoseconds
        works = f"works {100 * sum(usage.works for usage in place) / total:.0f} %" if place[0].known else "not known"
        text(row, LABEL + _SPAN + 8, y + _BAR - 6, works, "small")
        y += _BAR + GAP * 2
    traffic = account.planned.best.traffic
    rest = f", and {seconds(traffic)} of traffic" if traffic else ""
    text(drawing, LABEL, y + LINE - 5, f"0 to {seconds(total)} seconds{rest}", "small")
    return drawing


def _draw_turns(parent: Element, account: Account, usage: Usage, numbers: Mapping[str, int], start: int, total: int, y: float) -> None:
    question, latest = account.planned.question, 0
    for turn in usage.turns:
        begins = turn.begins if turn.begins is not None else latest
        ends = turn.ends if turn.ends is not None else begins + turn.works
        latest = max(latest, ends)
        task = question.tasks[turn.task]
        times = f"from {seconds(start + begins)} to {seconds(start + ends)}"
        words = f"{task_name(question, task)}: {seconds(turn.works)} seconds of work, {times}"
        x, width = LABEL + _SPAN * (start + begins) / total, _SPAN * (ends - begins) / total
        _bar(parent, x, y, width, "", words, numbers.get(task.component, 0))
        if width > 40:
            text(parent, x + 6, y + _BAR - 6, shorten(task_name(question, task), width - 8), "key start")


def memory(account: Account, numbers: Mapping[str, int]) -> Element | None:
    """Draw the load of accelerators in each part; None if unknown."""
    bars = [(bill, moment) for bill in account.bills for moment in bill.moments if moment.mebibytes]
    if not bars:
        return None
    names = parts(account.planned.question, account.planned, account.planned.best.design)
    widest = max(max(bill.capacity or 0, moment.mebibytes) for bill, moment in bars)
    heads = len({id(bill) for bill, _ in bars})
    drawing = new_svg(WIDTH, heads * (LINE + GAP) + len(bars) * (_BAR + GAP), "Memory of each accelerator in each part")
    y, head = 0.0, None
    for bill, moment in bars:
        if bill is not head:
            head = bill
            text(drawing, 2, y + LINE - 4, shorten(bill_name(account.planned.question, bill), WIDTH), "head")
            y += LINE + GAP
        part = names[moment.segment] if moment.segment is not None else moment.phase
        text(drawing, 12, y + _BAR - 6, shorten(part, LABEL - 20))
        _draw_load(drawing, bill, moment, numbers, _SPAN / widest, y)
        y += _BAR + GAP
    return drawing


def _draw_load(parent: Element, bill: BlockBill, moment: SegmentMemory, numbers: Mapping[str, int], scale: float, y: float) -> None:
    x = LABEL
    if bill.capacity is not None:
        _bar(parent, x, y, bill.capacity * scale, "idle", f"free of {_gib(bill.capacity)}")
    for entry in moment.entries:
        if not entry.mebibytes:
            continue
        words = f"{entry.component} {entry.state}: {'about ' if entry.origin == ESTIMATED else ''}{_gib(entry.mebibytes)}"
        _bar(parent, x, y, entry.mebibytes * scale, "kept" if entry.state == KEPT else "", words, numbers.get(entry.component, 0))
        x += entry.mebibytes * scale
    of = f" of {_gib(bill.capacity)}" if bill.capacity is not None else ", capacity not known"
    if bill.capacity is not None:
        edge = f"{LABEL + bill.capacity * scale:.4g}"
        SubElement(parent, "line", {"x1": edge, "x2": edge, "y1": f"{y - 2:g}", "y2": f"{y + _BAR + 2:g}", "class": "line"})
    text(parent, LABEL + _SPAN + 8, y + _BAR - 6, f"{_gib(moment.mebibytes)}{of}", "small")


def _bar(parent: Element, x: float, y: float, width: float, kind: str, words: str, number: int = -1) -> None:
    box = SubElement(parent, "g")
    tooltip(box, [words])
    look = {
        **({"class": kind} if kind else {}),
        **({"fill": fill(number), "stroke": "#000", "stroke-opacity": ".4"} if number >= 0 else {}),
    }
    SubElement(box, "rect", {"x": f"{x:.5g}", "y": f"{y:g}", "width": f"{max(width, 1):.5g}", "height": str(_BAR), **look})


def _gib(mebibytes: int) -> str:
    return f"{mebibytes / 1024:.1f} GiB"


def stack(drawings: list[tuple[str, Element]]) -> Element:
    """Put drawings with their titles below each other in one."""
    width = max(float(drawing.get("width", "0")) for _, drawing in drawings)
    whole, y = new_svg(width + 2 * GAP, 0, "; ".join(drawing.get("aria-label", "") for _, drawing in drawings)), float(GAP)
    for title, drawing in drawings:
        if title:
            text(whole, GAP, y + LINE - 4, title, "head")
            y += LINE + GAP
        drawing.set("x", str(GAP))
        drawing.set("y", f"{y:g}")
        whole.append(drawing)
        y += float(drawing.get("height", "0")) + SIDE / 2
    whole.set("height", f"{y:g}")
    whole.set("viewBox", f"0 0 {width + 2 * GAP:g} {y:g}")
    return whole
