"""Picture of a plan: an SVG, or one HTML page that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import field
from importlib.resources import files
from typing import Mapping, Sequence
from xml.etree.ElementTree import Element

from ...models.account import Account
from ...models.parallel import Parallel
from ...models.placements.moves import Moves
from ...models.placements.plan import Plan
from ...models.record import dataclass
from ..moves import HEADS, summary
from ..moves import rows_of as rows_of_moves
from ..planning.words import format_difference, format_price, seconds
from ..rows import key, rows_of
from ..table import component_row, objective_rows
from ..terminal import escape
from .charts import memory, stack, timeline
from .palette import add_patterns
from .svg import STYLE, cluster, legend, new_svg, standalone, to_text

MOST_DATA = 100_000
"""Characters of JSON on a page."""
TOO_LONG = "too long for a page: `placewright solve FILE --format json` prints it"


@dataclass(frozen=True)
class Picture:
    """Content of a picture.

    Attributes
    ----------
    title, verdict : the file, and what is known of the plan, a line each.
    degrees : component -> degrees, for those that have any.
    account : times, memory and alternatives; None without times.
    moves, before : what moved from the plan before, and that plan; None without one.
    data : the JSON text of the answer.
    note : what the picture lacks, and how to get it; "" if nothing.
    """

    title: str
    verdict: str
    plan: Plan
    degrees: Mapping[str, Parallel] = field(default_factory=dict)
    account: Account | None = None
    moves: Moves | None = None
    before: Plan | None = None
    data: str = ""
    note: str = ""

    @property
    def names(self) -> list[str]:
        """Components in the order of their keys, those of the plan before at the end."""
        before = self.before.components if self.before else ()
        return list(dict.fromkeys((*self.plan.components, *before)))


@dataclass(frozen=True)
class PageTable:
    """Table of a page; the columns in `right` are numbers."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    note: str = ""


def to_svg(picture: Picture) -> str:
    """Return the cluster, the timeline and the memory as one SVG."""
    drawings = [(f"{picture.title}: {picture.verdict}", legend(picture.names)), *_drawings(picture)]
    return to_text(standalone(stack(drawings), len(picture.names))) + "\n"


def to_fragment(picture: Picture) -> str:
    """Return the cluster as an SVG for a notebook, on a white ground."""
    drawing = standalone(stack([("", legend(picture.names)), _drawings(picture)[0]]), len(picture.names))
    return f'<div style="background:#fff;overflow-x:auto">{to_text(drawing)}</div>'


def to_html(picture: Picture) -> str:
    """Return the page. Raises ModuleNotFoundError without jinja2 (the extra `report`)."""
    from jinja2 import Environment
    from markupsafe import Markup

    folder = files(__package__)
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    patterns = new_svg(0, 0, "")
    add_patterns(patterns, len(picture.names))
    template = Environment(autoescape=True, finalize=_visible).from_string(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        title=picture.title, verdict=picture.verdict, note=picture.note, components=_components(picture), keys=list(map(key, range(len(picture.names)))),
        drawings=[(heading, Markup(to_text(drawing))) for heading, drawing in _drawings(picture)], tables=_tables(picture), data=Markup(html.escape(picture.data if len(picture.data) <= MOST_DATA else TOO_LONG)),
        patterns=Markup(to_text(patterns[0])), style=Markup(STYLE), script=Markup(script), script_hash=f"'sha256-{digest}'",
    )  # fmt: skip


def _visible(value: object) -> object:
    """Escape what hides or reorders text; markup stays."""
    return escape(value) if type(value) is str else value


def _drawings(picture: Picture) -> list[tuple[str, Element]]:
    names = picture.names
    numbers = {name: number for number, name in enumerate(names)}
    drawings = [("Cluster", cluster(rows_of(picture.plan, names, picture.degrees), names))]
    if picture.before is not None:
        drawings.append(("Cluster before", cluster(rows_of(picture.before, names, picture.degrees), names)))
    if picture.account is not None:
        charts = [("Iteration", timeline(picture.account, numbers)), ("Memory of each accelerator", memory(picture.account, numbers))]
        drawings += [(title, chart) for title, chart in charts if chart is not None]
    return drawings


def _components(picture: Picture) -> PageTable:
    plan = picture.plan
    rows = []
    for name in picture.names:
        *figures, ranks = component_row(plan, name)
        rows.append([*figures, str(picture.degrees.get(name, "-")), ranks])
    return PageTable("Components", ["component", "world size", "nodes", "accelerators", "degrees", "ranks"], rows, (1, 2, 3))


def _tables(picture: Picture) -> list[PageTable]:
    tables, account, plan = list[PageTable](), picture.account, picture.plan
    if account is not None:
        tables.append(_alternatives(account))
    if plan.terms:
        tables.append(PageTable("Objective", ["term", "value", "bound"], objective_rows(plan), (1, 2)))
    if (moves := picture.moves) is not None:
        tables.append(PageTable("Moves", HEADS, rows_of_moves(moves), range(1, len(HEADS)), summary(moves)))
    return tables


def _alternatives(account: Account) -> PageTable:
    result = account.planned
    best = result.best
    rows = [["this plan", seconds(best.total), str(best.accelerators(result.question)), "-"]]
    for alternative in account.alternatives:
        candidate = alternative.priced
        words = format_price(result, candidate).partition(": ")[2]
        rows.append(
            [words, seconds(candidate.total), str(candidate.accelerators(result.question)), format_difference(candidate.total, best.total)]
        )
    return PageTable("Plan and alternatives", ["arrangement", "seconds an iteration", "accelerators", "time"], rows, (1, 2))
