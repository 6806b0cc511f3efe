"""Cluster as SVG: nodes by rack, a square per accelerator, its holders as stripes."""

from __future__ import annotations

from typing import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from ..rows import MOST_DRAWN, HeldAccelerator, Holder, Row, key
from ..terminal import escape
from .palette import add_patterns, fill

SIDE, GAP, LINE = 40, 4, 18
"""Pixels: side of an accelerator, distance of two, height of a line of text."""
IN_A_LINE = 16
LETTER = 7.3
"""Pixels of a character of the labels, at most."""
_RULES = (
    "text{font:12px system-ui,sans-serif;fill:var(--ink,#1b1b1b)}", ".small{font-size:10px}", ".head{font-weight:600}",
    ".key{font:600 10px system-ui,sans-serif;fill:#000;stroke:#fff;stroke-width:2.5px;paint-order:stroke;text-anchor:middle}", ".start{text-anchor:start}",
    ".box{fill:none;stroke:var(--ink,#1b1b1b);stroke-opacity:.55}", ".idle{fill:var(--idle,#f1f1f1)}", ".taken{fill:#777}", ".kept{opacity:.5}",
    ".line{stroke:var(--ink,#1b1b1b);stroke-dasharray:3 2}", ".on .box{stroke-width:3;stroke-opacity:1}",
)  # fmt: skip
STYLE = "".join(f".placewright {rule}" for rule in _RULES)
"""Styles of drawings alone: a notebook has others beside them."""


def new_svg(width: float, height: float, label: str) -> Element:
    """Return an empty drawing of a size in pixels, `label` for readers of screens."""
    size = {"width": f"{width:g}", "height": f"{height:g}", "viewBox": f"0 0 {width:g} {height:g}"}
    return Element(
        "svg", {"xmlns": "http://www.w3.org/2000/svg", "class": "placewright", "role": "img", "aria-label": escape(label), **size}
    )


def text(parent: Element, x: float, y: float, content: str, kind: str = "") -> None:
    """Add a line of text at its baseline."""
    SubElement(parent, "text", {"x": f"{x:g}", "y": f"{y:g}", **({"class": kind} if kind else {})}).text = escape(content)


def tooltip(parent: Element, lines: Sequence[str]) -> None:
    """Add the text that is shown on pointing, and read aloud."""
    SubElement(parent, "title").text = "\n".join(map(escape, lines))


def shorten(content: str, pixels: float) -> str:
    """Return a label cut to a width; the whole stands in its tooltip."""
    most = max(4, int(pixels / LETTER))
    return content if len(content) <= most else content[: most - 1] + "…"


def to_text(drawing: Element) -> str:
    """Return the drawing as text."""
    return tostring(drawing, encoding="unicode")


def standalone(drawing: Element, components: int) -> Element:
    """Return a drawing that needs nothing around it: with its patterns and styles."""
    SubElement(drawing, "style").text = STYLE
    add_patterns(drawing, components)
    return drawing


def cluster(rows: Sequence[Row], names: Sequence[str]) -> Element:
    """Draw the rows; what is on an accelerator stands in its tooltip."""
    drawn_rows, folded_rows = rows[:MOST_DRAWN], rows[MOST_DRAWN:]
    label = min(260.0, 12 + LETTER * max((len(row.title) for row in drawn_rows), default=4))
    columns = min(IN_A_LINE, max((len(row.cells) for row in drawn_rows), default=0))
    besides = LETTER * max((len(_besides(row, names)) for row in drawn_rows), default=0)
    width = max(320.0, label + columns * (SIDE + GAP) + 12 + besides)
    body, y, rack = Element("g"), float(GAP), ""
    for row in drawn_rows:
        if row.rack != rack:
            rack = row.rack
            text(body, 2, y + LINE - 4, shorten(rack or "no rack", width), "head")
            y += LINE + GAP
        y = _draw_row(body, row, names, label, y, columns)
    if folded_rows:
        nodes = sum(row.count for row in folded_rows)
        text(body, 2, y + LINE - 4, f"{nodes} further nodes are not drawn; JSON has them")
        y += LINE + GAP
    drawing = new_svg(width, y, f"Cluster: who holds which accelerator of {sum(row.count for row in rows)} nodes")
    drawing.append(body)
    return drawing


def legend(names: Sequence[str]) -> Element:
    """Draw the key of every component, as many in a line as fit."""
    width, x, y = 860.0, 2.0, float(GAP)
    drawing = new_svg(width, 0, "Components: " + ", ".join(names))
    for number, name in enumerate(names):
        label = shorten(name, 240)
        if x > 2 and x + 36 + LETTER * len(label) > width:
            x, y = 2, y + LINE + GAP
        SubElement(drawing, "rect", {"x": f"{x:g}", "y": f"{y:g}", "width": "24", "height": "16", "fill": fill(number)})
        text(drawing, x + 12, y + 12, key(number), "key")
        text(drawing, x + 30, y + 12, label)
        x += 48 + LETTER * len(label)
    drawing.set("height", f"{y + LINE + GAP:g}")
    drawing.set("viewBox", f"0 0 {width:g} {y + LINE + GAP:g}")
    return drawing


def _draw_row(parent: Element, row: Row, names: Sequence[str], label: float, y: float, columns: int) -> float:
    """Draw a node and return where the next one begins."""
    group = SubElement(parent, "g", {"class": "node", "tabindex": "-1", "aria-label": row.title})
    tooltip(group, [row.title])
    text(group, 2, y + SIDE / 2 + 4, shorten(row.title, label - 8))
    for number, cell in enumerate(row.cells):
        line, column = divmod(number, IN_A_LINE)
        _draw_cell(group, cell, row, names, label + column * (SIDE + GAP), y + line * (SIDE + GAP))
    if row.besides:
        text(group, label + columns * (SIDE + GAP) + 8, y + SIDE / 2 + 4, _besides(row, names))
    lines = max(1, -(-len(row.cells) // IN_A_LINE))
    return y + lines * (SIDE + GAP) + GAP


def _besides(row: Row, names: Sequence[str]) -> str:
    return "; ".join(f"{names[number]}: {processes}" for number, processes in row.besides)


def _draw_cell(parent: Element, cell: HeldAccelerator, row: Row, names: Sequence[str], x: float, y: float) -> None:
    groups = " ".join(f"{holder.component}.{holder.group}" for holder in cell.holders if holder.group >= 0)
    box = SubElement(parent, "g", {"class": "gpu", "transform": f"translate({x:g} {y:g})", **({"data-g": groups} if groups else {})})
    tooltip(box, list_tooltip(cell, row, names))
    side = str(SIDE)
    if cell.taken or not cell.holders:
        SubElement(box, "rect", {"width": side, "height": side, "class": "taken" if cell.taken else "idle"})
    height = SIDE / max(1, len(cell.holders))
    for number, holder in enumerate(cell.holders):
        top = number * height
        SubElement(box, "rect", {"y": f"{top:.4g}", "width": side, "height": f"{height:.4g}", "fill": fill(holder.component)})
        if height >= 10:
            group = f"·{holder.group}" if holder.group >= 0 and row.count == 1 else ""
            text(box, SIDE / 2, round(top + height / 2 + 4, 1), f"{key(holder.component)}{group}", "key")
    SubElement(box, "rect", {"width": side, "height": side, "class": "box"})


def list_tooltip(cell: HeldAccelerator, row: Row, names: Sequence[str]) -> list[str]:
    """Return the lines of the tooltip of an accelerator."""
    parts = [_holds(holder, names) for holder in cell.holders] or ["held by another job" if cell.taken else "idle"]
    return [f"{row.name}:{cell.index} {cell.model}", *parts]


def _holds(holder: Holder, names: Sequence[str]) -> str:
    ranks = ", ".join(map(str, holder.ranks[:8])) + (f" and {len(holder.ranks) - 8} more" if len(holder.ranks) > 8 else "")
    group = f", tp group {holder.group}" if holder.group >= 0 else ""
    return f"{key(holder.component)} {names[holder.component]}: rank {ranks}{group}"
