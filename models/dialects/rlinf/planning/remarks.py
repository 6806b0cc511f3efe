"""What is said of a profile that does not go with the rest of its file: numbers that contradict each other, tables without a row."""

from __future__ import annotations

from typing import Collection, Mapping

from ....component import Component
from ....configuration.notes import Notes
from ....configuration.settings import Settings
from ....findings.wording import are, do, with_noun
from ....machines.cluster import Cluster
from ....planning.workload import Timed
from ..profiled import KEY
from .embodied import ENVIRONMENTS, environments
from .profile import BY_ENVIRONMENTS, Profile
from .reasoning import batch_of

CODE, IMPOSSIBLE = "PW604", "PW601"


def of_environments(notes: Notes, settings: Settings) -> None:
    """A warning where the number that the times are taken for is not the one that the workers start."""
    first, second = (settings.whole(path, CODE) if settings.has(path) else None for path in ENVIRONMENTS)
    if first and second and first.value != second.value:
        message = f"the times are those of {with_noun(first.value, 'environment')} (`{first.name}`, which RLinf's tool reads), but its workers start"
        message += f" {second.value} (`{second.name}`)"
        notes.warn(CODE, KEY, message, first.span or settings.top, "", f"write the same number for both, or drop `{first.name}`")


def of_updates(notes: Notes, settings: Settings) -> None:
    """A warning where the samples of a step are no whole number of updates."""
    batch = batch_of(settings)
    updates = settings.whole("algorithm.n_minibatches", CODE, 1)
    if batch and updates and batch.samples % batch.updates:
        message = f"{with_noun(batch.samples, 'sample')} of a step {do(batch.samples)} not divide into {updates.said}: RLinf's own tool refuses that"
        message += f", and here an update is taken to be {batch.samples // batch.updates} of them"
        notes.warn(CODE, KEY, message, updates.span or settings.top, "", "choose a number that divides them")


def of_rows(
    notes: Notes, settings: Settings, cluster: Cluster, placed: Mapping[str, Component], profile: Profile, times: Mapping[str, Timed],
    hinted: Collection[str],
) -> None:  # fmt: skip
    """An error for each component that no number of accelerators gives a share of environments that its table has a time for."""
    amount = environments(settings)
    for name in profile.shares:
        if amount is None or name in hinted or name not in times or times[name].measured:
            continue
        rows, key = profile.shares[name], BY_ENVIRONMENTS[name]
        total = cluster.numbering(placed[name].node_groups).size
        most, least = max(rows.seconds), -(-amount.value // total)
        message = f"impossible: `{key}` has times for {with_noun(most, 'environment')} on one accelerator at most, and {amount.value} on {total} {are(amount.value)}"
        message += f" {least} on each" if least > most else " none of its numbers on each"
        help = f"measure {least} on one accelerator, or add nodes" if least > most else "measure more numbers of environments"
        notes.error(IMPOSSIBLE, name, message, rows.span, "", help)
