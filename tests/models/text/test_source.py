"""Text is read within limits, and every value knows where it stands."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.findings.finding import UnusableInput
from placewright.models.findings.span import Edit, Span, apply_edits
from placewright.models.text import source as yaml_reader
from placewright.models.text.source import Source
from placewright.models.text.tree import ListNode, MapNode, Scalar, Value, find, plain
from sampling import examples

TEXT = "# \u6c49\n\u6c49: \u5b57\nb:\n  c: [1, 'x y', ]   # c\n  d:\n    - e: 5\n      f: |\n        text\n\nlast: 1:30\n"


@pytest.mark.parametrize(
    ("path", "written", "line", "column", "value"),
    [
        ("\u6c49", "\u5b57", 2, 4, "\u5b57"),
        ("b.c", "[1, 'x y', ]", 4, 6, [1, "x y"]),
        ("b.c.1", "'x y'", 4, 10, "x y"),
        ("b.d.0.e", "5", 6, 10, 5),
        ("b.d.0.f", "|\n        text\n", 7, 10, "text\n"),
        ("last", "1:30", 10, 7, 90),
    ],
)
def test_every_value_knows_its_characters(path: str, written: str, line: int, column: int, value: object) -> None:
    found = find(Source("a.yaml", TEXT).root, path)
    assert found is not None
    assert TEXT[found.span.start : found.span.end].rstrip("\n") == written.rstrip("\n")
    assert (found.span.line, found.span.column) == (line, column)
    assert plain(found) == value


@pytest.mark.parametrize("pure", [False, True])
def test_both_parsers_of_pyyaml_give_the_same(pure: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Source("a.yaml", TEXT).root
    if pure:
        monkeypatch.setattr(yaml_reader, "_LOADER", yaml.SafeLoader)
    assert Source("a.yaml", TEXT).root == expected


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("b: *x", "PW003", "is not defined before it"),
        ("a: &x [*x]", "PW003", "never ends"),
        ("a: &x 1\nb: &x 2", "PW003", "appears twice"),
        ("a: {<<: 3}", "PW003", "a map or a list of maps"),
        ("a: &x [1]\nb: {<<: [*x]}", "PW003", "a map or a list of maps"),
        ("a: &x {b: 1}\nb: {<<: *x, c: 1, c: 2}", "PW006", "twice"),
        ("a: &x " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 30 + "*x" + "]" * 30, "PW005", "64 levels"),
        ("a: 1\na: 2", "PW006", "twice"),
        ("a: !!python/object:os.system 1", "PW007", "tag"),
        ("a: !!python/object/apply:os.system [x]", "PW007", "tag"),
        ("a: " + "[" * 65 + "]" * 65, "PW005", "64 levels"),
        ("a: [" + "1," * 100_001 + "]", "PW002", "100,000"),
        ("a: " + "1" * 20, "PW002", "19 digits"),
        ("a: [", "PW003", "not YAML"),
        ("? [1]\n: 2", "PW003", "key"),
        ("null: 2", "PW003", "not nothing"),
        ("a: 1\n---\nb: 2", "PW003", "second document"),
        ("", "PW003", "empty"),
        ("- 1", "PW003", "map"),
        ("just text", "PW003", "map"),
        ("a: \x00", "PW003", "not YAML"),
    ],
)
def test_what_is_refused(text: str, code: str, part: str) -> None:
    with pytest.raises(UnusableInput) as caught:
        Source("a.yaml", text).root  # noqa: B018
    (finding,) = caught.value.findings
    assert finding.code == code
    assert part in finding.message
    assert finding.unusable
    assert finding.help


def test_a_byte_order_mark_and_other_line_ends_are_read(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: [2,\r\n 3]\r\n")
    source = Source.read(path)
    assert plain(source.root) == {"a": 1, "b": [2, 3]}
    assert source.lines[:3] == ["a: 1", "b: [2,", " 3]"]


SCIENTIFIC = re.compile(r"[-+]?[0-9_]+[eE][-+]?[0-9]+")  # text to PyYAML, a number to OmegaConf and so to us
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12).filter(lambda text: not SCIENTIFIC.fullmatch(text)),
)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcde", min_size=1), inner, max_size=3), max_leaves=12
)


@settings(max_examples=examples(75), deadline=None)
@given(st.dictionaries(st.text("abcde", min_size=1), TREES, min_size=1, max_size=3), st.booleans())
def test_what_pyyaml_dumps_is_read_as_it_was(data: dict[str, object], flow: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)
    root = Source("a.yaml", text).root
    assert plain(root) == data
    _inside(root, 0, len(text))


def _inside(value: Value, start: int, end: int) -> None:
    """Every value is within the one around it."""
    assert start <= value.span.start <= value.span.end <= end
    for inner in [entry.value for entry in value] if isinstance(value, MapNode) else value.items if isinstance(value, ListNode) else ():
        _inside(inner, value.span.start, value.span.end)
    assert isinstance(value, (Scalar, ListNode, MapNode))


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab:-[]{},\n #'\"&*!|>?%@\t0\u2028\x85")))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        Source("a.yaml", text).root  # noqa: B018
    except UnusableInput as problem:
        assert problem.findings


def test_edits_change_their_own_characters_only() -> None:
    text = "abcdef"
    edits = [Edit(Span("x", 4, 6, 1, 5), "Z"), Edit(Span("x", 1, 2, 1, 2), ""), Edit(Span("x", 3, 3, 1, 4), "+")]
    assert apply_edits(text, edits) == "ac+dZ"
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(text, [Edit(Span("x", 0, 3, 1, 1), ""), Edit(Span("x", 2, 4, 1, 3), "")])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6.4e1", 64.0),
        ("6.e1", 60.0),
        ("1_0.5e2", 1050.0),
        ("5e+1", 50.0),
        ("-6.4E1", -64.0),
        (".4e1", ".4e1"),
        ("1.2.3e4", "1.2.3e4"),
        ("1e5a", "1e5a"),
    ],
)
def test_numbers_with_an_exponent_are_read_as_omegaconf_reads_them(text: str, value: object) -> None:
    assert plain(find(Source("a.yaml", f"a: {text}").root, "a")) == value
