"""Interpolations: what is resolved, what is unknown, what is impossible."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.text.interpolation import Interpolator
from placewright.models.text.source import Source
from placewright.models.text.tree import UNRESOLVED, Scalar, find, plain

BASE = """
a: {b: 3, c: "${.b}", d: "${..e.0}", n: "x${.b}y${a.b}"}
e: [7, "${a.b}"]
name: a
bad: ${nope}
"""


def resolved(text: str, base: str = BASE, **environment: str) -> tuple[object, Interpolator]:
    root = Source("t.yaml", f"{base}value: {text}\n").root
    interpolator = Interpolator(root, environment)
    value = root.get("value")
    assert value is not None
    return plain(interpolator.tree(value, ("value",))), interpolator


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${a.b}", 3),
        ("${a.c}", 3),
        ("${a.d}", 7),
        ("${a.n}", "x3y3"),
        ("${e[1]}", 3),
        ("${e.1}", 3),
        ("${.a.b}", 3),
        ("${${name}.b}", 3),
        ("${a}", {"b": 3, "c": 3, "d": 7, "n": "x3y3"}),
        ("'${a.b}-${e.0}'", "3-7"),
        ("'\\${a.b}'", "${a.b}"),
        ('"${multiply:${a.b}, 4}"', 12),
        ('"${int_div:${multiply:${a.b}, ${e.0}}, 5}"', 4),
        ('"${subtract:${a.b},10}"', -7),
        ("${not:${a.b}}", False),
        ("${oc.decode:'12'}", 12),
        ("${oc.select:nope,5}", 5),
        ("${oc.select:nope}", None),
        ("'${oc.select:.nope,5}'", 5),
        ("'${oc.select:\"e[9]\",5}'", 5),
        ("'\\\\${a.b}'", "\\3"),
        ("'\\\\\\${a.b}'", "\\${a.b}"),
        ("'${oc.select:nope,\\${a.b}}'", "\\3"),
        ("'${oc.select:nope,x\\ y}'", "x y"),
        ("\"${oc.select:nope,'x~y'}\"", "x~y"),
        ("${oc.select:nope,/x-y/$z}", "/x-y/$z"),
        ("${oc.select:a.b,5}", 3),
        ("${oc.env:NODES}", "4"),
        ("'${oc.decode:${oc.env:NODES}}'", 4),
    ],
)
def test_a_value_is_what_omegaconf_makes_of_it(text: str, value: object) -> None:
    found, interpolator = resolved(text, NODES="4")
    assert found == value
    assert (interpolator.findings, interpolator.unchecked) == ([], [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("${oc.env:HOME}", "the environment variable `HOME` is not read: `--allow-env` does not name it, or it is not set"),
        ("'${oc.env:HOME,here}'", "the environment variable `HOME` is not read: `--allow-env` does not name it, or it is not set"),
        ("${torch.dtype:bf16}", "`torch.dtype` is not among the resolvers that are computed"),
        ("'${multiply:2,${name}}'", "`multiply` is known for numbers, not for 2 and 'a'"),
        ("???", "`???` is to be given when the job is started"),
        ("'x${a}'", "a map or a list inside a text is not followed"),
        ('"${oc.select:nope,[1]}"', "`oc.select` of a map or a list is not computed"),
        ("{x: '${value}'}", "the map or list that it refers to holds itself, or is nested too deeply"),
    ],
)
def test_what_is_not_known_here_is_said_to_be_unchecked(text: str, why: str) -> None:
    _, interpolator = resolved(text)
    assert [unchecked.why for unchecked in interpolator.unchecked] == [why]
    assert interpolator.findings == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${nope.x}", "`${nope.x}` cannot be resolved: there is no `nope.x` in this file"),
        ("${value}", "`${value}` cannot be resolved: it refers to itself"),
        ("${...a}", "`${...a}` cannot be resolved: `...a` leads above the top of the file"),
        ("'${int_div:1,0}'", "`${int_div:1,0}` cannot be resolved: `int_div` divides 1 by zero"),
        ("${oc.decode:1}", "`${oc.decode:1}` cannot be resolved: `oc.decode` takes text, not 1"),
        ("${e.${e.0}}", "`${e.${e.0}}` cannot be resolved: a part of its key is `7`, which is not a text"),
        ("${a..b}", "`${a..b}` cannot be resolved: `a..b` has an empty key"),
        ("'${oc.env:HOME,~/x}'", "`${oc.env:HOME,~/x}` cannot be resolved: text with `~` needs quotes"),
        ("'${oc.select:nope,x=y}'", "`${oc.select:nope,x=y}` cannot be resolved: text with `=` needs quotes"),
        ("'${oc.select:7,1}'", "`${oc.select:7,1}` cannot be resolved: `oc.select` takes a key and a default"),
        ("'${oc.select:bad,1}'", "`${oc.select:bad,1}` cannot be resolved: there is no `nope` in this file"),
        ("'${oc.decode:\"x~y\"}'", '`${oc.decode:"x~y"}` cannot be resolved: text with `~` needs quotes'),
        ("'${a.b'", "`${a.b` cannot be resolved: `${` is not closed by `}`"),
    ],
)
def test_what_no_run_can_resolve_is_an_error_with_its_place(text: str, message: str) -> None:
    _, interpolator = resolved(text)
    assert [(finding.code, finding.message) for finding in interpolator.findings] == [("PW120", message)]
    assert interpolator.findings[0].span is not None


def test_a_key_that_may_come_from_defaults_is_unknown_not_wrong() -> None:
    root = Source("t.yaml", "defaults: [base]\nvalue: ${nope.x}\n").root
    interpolator = Interpolator(root, partial=True)
    interpolator.tree(root.entries[1].value, ("value",))
    assert interpolator.findings == []
    assert "may come from `defaults`" in interpolator.unchecked[0].why


def test_a_value_keeps_both_places() -> None:
    source = Source("t.yaml", "n: 2\nm: ${n}\n")
    value = find(source.root, "m")
    assert value is not None
    found = Interpolator(source.root).tree(value, ("m",))
    assert isinstance(found, Scalar)
    assert found.origin is not None
    assert (found.span.line, found.origin.line, found.value) == (2, 1, 2)


def test_only_what_is_read_is_resolved() -> None:
    root = Source("t.yaml", "a: ${nope}\nb: 1\n").root
    interpolator = Interpolator(root)
    assert interpolator.tree(root.entries[1].value, ("b",)) is root.entries[1].value
    assert interpolator.findings == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"a{i}: '${{a{i + 1}}}${{a{i + 1}}}'" for i in range(40)) + "\na40: ''\n",
        "\n".join(f"a{i}: ['${{a{i + 1}}}', '${{a{i + 1}}}']" for i in range(40)) + "\na40: 1\n",
        "\n".join(f"a{i}: ${{a{i + 1}}}" for i in range(400)) + "\na400: 1\n",
        "a0: '" + "${" * 500 + "}" * 500 + "'\n",
    ],
)
def test_a_file_that_grows_without_end_is_given_up(text: str) -> None:
    root = Source("t.yaml", text).root
    interpolator = Interpolator(root)
    interpolator.tree(root.entries[0].value, ("a0",))
    assert interpolator.unchecked or interpolator.findings


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="${}.:,ab'\"\\ 01?[]", max_size=24))
def test_no_text_breaks_it(text: str) -> None:
    root = Source("t.yaml", "a: {b: 1}\nb: [1, '${a.b}']\n").root
    scalar = Scalar(text, "tag:yaml.org,2002:str", root.span)
    interpolator = Interpolator(root)
    found = interpolator.tree(scalar, ("c",))
    unresolved = isinstance(found, Scalar) and found.tag == UNRESOLVED
    assert unresolved == bool(interpolator.findings or interpolator.unchecked)
