"""Text and HTML of results, in Python programs and notebooks.

The classes lie in layers that know no output; importing `placewright.api` gives them theirs.
"""

from __future__ import annotations

from html import escape as escaped
from typing import TYPE_CHECKING, Callable

from ..models.answer import Answer
from ..models.placements.plan import Plan
from ..models.report import Report
from .wrapping import COLUMNS, fit_columns

if TYPE_CHECKING:
    from ..models.account import Account


def text_of_plan(plan: Plan) -> str:
    """Return the grid, the components and a line with status and digest."""
    from .grid import grid
    from .table import components_table

    return f"{grid(plan)}\n\n{components_table(plan)}\n\n{plan.status}, {plan.digest[:19]}"


def text_of_report(report: Report) -> str:
    """Return the findings and the verdict, as `placewright verify` prints them."""
    from .text import render

    return render(report)


def text_of_account(account: Account) -> str:
    """Return the account, as `placewright solve -v` prints it."""
    from .planning.text import render

    return "\n\n".join(render(account))


def text_of_answer(answer: Answer) -> str:
    """Return the plan, or the verdict and the reasons why there is none."""
    from .results import whole_message

    reasons = [f"{finding.severity.value}[{finding.code}]: {whole_message(finding)}" for finding in answer.findings]
    return "\n\n".join([*reasons, text_of_plan(answer.plan) if answer.plan else answer.verdict])


def html_of_plan(plan: Plan) -> str:
    """Return the picture of a plan for a notebook."""
    from .picture.page import Picture, to_fragment

    return to_fragment(Picture("plan", plan.status, plan, plan.degrees))


def html_of_answer(answer: Answer) -> str:
    """Return the picture of the plan, if any, and the text."""
    return f"{html_of_plan(answer.plan) if answer.plan else ''}{html_of_text(answer)}"


def html_of_report(report: Report) -> str:
    """Return the picture of the placements, if any, and the text."""
    picture = html_of_plan(report.plan) if report.plan and report.plan.components else ""
    return f"{picture}{html_of_text(report)}"


def html_of_text(value: object) -> str:
    """Return the text of a result."""
    return f'<pre style="overflow-x:auto">{escaped(str(value))}</pre>'


def add_to_classes() -> None:
    """Give Plan, Report and Answer `str()` and `_repr_html_`."""
    _add(Answer, text_of_answer, html_of_answer)
    _add(Plan, text_of_plan, html_of_plan)
    _add(Report, text_of_report, html_of_report)


def add_to_accounts() -> None:
    """Give Account `str()` and `_repr_html_`."""
    from ..models.account import Account

    _add(Account, text_of_account, html_of_text)


def _add(cls: type, text: Callable[..., str], html: Callable[..., str]) -> None:
    for method, function in {"__str__": lambda result: fit_columns(text(result), COLUMNS.get()), "_repr_html_": html}.items():
        setattr(cls, method, function)
