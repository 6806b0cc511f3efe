"""The plan against what else there is, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.findings.finding import error
from placewright.models.planning.planned import Unplaceable
from placewright.report.planning.against import alternatives, own_placement, sensitivities
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from placewright.solver.planning.after.account import Account
from placewright.solver.planning.after.flips.flip import QUICKEST, SLOWEST, Flip, Sensitivity
from placewright.solver.planning.after.own.own import Own

BY_HAND = """
cluster: 2x8xH100
components:
  rollout: {parallel: {tp: 2}, seconds: {8: 90, 16: 50}, phase: generate, memory: 60GiB, offloaded: 2GiB}
  reward: {seconds: {4: 20}, phase: infer, memory: 30GiB, placement: 12-15}
  actor: {parallel: {tp: 4}, seconds: {8: 70, 16: 40}, phase: train, memory: 60GiB, offloaded: 4GiB}
plan: {workflow: rollout -> reward => actor, batches: 5}
"""
CROSSING = """
cluster: 2x8xH100
components:
  rollout: {parallel: {tp: 2}, seconds: {4: 150, 8: 90, 16: 50}, phase: generate, memory: 60GiB, offloaded: 2GiB}
  actor: {parallel: {tp: 4}, seconds: {4: 110, 8: 60, 16: 40}, phase: train, memory: 60GiB, offloaded: 4GiB, traffic: 100GiB}
links: [{from: actor, to: rollout, weights: 14GiB}]
plan: {workflow: rollout -> actor, batches: 8, bandwidth: {node: 10GiB}}
"""


def account(tmp_path: Path, text: str, searches: int = 40) -> Account:
    (tmp_path / "job.yaml").write_text(text)
    return pw.account(tmp_path / "job.yaml", sandbox=False, searches=searches)


def test_ranks_that_the_file_fixes_are_compared_with_none(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND)
    open_ = account(tmp_path, BY_HAND.replace(", placement: 12-15", ""))
    assert found.without_ranks is not None
    assert open_.without_ranks is None
    assert found.without_ranks.planned.best == open_.planned.best
    said = "without the ranks of reward: 95 seconds (19.7 % less): rollout (tp 2), reward and actor (tp 4) on 16; "
    assert own_placement(found).startswith(said)
    assert said in "\n".join(render(found))
    data = to_data(found)["without_ranks"]
    assert isinstance(data, dict)
    assert (data["ranks_of"], data["seconds"], data["proved"]) == (["reward"], 95.0, True)


def test_ranks_that_cost_nothing(tmp_path: Path) -> None:
    text = """
cluster: 1x8xH100
components:
  rollout: {seconds: {4: 10}, scaling: table, placement: 0-3}
  actor: {seconds: {4: 10}, scaling: table}
plan: {workflow: rollout -> actor}
"""
    assert own_placement(account(tmp_path, text)) == "without the ranks of rollout: nothing better"


def test_further_ranks_are_not_asked_for_without_further_searches(tmp_path: Path) -> None:
    assert account(tmp_path, BY_HAND, 0).without_ranks is None


def test_traffic_is_named_where_it_makes_the_difference(tmp_path: Path) -> None:
    found = account(tmp_path, CROSSING, 0)
    (other,) = found.others
    assert other.priced.traffic > found.planned.best.traffic
    assert "actor adds 32.5 more and traffic adds 8.6 more; rollout adds 40 less" in alternatives(found)
    more = sum(time for _, time in other.adds) + other.priced.traffic - found.planned.best.traffic
    assert more == other.priced.nanoseconds + other.priced.traffic - found.planned.best.nanoseconds - found.planned.best.traffic


def test_what_was_not_placed_is_said(tmp_path: Path) -> None:
    found = account(tmp_path, CROSSING, 0)
    assert "not placed" not in alternatives(found)
    unsure = replace(found, planned=replace(found.planned, not_placed=(found.others[0].priced,)))
    assert alternatives(unsure).splitlines()[1].endswith(", not placed")
    assert [each["placed"] for each in to_data(unsure)["others"]] == [False]  # type: ignore[attr-defined]


def test_each_side_is_said_to_be_one_thing(tmp_path: Path) -> None:
    flips = (
        Flip("rollout", SLOWEST), Flip("rollout", 81, sure=False),
        Flip("reward", SLOWEST), Flip("reward", QUICKEST),
        Flip("actor", 112, sure=False),
    )  # fmt: skip
    found = replace(account(tmp_path, BY_HAND, 0), sensitivity=Sensitivity(flips, (("actor", QUICKEST),)))
    assert sensitivities(found).splitlines()[1:] == [
        "  stays whatever reward takes",
        "  stays with rollout slower",
        "  holds at least, and was not searched beyond: rollout to 0.81x and actor to 1.12x",
        "  not searched: actor quicker",
    ]


@pytest.mark.parametrize(
    ("more", "said"), [(1, "within less than 0.1 % of"), (30_000_000, "within less than 0.1 % of"), (10**9, "within 0.9 % of")]
)
def test_a_distance_is_never_rounded_to_none(tmp_path: Path, more: int, said: str) -> None:
    found = account(tmp_path, BY_HAND, 0)
    planned = replace(found.planned, proved=False, bound=found.planned.bound - more, structures=(2, 0))
    headline = render(replace(found, planned=planned))[0].splitlines()[0]
    assert said in headline
    assert "2 arrangements, none searched" in headline


def test_yours_is_to_be_kept_only_where_it_is_the_plan(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND, 0)
    found = replace(found, own=Own(found.planned.best))
    assert "as long as the plan, and not placed as well\n" in own_placement(found)
    same = replace(found, planned=replace(found.planned, is_own=True))
    assert "as good as the plan: keep it\n" in own_placement(same)
    best = found.planned.best
    fewer = replace(best, design=replace(best.design, blocks=best.design.blocks[:1]))
    assert "as long as the plan, on 4 accelerators more\n" in own_placement(replace(found, planned=replace(found.planned, best=fewer)))


def test_what_no_placement_has_is_named_with_its_reason(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND, 0)
    reason = error("PW601", "actor", "impossible: one rack has 16", help="")
    planned = replace(found.planned, unplaceable=(Unplaceable(found.others[0].priced, (reason,)),))
    assert "  no placement has 216.5 seconds (83.1 % more): " in alternatives(replace(found, planned=planned))
    data: Any = to_data(replace(found, planned=planned))
    assert [(each["seconds"], each["why"]) for each in data["not_placeable"]] == [(pytest.approx(216.5, abs=0.1), [reason.message])]


def test_the_traffic_of_what_was_not_placed_is_not_known(tmp_path: Path) -> None:
    """So that the time of given ranks, with their traffic, is not beside times without it and without a word."""
    (tmp_path / "job.yaml").write_text(CROSSING)
    account = pw.account(tmp_path / "job.yaml")
    assert account is not None and account.planned.best.traffic > 0
    text = alternatives(replace(account, given=True))
    assert "(not placed; what they take for traffic is not known):" in text and "traffic adds" not in text
    still = replace(account.planned, best=replace(account.planned.best, traffic=0))
    assert "traffic is not known" not in alternatives(replace(account, given=True, planned=still))


@pytest.mark.parametrize(
    ("percent", "fewer", "forbidden", "said"),
    [
        (4, 0, (), "4.0 % from the bound: keep it\n"),
        (5, 0, (), "5.0 % from the bound: keep it\n"),
        (6, 0, (), "6.0 % from the bound: the plan saves "),
        (4, 4, (), "4.0 % from the bound, on 4 accelerators more: the plan saves "),
        (4, 0, ("PW207: it does not divide",), "4.0 % from the bound: the plan saves "),
    ],
)
def test_yours_is_to_be_kept_near_the_best(tmp_path: Path, percent: int, fewer: int, forbidden: tuple[str, ...], said: str) -> None:
    """What may not be proposed is not to be kept, nor what holds more accelerators and is slower; a program is told the same."""
    found = account(tmp_path, BY_HAND, 0)
    best = found.planned.best
    blocks = best.design.blocks[:1] if fewer else best.design.blocks
    plan = replace(found.planned, best=replace(best, design=replace(best.design, blocks=blocks)))
    yours = Own(replace(best, nanoseconds=best.nanoseconds * (100 + percent) // 100), forbidden=forbidden)
    found = replace(found, planned=plan, own=yours)
    assert said in own_placement(found)
    assert to_data(found)["keep"] is found.keeps is (": keep it" in said)


def test_yours_that_is_as_good_is_to_be_kept_where_the_fewest_accelerators_are_asked(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    planned, best = found.planned, found.planned.best
    held = best.design.held(planned.question)
    for is_own, said in ((True, f" on {held} accelerators, as good as the plan: keep it\n  "), (False, f", the plan's are {held}: ")):
        its = replace(found, planned=replace(planned, is_own=is_own), own=Own(best))
        assert said in own_placement(its)
        assert to_data(its)["keep"] is its.keeps is is_own


def test_a_flip_is_told_where_its_figures_hold_and_of_what_was_compared(tmp_path: Path) -> None:
    """One percent beyond what holds; of the plan as it was compared, not with what fills accelerators that nobody else needs."""
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    planned, best = found.planned, found.planned.best
    flip = Flip("rollout", 117, 118, best, best.nanoseconds)
    held = best.design.held(planned.question)
    filled = replace(best, design=replace(best.design, blocks=(replace(best.design.blocks[0], accelerators=100), *best.design.blocks[1:])))
    its = replace(found, planned=replace(planned, best=filled, lean=best.design), sensitivity=Sensitivity((flip,)))
    line = sensitivities(its).splitlines()[1]
    assert line.startswith(f"  flips if rollout takes over 1.17x: at 1.18x {held} accelerators instead of {held}, which take ")


def test_what_is_not_known_of_a_flip_is_said(tmp_path: Path) -> None:
    """Up to where it holds in any case; that there may be something better still; that nothing is known that keeps to the budget."""
    found = account(tmp_path, BY_HAND, 0)
    best = found.planned.best

    def line(*flips: Flip) -> str:
        return sensitivities(replace(found, sensitivity=Sensitivity(flips))).splitlines()[1]

    assert line(Flip("rollout", 112, 140, best, 2 * best.nanoseconds, False)).startswith(
        "  flips if rollout takes over 1.39x, or sooner (it holds to 1.12x): at 1.40x "
    )
    assert line(Flip("rollout", 100, 60, best, 2 * best.nanoseconds, False)).startswith(
        "  flips if rollout takes under 0.61x, or sooner: at 0.60x "
    )
    assert " seconds or less instead of " in line(Flip("rollout", 139, 140, best, 2 * best.nanoseconds, False))
    assert line(Flip("rollout", 139, 140, None, 1, False)).endswith(": at 1.40x it breaks the budget")
    assert line(Flip("rollout", 139, 140, None, 1)).endswith(": at 1.40x nothing keeps to the budget")
    assert line(Flip("rollout", 93, sure=False), Flip("rollout", 112, sure=False)).endswith("beyond: rollout from 0.93x to 1.12x")


def test_a_plan_that_may_only_take_so_long_flips_too_where_it_takes_longer(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    text = sensitivities(replace(found, sensitivity=Sensitivity((Flip("rollout", SLOWEST),))))
    assert "the plan flips when fewer accelerators are enough, or it takes more than 200 seconds (from 0.5x to 2x):" in text
