"""The ranks of live nodes: what decides them, and every reason for which RLinf does not start."""

from __future__ import annotations

import pytest
from placewright.runtime.world.rlinf_ranks import LiveNode
from placewright.runtime.world.rlinf_ranks import ranked_nodes as ranked


def nodes(*ranks: str | int | None) -> list[LiveNode]:
    """Nodes 10.0.0.1, 10.0.0.2, ... with these ranks, the first one the head."""
    return [LiveNode(f"10.0.0.{i + 1}", "NV_GPU", rank, head=i == 0) for i, rank in enumerate(ranks)]


def test_given_ranks_are_the_ranks() -> None:
    assert ranked(nodes(2, "0", " 1 "), 3, has_groups=True).order == (1, 2, 0)


def test_without_ranks_the_head_is_first_then_vendors_as_seen_then_addresses_as_text() -> None:
    live = [
        LiveNode("10.0.0.9", "NPU"),
        LiveNode("10.0.0.2", "NV_GPU"),
        LiveNode("10.0.0.10", "NPU"),
        LiveNode("10.0.0.1", "NV_GPU"),
        LiveNode("10.0.0.7", "NV_GPU", head=True),
    ]
    assert ranked(live, 5, has_groups=False).order == (4, 2, 0, 3, 1)
    assert ranked([live[0], LiveNode("10.0.0.3", rank=-1, head=True)], 2, has_groups=False).order == (1, 0)


def test_a_single_node_is_rank_0_whatever_it_says() -> None:
    assert ranked(nodes(None), 1, has_groups=True).order == (0,)
    assert ranked(nodes(7), 1, has_groups=False).order == (0,)


def test_of_more_nodes_the_first_are_taken_with_a_warning() -> None:
    found = ranked(nodes(None, None, None), 2, has_groups=False)
    assert found.order == (0, 1)
    assert [(f.code, f.severity.value) for f in found.findings] == [("PW114", "warning")]
    assert found.findings[0].message == "3 nodes joined, but `num_nodes` is 2: 10.0.0.3 is not used"


@pytest.mark.parametrize(
    ("ranks", "num_nodes", "has_groups", "message"),
    [
        ((0,), 2, False, "1 node joined, but `num_nodes` is 2: RLinf waits for the others forever"),
        ((0, "one"), 2, False, "`RLINF_NODE_RANK` of node 10.0.0.2 is `one`, which is no whole number"),
        ((0, ""), 2, False, "`RLINF_NODE_RANK` of node 10.0.0.2 is ``, which is no whole number"),
        ((0, None, 2), 3, False, "2 of 3 nodes have `RLINF_NODE_RANK`, 10.0.0.2 has not"),
        ((None, None), 2, True, "the file has node groups, but 10.0.0.1, 10.0.0.2 were started without `RLINF_NODE_RANK`"),
        ((0, 2), 2, False, "`RLINF_NODE_RANK` of node 10.0.0.2 is 2, but 2 nodes joined, so ranks are 0-1"),
        ((0, -2), 2, False, "`RLINF_NODE_RANK` of node 10.0.0.2 is -2, but 2 nodes joined, so ranks are 0-1"),
        ((0, 0), 2, False, "the ranks of the 2 nodes must be 0-1, but 0 is given twice and 1 is missing"),
        ((2, 0, 1), 2, False, "the job is started on node rank 2, but of 3 nodes only the first 2 are used"),
    ],
)
def test_what_rlinf_does_not_start_with(ranks: tuple[str | int | None, ...], num_nodes: int, has_groups: bool, message: str) -> None:
    found = ranked(nodes(*ranks), num_nodes, has_groups)
    assert found.order is None
    assert [finding.message for finding in found.findings] == [message]
    assert found.findings[0].help


def test_the_job_is_started_on_a_node_of_the_cluster() -> None:
    found = ranked([LiveNode("10.0.0.1"), LiveNode("10.0.0.2")], 2, has_groups=False)
    assert [finding.message for finding in found.findings] == ["no live node is the one that the job is started on"]
