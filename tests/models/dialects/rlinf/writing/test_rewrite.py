"""Lines of `component_placement` that get another place: the fewest edits, in the file's own style."""

from __future__ import annotations

from typing import Mapping

import pytest
from placewright.models.dialects.rlinf.writing import PLACED, Line, rewrite
from placewright.models.findings.span import apply_edits
from placewright.models.text.source import Source
from placewright.models.text.tree import MapNode, find

SPLIT: dict[str, Line] = {"rollout": "0-5", "actor": "6-7"}


def rewritten(text: str, lines: Mapping[str, Line]) -> str:
    source = Source("run.yaml", text)
    placed = find(source.root, PLACED)
    assert isinstance(placed, MapNode)
    return apply_edits(text, rewrite(source, placed, lines))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    rollout: 0-7\n    actor: 0-7  # trains\n", "    rollout: 0-5\n    actor: 6-7  # trains\n"),
        ("    actor,rollout: all  # both\n    env: 0\n", "    actor: 6-7\n    rollout: 0-5  # both\n    env: 0\n"),
        ("    actor, rollout, env: all\n", "    env: all\n    actor: 6-7\n    rollout: 0-5\n"),
        ("    'actor,rollout': all", "    actor: 6-7\n    rollout: 0-5"),
        (
            "    actor:\n      node_group: cluster\n      placement: all\n    rollout: 0-5\n",
            "    actor: 6-7\n    rollout: 0-5\n",
        ),
        (
            "    actor,env:\n      node_group: cluster\n      placement: all\n    rollout: 0-5\n",
            "    env:\n      node_group: cluster\n      placement: all\n    actor: 6-7\n    rollout: 0-5\n",
        ),
    ],
)
def test_each_style_of_lines(before: str, after: str) -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    assert rewritten(head + before, SPLIT) == head + after


def test_a_flow_map_and_json_keep_their_form() -> None:
    text = "cluster: {num_nodes: 1, component_placement: {actor: 0-7, rollout: 0-7}}\n"
    assert rewritten(text, SPLIT) == "cluster: {num_nodes: 1, component_placement: {actor: 6-7, rollout: 0-5}}\n"
    text = '{"cluster": {"num_nodes": 1, "component_placement": {"actor,rollout": "all"}}}'
    assert rewritten(text, SPLIT) == '{"cluster": {"num_nodes": 1, "component_placement": {"actor": "6-7", "rollout": "0-5"}}}'
    text = '{"cluster": {"component_placement": {"actor,rollout": "all"}}}'
    grouped: dict[str, Line] = {"actor": {"node_group": "a", "placement": "1:30"}}
    after = '{"rollout": "all", "actor": {"node_group": "a", "placement": "1:30"}}'
    assert rewritten(text, grouped) == f'{{"cluster": {{"component_placement": {after}}}}}'


def test_components_that_come_and_go() -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    text = head + "    rollout: 0-3\n    inference: 4-5\n    actor: 6-7\n"
    everything: dict[str, Line] = {"actor": "all", "rollout": "all", "inference": None}
    assert rewritten(text, everything) == head + "    rollout: all\n    actor: all\n"
    assert rewritten(head + "    actor,rollout: all\n", everything) == head + "    actor,rollout: all\n"


def test_other_node_groups_are_written_in_the_long_form_and_back() -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    long = head + "    actor: {node_group: a800, placement: 0-3}\n"
    assert rewritten(head + "    actor: 0-7\n", {"actor": {"node_group": "a800", "placement": "0-3"}}) == long
    assert rewritten(long, {"actor": "0-7"}) == head + "    actor: 0-7\n"


def test_what_stays_keeps_its_words() -> None:
    head = "cluster:\n  num_nodes: 1\n  component_placement:\n"
    before = head + "    actor,rollout: 0-3:0-3,4-7:4-7\n    env: 0-0\n"
    after = head + "    actor: 0-3:0-3,4-7:4-7\n    rollout: 0-5\n    env: 0-0\n"
    assert rewritten(before, {"rollout": "0-5"}) == after
