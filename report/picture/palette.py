"""Colour, pattern and letter of each component: any one of them tells components apart.

Source of the colours: Okabe and Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#5a8fd6", "#d55e00", "#cc79a7", "#999999")
SIZE = 8
"""Side of a pattern tile in pixels."""
_STROKES = ("", "M0 8L8 0", "M0 0L8 8", "M0 4H8", "M4 0V8", "M0 4H8M4 0V8", "M0 0L8 8M0 8L8 0", "M1 1h2v2h-2zM5 5h2v2h-2z")


def add_patterns(parent: Element, count: int) -> None:
    """Add a fill `k0`, `k1`... per component to an SVG."""
    definitions = SubElement(parent, "defs")
    for number in range(count):
        size = {"width": str(SIZE), "height": str(SIZE)}
        pattern = SubElement(definitions, "pattern", {"id": f"k{number}", "patternUnits": "userSpaceOnUse", **size})
        SubElement(pattern, "rect", {**size, "fill": COLOURS[number % len(COLOURS)]})
        stroke = _STROKES[(number + number // len(COLOURS)) % len(_STROKES)]
        if stroke:
            SubElement(pattern, "path", {"d": stroke, "stroke": "#000", "stroke-opacity": ".35", "fill": "none"})


def fill(number: int) -> str:
    """Return the SVG fill of a component."""
    # The colour alone counts where the pattern is in a hidden part of the page: an earlier output of a notebook.
    return f"url(#k{number}) {COLOURS[number % len(COLOURS)]}"
