"""Trees merge as OmegaConf merges them."""

from __future__ import annotations

import pytest
from placewright.models.composition.settings import Unmergeable, embed, mark_unknown, merge
from placewright.models.text.interpolation import Interpolator
from placewright.models.text.source import Source
from placewright.models.text.tree import UNRESOLVED, MapNode, Scalar, find, plain


def merge_texts(below: str, above: str) -> MapNode:
    root = Source("below.yaml", below).root
    return merge(root, Source("above.yaml", above).root, Interpolator(root, partial=True).target)


@pytest.mark.parametrize(
    ("below", "above", "both"),
    [
        ("{a: 1, b: 2}", "{b: 3, c: 4}", {"a": 1, "b": 3, "c": 4}),
        ("{a: {x: 1}}", "{a: {y: 2}}", {"a": {"x": 1, "y": 2}}),
        ("{a: [1, 2]}", "{a: [3]}", {"a": [3]}),
        ("{a: {x: 1}}", "{a: null}", {"a": None}),
        ("{a: null}", "{a: {x: 1}}", {"a": {"x": 1}}),
        ("{a: {x: 1}}", "{a: 5}", {"a": 5}),
        ("{a: 1}", "{a: '???'}", {"a": 1}),
        ("{b: 1}", "{a: '???'}", {"b": 1, "a": "???"}),
        ("{t: {x: 1}, a: '${t}'}", "{a: {y: 2}}", {"t": {"x": 1}, "a": {"x": 1, "y": 2}}),
        ("{t: {x: 1}, a: '${t}'}", "{a: 2}", {"t": {"x": 1}, "a": 2}),
        ("{a: '${nope}'}", "{a: {y: 2}}", {"a": {"y": 2}}),
        ("{a: {x: 1}}", "{a: '${t}'}", {"a": "${t}"}),
    ],
)
def test_what_comes_of_two(below: str, above: str, both: object) -> None:
    assert plain(merge_texts(below, above)) == both


@pytest.mark.parametrize(("below", "above"), [("{a: {b: {x: 1}}}", "{a: {b: [1]}}"), ("{a: {b: [1]}}", "{a: {b: {x: 1}}}")])
def test_a_map_and_a_list_do_not_merge(below: str, above: str) -> None:
    with pytest.raises(Unmergeable, match=r"a\.b"):
        merge_texts(below, above)


def test_every_value_keeps_its_place() -> None:
    root = merge_texts("a: {x: 1, y: 2}\n", "a: {y: 3}\n")
    x, y, a = find(root, "a.x"), find(root, "a.y"), find(root, "a")
    assert [value.span.file for value in (x, y, a) if value is not None] == ["below.yaml", "above.yaml", "above.yaml"]


def test_a_value_below_a_package() -> None:
    value = Source("a.yaml", "x: 1\n").root
    assert plain(embed(value, "b.c", value.span)) == {"b": {"c": {"x": 1}}}
    assert embed(value, "", value.span) is value


def test_what_may_be_replaced_is_unknown() -> None:
    root = mark_unknown(Source("a.yaml", "a: {b: 1}\nc: [1]\n").root)
    assert all(isinstance(value := find(root, path), Scalar) and value.tag == UNRESOLVED for path in ("a.b", "c"))
