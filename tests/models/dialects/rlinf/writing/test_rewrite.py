"""Lines of `component_placement` that get another place: the fewest edits, in the file's own style."""

from __future__ import annotations

from typing import Sequence

import pytest
from placewright.models.dialects.rlinf.writing import PlacementLine, rewrite_lines
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import apply_edits
from placewright.models.text.source import Source

SPLIT = {"rollout": PlacementLine("rollout", "0-5", ""), "actor": PlacementLine("actor", "6-7", "")}


def rewritten(text: str, lines: dict[str, PlacementLine | None], stays: Sequence[str] = ()) -> str:
    source = Source("run.yaml", text)
    return apply_edits(text, rewrite_lines(source, lines, stays))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    rollout: 0-7\n    actor: 0-7  # trains\n", "    rollout: 0-5\n    actor: 6-7  # trains\n"),
        ("    actor,rollout: all  # both\n    env: 0\n", "    actor: 6-7  # both\n    rollout: 0-5\n    env: 0\n"),
        ("    actor, rollout, env: all\n", "    env: all\n    actor: 6-7\n    rollout: 0-5\n"),
        ("    'actor,rollout': all", "    'actor': 6-7\n    rollout: 0-5"),
        (
            "    actor:\n      node_group: cluster\n      placement: all\n    rollout: 0-5\n",
            "    actor:\n      node_group: cluster\n      placement: 6-7\n    rollout: 0-5\n",
        ),
    ],
)
def test_each_style_of_lines(before: str, after: str) -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    assert rewritten(head + before, dict(SPLIT)) == head + after


def test_a_flow_map_and_json_keep_their_form() -> None:
    text = "cluster: {num_nodes: 1, component_placement: {actor: 0-7, rollout: 0-7}}\n"
    assert rewritten(text, dict(SPLIT)) == "cluster: {num_nodes: 1, component_placement: {actor: 6-7, rollout: 0-5}}\n"
    text = '{"cluster": {"num_nodes": 1, "component_placement": {"actor,rollout": "all"}}}'
    assert rewritten(text, dict(SPLIT)) == '{"cluster": {"num_nodes": 1, "component_placement": {"actor": "6-7", "rollout": "0-5"}}}'


def test_components_that_come_and_go() -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    text = head + "    rollout: 0-3\n    inference: 4-5\n    actor: 6-7\n"
    everything = {name: PlacementLine(name, "all", "") for name in ("actor", "rollout")}
    assert rewritten(text, {**everything, "inference": None}) == head + "    rollout: all\n    actor: all\n"
    assert rewritten(head + "    actor,rollout: all\n", {**everything, "inference": None}) == head + "    actor,rollout: all\n"
    flow = "cluster: {num_nodes: 1, component_placement: {actor: all, rollout: all}}\n"
    assert rewritten(flow, {**everything, "inference": None}, list(everything)) == flow
    new = {**SPLIT, "inference": PlacementLine("inference", "8-9", "")}
    assert rewritten(head + "    actor,rollout: all\n", new) == head + "    actor: 6-7\n    rollout: 0-5\n    inference: 8-9\n"


def test_other_node_groups_are_written_in_the_long_form_and_back() -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    long = head + "    actor:\n      node_group: a800\n      placement: 0-3\n"
    assert rewritten(head + "    actor: 0-7\n", {"actor": PlacementLine("actor", "0-3", "a800")}) == long
    assert rewritten(long, {"actor": PlacementLine("actor", "0-7", "")}) == head + "    actor: 0-7\n"


@pytest.mark.parametrize("text", ["defaults: [base]\n", "cluster:\n  component_placement: ${other}\nother: {actor: 0-7}\n"])
def test_lines_that_stand_elsewhere_are_not_rewritten(text: str) -> None:
    with pytest.raises(UnusableInput) as refused:
        rewritten(text, dict(SPLIT))
    assert [finding.code for finding in refused.value.findings] == ["PW603"]


def test_what_stays_keeps_its_words_and_what_is_not_written_yet_is_written() -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    before = head + "    actor,rollout: 0-3:0-3,4-7:4-7\n    env: 0-0\n"
    lines: dict[str, PlacementLine | None] = {"actor": PlacementLine("actor", "all", ""), "env": PlacementLine("env", "0", "")}
    assert rewritten(before, lines, ["actor", "env"]) == before
    lines["rollout"] = PlacementLine("rollout", "0-5", "")
    after = head + "    actor: 0-3:0-3,4-7:4-7\n    rollout: 0-5\n    env: 0-0\n"
    assert rewritten(before, lines, ["actor", "env"]) == after
    lines["reward"] = PlacementLine("reward", "all", "")
    new = head + "    actor: 0-3:0-3,4-7:4-7\n    rollout: 0-5\n    reward: all\n    env: 0-0\n"
    assert rewritten(before, lines, ["actor", "env", "reward"]) == new
