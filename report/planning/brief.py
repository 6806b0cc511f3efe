"""Account of a plan on one screen: price, bottleneck, alternatives, sensitivity."""

from __future__ import annotations

from typing import Iterator

from ...models.account import BETWEEN, BEYOND, ESTIMATED, FORMULA, Account
from ...solver.wording import listed
from ..terminal import escape
from .alternatives import alternatives
from .flips import sensitivities
from .own import own_placement
from .text import components, headline
from .words import percent, seconds, task_name, total

MOST = 2
"""Maximum number of tasks named as the bottleneck."""
NOTICED = 10
"""Least percentage of an iteration for a bottleneck task."""


def render_brief(account: Account) -> list[str]:
    """Return the blocks of the account; `-v` adds usage, memory and measurements."""
    first = [headline(account), components(account), *_bottleneck(account), *_assumed(account)]
    blocks = ["\n".join(first), own_placement(account), alternatives(account, brief=True), sensitivities(account)]
    return [block for block in blocks if block]


def _bottleneck(account: Account) -> Iterator[str]:
    """`bottleneck: rollout adds 125.1 seconds (57 %) and critic.train adds 90 (41 %)`."""
    whole = total(account.planned.best)
    adds = sorted(((time, task) for task, time in account.shares.items() if time * 100 >= whole * NOTICED), key=lambda entry: -entry[0])
    named = [f"{task_name(account.planned.question, task)} adds {seconds(time)} ({percent(time, whole)})" for time, task in adds[:MOST]]
    if named:
        yield escape(f"bottleneck: {listed(named)} of {seconds(whole)} seconds")


def _assumed(account: Account) -> Iterator[str]:
    """`assumed: times interpolated for rollout and actor; times extrapolated for reference`."""
    question, parts = account.planned.question, list[str]()
    for kind, how in ((BETWEEN, "times interpolated for"), (BEYOND, "times extrapolated for"), (FORMULA, "times by a formula for")):
        names = [task_name(question, basis.task) for basis in account.bases if basis.kind == kind]
        parts += [f"{how} {listed(names)}"] if names else []
    any_degrees = [task_name(question, basis.task) for basis in account.bases if basis.any_degrees]
    parts += [f"the same time with any degrees for {listed(any_degrees)}"] if any_degrees else []
    entries = [entry for bill in account.bills for entry in bill.peak.entries]
    estimated = list(dict.fromkeys(entry.component for entry in entries if entry.origin == ESTIMATED))
    parts += [f"memory estimated for {listed(estimated)}"] if estimated else []
    if parts:
        yield escape(f"assumed: {'; '.join(parts)} (`-v` says more)")
