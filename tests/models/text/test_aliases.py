"""Aliases and merges are expanded as the frameworks expand them, within a budget, and every value knows both of its places."""

from __future__ import annotations

import pytest
from placewright.models.findings.causes import of_one_use
from placewright.models.findings.finding import UnusableInput, error
from placewright.models.findings.span import Edit
from placewright.models.text.edit import with_entry, without_entry
from placewright.models.text.source import Source
from placewright.models.text.tree import MapNode, find

MERGED = """\
base: &base {tp: 2, gpus: &gpus [0, 1, 2]}
actor:
  <<: *base
  tp: 4
infer: {gpus: *gpus}
"""


def place(text: str, path: str) -> tuple[str, str]:
    """What stands at the place of a value, and at the alias that it came through."""
    found = find(Source("a.yaml", text).root, path)
    assert found is not None
    span, alias = found.span, found.span.alias
    return text[span.start : span.end], text[alias.start : alias.end] if alias else ""


@pytest.mark.parametrize(
    ("path", "written", "alias"),
    [
        ("base.gpus", "[0, 1, 2]", ""),
        ("actor.gpus", "[0, 1, 2]", "*base"),
        ("actor.tp", "4", ""),
        ("infer.gpus", "[0, 1, 2]", "*gpus"),
        ("base", "{tp: 2, gpus: &gpus [0, 1, 2]}", ""),
    ],
)
def test_a_value_knows_where_it_stands_and_where_it_is_used(path: str, written: str, alias: str) -> None:
    assert place(MERGED, path) == (written, alias)


def test_a_finding_shows_both_places_and_offers_no_edit_of_what_several_use() -> None:
    source = Source("a.yaml", MERGED)
    used, own = (find(source.root, path) for path in ("infer.gpus", "base.gpus"))
    assert used is not None and own is not None
    through = error("PW102", "infer", "said", used.span, edit=Edit(used.span, "x"))
    assert through.span is not None and through.origin is not None
    assert (through.span.line, through.origin.line, through.edit) == (5, 1, None)
    (here,) = of_one_use([error("PW102", "base", "said", own.span, edit=Edit(own.span, "x"))], source.shared)
    assert (here.span, here.origin, here.edit) == (own.span, None, None)
    kept = find(source.root, "actor.tp")
    assert kept is not None
    (free,) = of_one_use([error("PW102", "actor", "said", kept.span, edit=Edit(kept.span, "8"))], source.shared)
    assert free.edit is not None


def test_an_entry_is_taken_out_with_its_alias_and_merged_ones_are_left() -> None:
    source = Source("a.yaml", "x: &x 1\nm: {a: 2, b: *x}\nn: {<<: {a: 2}, b: 3}\n")
    plain_map, merged = source.root.get("m"), source.root.get("n")
    assert isinstance(plain_map, MapNode) and isinstance(merged, MapNode)
    edit = without_entry(source.text, plain_map, plain_map.entries[1])
    assert edit is not None and source.edit([edit]).text.splitlines()[1] == "m: {a: 2}"
    added = with_entry(source.text, plain_map, "c", "4")
    assert added is not None and source.edit([added]).text.splitlines()[1] == "m: {a: 2, b: *x, c: 4}"
    assert without_entry(source.text, merged, merged.entries[0]) is None
    assert with_entry(source.text, merged, "c", "4") is None


def test_an_answer_is_not_written_into_what_several_use() -> None:
    source = Source("a.yaml", MERGED)
    own = find(source.root, "base.gpus")
    assert own is not None
    with pytest.raises(UnusableInput, match="one value for several places"):
        source.edit([Edit(own.span, "x")])


def test_a_billion_laughs_are_one_finding_that_is_not_expanded() -> None:
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi")]
    with pytest.raises(UnusableInput) as caught:
        Source("a.yaml", "\n".join(lines)).root  # noqa: B018
    (finding,) = caught.value.findings
    assert finding.code == "PW004"
    assert "100,000 values" in finding.message
    assert finding.span is not None and finding.span.line == 6
