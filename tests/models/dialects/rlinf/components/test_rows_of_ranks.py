"""Rank expressions, row by row: what RLinf's parse_rank_config takes, in node ranks and in placements."""

from __future__ import annotations

import pytest

OK = ""

NODES = [
    ("a number is a rank", "1", OK),
    ("a range", "0-2", OK),
    ("several with commas", "'0,2'", OK),
    ("any order, the result is sorted", "'2,0'", OK),
    ("twice the same is once", "'0,0-1'", OK),
    ("`all` is every node", "all", OK),
    ("`all` in any case", "ALL", OK),
    ("`all` only as the whole text", "'all,0'", "PW103"),
    ("`all` without blanks around it", "' all '", "PW103"),
    ("blanks around an item", "' 0 - 2 '", OK),
    ("a plus sign", "'+1'", OK),
    ("leading zeros, in a text", "'00'", OK),
    ("underscores between digits, in a text", "'0-0_2'", OK),
    ("digits of other scripts, as Python's int()", "'\uff10-\uff12'", "(PW118)"),
    ("an item that is empty is skipped", "'0,,2,'", OK),
    ("nothing at all is a group without nodes, which is dropped", "''", "(PW112)"),
    ("three numbers are no range", "0-1-2", "PW103"),
    ("a negative one is none", "-1", "PW103"),
    ("text is none", "first", "PW103"),
    ("a decimal is none", "0.5", "PW103"),
    ("null is the text `None`", "~", "PW103"),
    ("a range does not run backwards", "2-1", "PW109"),
    ("the end must exist", "0-3", "PW102"),
    ("the start must exist", "3", "PW102"),
    ("a YAML list is documented, but not parsed", "[0, 2]", "(PW105)"),
    ("a list holds expressions", "[0-1, 2]", "(PW105)"),
    ("a map is none", "{a: 0}", "PW105"),
]


@pytest.mark.parametrize(("row", "text", "expected"), NODES, ids=[row for row, _, _ in NODES])
def test_node_ranks(codes, row: str, text: str, expected: str) -> None:
    found = codes(f"cluster:\n  num_nodes: 3\n  component_placement: {{}}\n  node_groups:\n  - label: a\n    node_ranks: {text}\n")
    assert found == expected


SEGMENTS = [
    ("one resource, one process", "0", OK),
    ("a number, as YAML reads it", "3", OK),
    ("a range", "0-7", OK),
    ("`all`", "all", OK),
    ("`all` in any case, with blanks", "' All '", OK),
    ("segments with commas, empty ones skipped", "'0-3,,8-11,'", OK),
    ("processes after a colon", "0-3:0-7", OK),
    ("fewer processes than resources", "0-7:0-1", OK),
    ("processes need not begin at 0", "0-1:5-6", OK),
    ("processes go on where they are not written", "0-1:0-3,3-5,7-10:6-9", "PW110"),
    ("the documented example", "0-1:0-3,3-5,7-10:7-14", OK),
    ("nothing", "''", "PW112"),
    ("commas alone", "','", "PW112"),
    ("two colons", "0:0:0", "PW103"),
    ("no resources", "':0-3'", "PW112"),
    ("no processes", "'0-3:'", "PW112"),
    ("processes are never `all`", "0-1:all", "PW103"),
    ("nor `ALL`", "0-1:ALL", "PW103"),
    ("a comma ends the segment", "'0-3:0,1'", "PW108"),
    ("out of range", "0-16", "PW102"),
    ("the documentation's 0-8 on one node of 8", "{node_group: one, placement: 0-8}", "PW102"),
    ("no text", "first", "PW103"),
    ("true is the text `True`", "true", "PW103 (PW118)"),
    ("1.5", "1.5", "PW103"),
    ("a list", "[0, 1]", "PW105"),
    ("null", "~", "PW112"),
    ("twice", "0-3,3-5", "PW108"),
    ("`all` and more", "all,0", "PW108"),
    ("descending", "8-11,0-3", "PW109"),
    ("a gap in the processes", "0-1:0-1,2-3:3-4", "PW110"),
    ("processes that go back", "0-1:2-3,2-3:0-1", "PW110"),
    ("neither is a multiple of the other", "0-3:0-5", "PW111"),
    ("one of the two is: more processes", "0-3:0-11", OK),
    ("one of the two is: more resources", "0-5:0-1", OK),
    ("the documentation's 201 processes on 2 nodes", "{node_group: node, placement: '0-1:0-200'}", "PW111"),
    ("a process on two nodes, at launch", "6-9:0", "PW203"),
    ("a process with two nodes", "{node_group: node, placement: '0-1:0'}", "PW203"),
    ("octal: YAML's 010 is 8", "010", "(PW118)"),
    ("sexagesimal: YAML's 1:10 is 70", "1:10", "PW102 (PW118)"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "text", "expected"), SEGMENTS, ids=[row for row, _, _ in SEGMENTS])
def test_placements(codes, row: str, text: str, expected: str) -> None:
    text = f"cluster:\n  num_nodes: 2\n  node_groups: [{{label: one, node_ranks: 0}}]\n  component_placement:\n    actor: {text}\n"
    assert codes(text) == expected
