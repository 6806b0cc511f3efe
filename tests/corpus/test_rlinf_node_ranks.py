"""Which rank each live node gets: RLinf's own answers, replayed."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.machines.node import Node, accelerators
from placewright.runtime.world.rlinf_ranks import LiveNode
from placewright.runtime.world.rlinf_ranks import ranked_nodes as ranked

GOLDEN = Path(__file__).parents[3] / "shared" / "corpus" / "rlinf" / "golden" / "random_noderank.jsonl.gz"
pytestmark = pytest.mark.skipif(not GOLDEN.is_file(), reason="the corpus is not beside the repository")

Record = dict[str, Any]


def live(node: Record) -> LiveNode:
    vendor = Node(0, "", accelerators(node["accelerators"], node["model"])).accelerator_type
    return LiveNode(node["ip"], vendor, node["node_rank_env"], node["head"])


def test_every_record_is_answered_alike() -> None:
    counts: Counter[str] = Counter()
    with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            section, output = record["input"]["cluster"], record["output"]
            nodes = [live(node) for node in record["input"]["nodes"]]
            found = ranked(nodes, section["num_nodes"], has_groups=bool(section.get("node_groups")))
            errors = [finding for finding in found.findings if finding.severity is Severity.ERROR]
            assert (found.order is None) == bool(errors), record["id"]
            ours = None if found.order is None else [nodes[position].address for position in found.order]
            types = None if found.order is None else [nodes[position].vendor for position in found.order]
            theirs = output["node_ips"] if output["ok"] else None
            same = ours == theirs
            if same and theirs is not None:
                models = [(node["model"] or "NO_ACCEL:").split(":")[0] for node in output["resolved"]["nodes"]]
                same = types == models
            counts["equal" if same else "wrong"] += 1
            if same and ours is not None:
                warned = len(nodes) > section["num_nodes"]
                assert [finding.code for finding in found.findings] == ["PW114"] * warned
    print(f"\nrandom_noderank: {dict(counts)}")
    assert counts == {"equal": 100}
