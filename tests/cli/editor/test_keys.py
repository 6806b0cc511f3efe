"""What may stand at a cursor follows from the keys above it and the braces before it."""

from __future__ import annotations

import pytest
from placewright.cli.editor.keys import meaning, path_at, suggestions

BLOCK = """cluster: 2x8xH100
components:
  actor:
    accelerators: 16
    |
  rollout: {accelerators: 8, |}
"""


def at_mark(marked: str) -> tuple[str, int, int]:
    """Text without its one `|`, and where that was."""
    before, _, after = marked.partition("|")
    return before + after, before.count("\n"), len(before.rpartition("\n")[2])


@pytest.mark.parametrize(
    ("marked", "path", "key"),
    [
        ("|", [], None),
        ("cl|", [], None),
        ("components:\n  |", ["components"], None),
        ("components:\n  actor:\n    |", ["components", "actor"], None),
        ("components:\n  actor: {ac|", ["components", "actor"], None),
        ("components:\n  actor: {accelerators: 8, parallel: {t|", ["components", "actor", "parallel"], None),
        ("components:\n  actor: {accelerators: 8, colocate_with: |", ["components", "actor"], "colocate_with"),
        ("components:\n  actor:\n    scaling: |", ["components", "actor"], "scaling"),
        ("cluster:\n  nodes:\n    - {repeat: 2, |", ["cluster", "nodes", "[]"], None),
        ("cluster:\n  nodes:\n    - repeat: 2\n      |", ["cluster", "nodes", "[]"], None),
        ("cluster:\n  nodes:\n  - repeat: 2\n    |", ["cluster", "nodes", "[]"], None),
        ("links: [{from: actor, |", ["links", "[]"], None),
        ("a:\n  b:\n    c: 1\nplan:\n  |", ["plan"], None),
    ],
)
def test_the_keys_around_a_cursor(marked: str, path: list[str], key: str | None) -> None:
    assert path_at(*at_mark(marked)) == (path, key)


def words(marked: str, dialect: str = "native") -> list[str]:
    return [suggestion.word for suggestion in suggestions(*at_mark(marked), dialect)]


def test_keys_are_those_of_the_schema_at_that_place() -> None:
    assert {"cluster", "components", "plan"} <= set(words("|"))
    assert {"accelerators", "parallel", "colocate_with"} <= set(words("components:\n  actor:\n    |"))
    assert words("components:\n  actor: {parallel: {|")[:2] == ["tp", "pp"]
    assert "from" in words("links: [{|")
    assert words("cluster: 2x8\nstranger:\n  |") == []


def test_hints_of_a_framework_are_completed_below_their_key() -> None:
    assert "components" in words("cluster:\n  num_nodes: 2\nplacewright:\n  |", "rlinf")


def test_values_are_words_and_names_of_components() -> None:
    assert {"power", "linear"} <= set(words("components:\n  actor:\n    scaling: |"))
    assert words("cluster: 2x8\ncomponents:\n  actor: {placement: 0-7}\n  rollout: {colocate_with: |}\n  env: {processes: 4}\n") == [
        "actor",
        "rollout",
        "env",
    ]


def test_a_key_has_a_meaning() -> None:
    text = "components:\n  actor: {accelerators: 8}\n"
    assert meaning(text, 1, 12, "native").startswith("how many accelerators it asks for")
    assert meaning(text, 1, 25, "native") == ""
