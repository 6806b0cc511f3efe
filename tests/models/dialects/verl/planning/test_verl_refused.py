"""Which counts and degrees verl takes is found by reading each once, without hints: it is what reading every file in full finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import placewright as pw
import pytest
from placewright.models.composition import Composer
from placewright.models.dialects import pool_sizes as refused
from placewright.models.dialects.load import ReadParameters, read
from placewright.models.dialects.verl import reader
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.pools import Pool
from placewright.models.reading import FileSession, Reading
from placewright.models.text.source import Source
from placewright.planner.write_back import edits_of

from ...followed_files import ACTOR, MEGATRON, ROLLOUT, VERL, rows
from .test_verl_anew import HYBRID

OPEN = "parallel: {tp: [1, 2, 4]}, "
LEADERS = {"actor": (1, f'"${{{ACTOR}}}"'), "rollout": (f'"${{{ROLLOUT}}}"', 1), "sizes": (1, '"${trainer.n_gpus_per_node}"')}
"""Whose number holds for both -> tp of actor and of rollout, as they are written."""
PIN = Composer(frameworks=("verl==b178a3cd",))
"""Workers of later releases ask for no whole micro batches."""


def of(leader: str, actor: str = OPEN, rollout: str = OPEN) -> str:
    random, (actor_tp, rollout_tp) = Random(3), LEADERS[leader]
    return VERL.format(
        actor_keys=MEGATRON.format(actor_tp), rollout_tp=rollout_tp, actor_parallel=actor, rollout_parallel=rollout,
        actor=rows((2, 4), random), rollout=rows((2, 4), random),
    ).replace("n_gpus_per_node: 8", "n_gpus_per_node: 2")  # fmt: skip


def planned(text: str, cluster: str) -> Reading:
    return read(Source("run.yaml", text), read_shorthand(cluster), "verl").to_solve


def known(reading: Reading) -> list[object]:
    assert reading.problem is not None
    job = reading.problem.job
    return [
        job.planning.accepted,
        job.choices,
        job.planning.tied,
        [(each.degrees, each.changes, each.accepted) for each in job.planning.followed],
        reading.findings,
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("actor", "rollout"), [(OPEN, OPEN), ("", OPEN), (OPEN, "")])
@pytest.mark.parametrize("leader", LEADERS)
def test_it_is_what_reading_every_file_in_full_finds(monkeypatch: pytest.MonkeyPatch, leader: str, actor: str, rollout: str) -> None:
    text = of(leader, actor, rollout)
    found = known(planned(text, "1x4"))

    def each_anew(self: refused.SizeReader, pool: Pool, size: refused.Size, changes: refused.Changes) -> refused.Found:
        return self.again({**changes, pool.nodes_key: size[0], pool.accelerators_key: size[1]}, pool)

    change = reader.VerlReader.change
    monkeypatch.setattr(reader.VerlReader, "change", lambda self, changes, level, with_hints=True: change(self, changes, self.level))
    monkeypatch.setattr(refused.SizeReader, "read", each_anew)
    assert found == known(planned(text, "1x4"))


@pytest.mark.slow
@pytest.mark.parametrize("leader", ["actor", "rollout"])
def test_each_size_with_each_pair_of_degrees_is_read_once(monkeypatch: pytest.MonkeyPatch, leader: str) -> None:
    """With several trees of the file: those with the choices of one component, of the other, and of both. None is read to write the plan."""
    judge, read_ = reader.judge, Counter[tuple[int, ...]]()

    def judged(setup: reader.Setup, level: str, models: bool = True) -> None:
        judge(setup, level, models)
        if not models:
            degrees = (each.parallel.tp for each in setup.components)
            read_[(setup.pools[0].count, setup.pools[0].parts[0].size, *degrees)] += 1

    monkeypatch.setattr(reader, "judge", judged)
    reading = planned(of(leader), "4x8")
    assert edits_of(
        replace(reading, session=FileSession(ReadParameters("run.yaml", None, "verl", "placement", None))), pw.solve(reading, sandbox=False)
    )[0]
    dealt = {its for its in read_ if 96 * 8 % (its[0] * its[1]) == 0}  # of other counts not all degrees need be read
    sizes = {its[:2] for its in dealt}
    assert dealt == {(*size, actor, rollout) for size in sizes for actor in (1, 2, 4) for rollout in (1, 2, 4)}
    assert set(read_.values()) == {1}


def test_hints_of_counts_do_not_hide_what_verl_refuses() -> None:
    """Of a pool it counted the fewest that the hints of its component ask for: any count was taken, and a refused file passed."""
    hinted = HYBRID.replace("{seconds", "{accelerators: 4-32, seconds")
    plain, its = (planned(text, "4x8").problem for text in (HYBRID, hinted))
    assert plain is not None and its is not None and plain.job.planning.accepted == its.job.planning.accepted
    wrong = read(Source("run.yaml", hinted.replace("nnodes: 1", "nnodes: 3")), read_shorthand("4x8"), "verl", "training", PIN)
    assert [each.code for each in pw.verify(wrong).errors] == ["PW401", "PW403"]


def test_where_there_is_more_to_read_than_is_read_the_rest_is_judged_once_it_is_planned_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (refused, reader):
        monkeypatch.setattr(module, "MOST_READ", 30)
    reading = planned(of("actor"), "1x4")
    told = "30 sizes with degrees were read; which of the others verl takes is judged once they are planned"
    assert told in {each.why for each in reading.unchecked}
    assert pw.solve(reading, sandbox=False).plan is not None
