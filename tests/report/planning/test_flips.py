"""What flips a plan where a hint is wrong, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from placewright.report.planning.flips import sensitivities
from placewright.solver.planning.after.flips.flip import QUICKEST, SLOWEST, Flip, Sensitivity

from .accounts import BY_HAND, account


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
        "  holds at least, and was not searched beyond: rollout quicker to 0.81x and actor slower to 1.12x",
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
    assert line(Flip("rollout", 93, sure=False), Flip("rollout", 112, sure=False)).endswith("beyond: rollout from 0.93x to 1.12x")


def test_a_plan_that_may_only_take_so_long_flips_too_where_it_takes_longer(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", "batches: 5, minimise: accelerators, budget: {seconds: 200}"), 0)
    text = sensitivities(replace(found, sensitivity=Sensitivity((Flip("rollout", SLOWEST),))))
    assert "the plan flips when fewer accelerators are enough, or it takes more than 200 seconds (from 0.5x to 2x):" in text
