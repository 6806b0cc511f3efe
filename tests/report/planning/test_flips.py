"""What flips a plan where a hint is wrong, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from placewright.report.planning.flips import sensitivities
from placewright.solver.planning.after.flips.flip import QUICKEST, SLOWEST, Flip, Sensitivity

from .accounts import BY_HAND, CROSSING, account


def test_each_side_is_said_to_be_one_thing(tmp_path: Path) -> None:
    flips = (
        Flip("rollout", SLOWEST), Flip("rollout", 81, sure=False),
        Flip("reward", SLOWEST), Flip("reward", QUICKEST),
        Flip("actor", 112, sure=False),
    )  # fmt: skip
    found = replace(account(tmp_path, BY_HAND, 0), sensitivity=Sensitivity(flips, (("actor", QUICKEST),)))
    assert sensitivities(found).splitlines()[1:] == [
        "  stays with rollout up to 2x; reward from 0.5x to 2x",
        "  holds at least with rollout down to 0.81x; actor up to 1.12x, and was not searched beyond",
        "  not searched: actor quicker",
    ]


def test_a_flip_is_told_where_its_figures_hold_and_of_what_was_compared(tmp_path: Path) -> None:
    """One percent beyond what holds; of the plan as it was compared, not with what fills accelerators that nobody else needs."""
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    planned, best = found.planned, found.planned.best
    flip = Flip("rollout", 117, 118, best, best.nanoseconds)
    filled = replace(best, design=replace(best.design, blocks=(replace(best.design.blocks[0], accelerators=100), *best.design.blocks[1:])))
    its = replace(found, planned=replace(planned, best=filled, lean=best.design), sensitivity=Sensitivity((flip,)))
    line = sensitivities(its).splitlines()[1]
    assert line.startswith("  flips if rollout takes over 1.17x: at 1.18x ") and " seconds on as many accelerators instead of " in line


def test_where_accelerators_are_to_be_few_both_plans_are_told_with_their_time(tmp_path: Path) -> None:
    """`10 accelerators instead of 8, which take 240 seconds` could be read as the time of the ten, and 240 are not allowed."""
    text = BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}").replace(
        "placement: 12-15", "accelerators: 4"
    )
    found = account(tmp_path, text, 0)
    best = found.planned.best
    block = replace(best.design.blocks[0], accelerators=best.design.blocks[0].accelerators + 1)
    more = replace(best, design=replace(best.design, blocks=(block, *best.design.blocks[1:])), nanoseconds=180_000_000_000)
    its = replace(found, sensitivity=Sensitivity((Flip("rollout", 117, 118, more, 201_500_000_000),)))
    held = best.design.held(found.planned.question)
    told = f"at 1.18x {held + 1} accelerators (180 seconds) instead of {held} (201.5 seconds): "
    assert told in sensitivities(its)


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
    assert line(Flip("rollout", 93, sure=False), Flip("rollout", 112, sure=False)).startswith(
        "  holds at least with rollout from 0.93x to 1.12x, "
    )


def test_a_plan_that_may_only_take_so_long_flips_too_where_it_takes_longer(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    text = sensitivities(replace(found, sensitivity=Sensitivity((Flip("rollout", SLOWEST),))))
    assert "the plan flips when fewer accelerators are enough, or it takes more than 200 seconds:" in text


NESTED = "plans in which a component uses only some of another's accelerators"


def test_it_is_said_what_is_looked_at_and_not_more(tmp_path: Path) -> None:
    """It was `stays whatever actor takes`: one component's times, all by the same factor, between two ends."""
    found = replace(account(tmp_path, BY_HAND, 0), sensitivity=Sensitivity((Flip("actor", SLOWEST), Flip("actor", QUICKEST))))
    title = "where the times of one component are wrong, all of them alike (from 0.5x to 2x), the plan flips when another is 5 % better:"
    assert sensitivities(found) == f"{title}\n  stays with actor from 0.5x to 2x"


def test_where_traffic_of_others_is_not_known_it_only_may_flip(tmp_path: Path) -> None:
    found = account(tmp_path, CROSSING, 0)
    best = found.planned.best
    its = Sensitivity((Flip("rollout", 139, 140, best, 2 * best.nanoseconds),), traffic_left_out=True)
    line = sensitivities(replace(found, sensitivity=its)).splitlines()[1]
    assert line.startswith("  may flip if rollout takes over 1.39x: at 1.40x at least ")
    broken = replace(its, flips=(Flip("rollout", 139, 140, None, 1),))
    assert sensitivities(replace(found, sensitivity=broken)).splitlines()[1].startswith("  flips if rollout takes over 1.39x: ")


def test_what_flips_one_way_says_how_far_it_stays_the_other(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND, 0)
    best = found.planned.best
    flips = (Flip("rollout", 139, 140, best, 2 * best.nanoseconds), Flip("rollout", QUICKEST))
    lines = sensitivities(replace(found, sensitivity=Sensitivity(flips))).splitlines()
    assert len(lines) == 3 and lines[2] == "  stays with rollout down to 0.5x"


def test_of_what_is_only_known_to_be_better_there_may_be_less(tmp_path: Path) -> None:
    """Wherever the flip lies: `20 seconds` was said of the best that was known, where nothing between was searched."""
    found = account(tmp_path, BY_HAND, 0)
    best = found.planned.best
    flip = Flip("rollout", 112, 140, best, 2 * best.nanoseconds, sure=False)
    assert " seconds or less instead of " in sensitivities(replace(found, sensitivity=Sensitivity((flip,))))
