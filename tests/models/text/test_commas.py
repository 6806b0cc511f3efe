"""Texts of a flow map that a comma has split are joined again."""

from __future__ import annotations

import pytest
from placewright.models.text.commas import JOINED, join_split
from placewright.models.text.source import read_yaml
from placewright.models.text.tree import Entry, MapNode, Scalar


def joined(text: str, joins_keys: bool = True) -> dict[str, str]:
    root = read_yaml("x.yaml", text)
    assert isinstance(root, MapNode)

    def is_bare(entry: Entry) -> bool:
        return isinstance(entry.value, Scalar) and entry.value.is_null

    entries = join_split(root, is_bare, lambda word: word[:1].isdigit(), joins_keys)
    return {entry.key.text: entry.value.text if isinstance(entry.value, Scalar) else "" for entry in entries}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{actor: 0-7}", {"actor": "0-7"}),
        ("{env: 8-11,12-15, actor: 0}", {"env": "8-11,12-15", "actor": "0"}),
        ("{actor,rollout: 0-7}", {"actor,rollout": "0-7"}),
        ("{actor, rollout,env: 0-3,5,7}", {"actor,rollout,env": "0-3,5,7"}),
        ("{actor: 0, rollout}", {"actor": "0", "rollout": ""}),
    ],
)
def test_keys_and_values_are_joined(text: str, expected: dict[str, str]) -> None:
    assert joined(text) == expected


def test_keys_stay_apart_where_only_values_are_joined() -> None:
    assert joined("{node_group: a, b, placement: 0,1}", joins_keys=False) == {"node_group": "a", "b": "", "placement": "0,1"}


def test_a_joined_text_spans_all_of_its_pieces() -> None:
    root = read_yaml("x.yaml", "{env: 8-11,12-15}")
    assert isinstance(root, MapNode)
    (entry,) = join_split(
        root, lambda entry: isinstance(entry.value, Scalar) and entry.value.is_null, lambda word: word[:1].isdigit(), True
    )
    assert isinstance(entry.value, Scalar)
    assert (entry.value.tag, entry.value.span.start, entry.value.span.length) == (JOINED, 6, 10)
