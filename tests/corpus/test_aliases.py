"""Anchors, aliases and merges are read as PyYAML and OmegaConf read them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from placewright.models.findings.finding import UnusableInput
from placewright.models.text.source import Source
from placewright.models.text.tree import leaves, plain
from sampling import examples

omegaconf = pytest.importorskip("omegaconf", reason="omegaconf, the oracle, is not installed")

WORDS = st.sampled_from(["a", "b", "c", "tp"])
LEAVES = st.sampled_from(["1", "x", "null", "0-7", "1e-6", "'<<'", "true"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text in flow style with anchors, aliases and merges, some of them wrong."""
    names = ["n1", "n2", "n3"]

    def value(depth: int) -> str:
        kind = draw(st.sampled_from(["leaf", "leaf", "alias", "list", "map"] if depth < 3 else ["leaf", "alias"]))
        anchor = f"&{draw(st.sampled_from(names))} " if kind != "alias" and draw(st.integers(0, 2)) == 0 else ""
        if kind == "alias":
            return f"*{draw(st.sampled_from(names))} "
        if kind == "leaf":
            return anchor + draw(LEAVES)
        inner = [value(depth + 1) for _ in range(draw(st.integers(0, 3)))]
        if kind == "list":
            return f"{anchor}[{', '.join(inner)}]"
        return f"{anchor}{{{', '.join(f'{key(depth)}: {its}' for its in inner)}}}"

    def key(depth: int) -> str:
        return draw(st.sampled_from(["<<", "a", "b", "c"]))

    return "".join(f"k{number}: {value(0)}\n" for number in range(draw(st.integers(2, 6))))


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(texts())
def test_what_pyyaml_makes_of_anchors_is_what_is_read(text: str) -> None:
    try:
        root = Source("a.yaml", text).root
    except UnusableInput as problem:
        assert problem.findings[0].code in ("PW003", "PW006")
        message = problem.findings[0].message
        twice = "appears twice" in message and "<<" in text  # OmegaConf looks for that in maps that are not merged alone
        assert "never ends" in message or twice or _is_refused(text), text
        return
    expected = yaml.safe_load(text.replace("1e-6", "1.0e-6"))
    assert plain(root) == expected
    assert [*_keys(plain(root))] == [*_keys(expected)]
    for leaf in leaves(root):
        assert text[leaf.span.start : leaf.span.end].strip("'") == leaf.text
        assert leaf.span.via is None or text[leaf.span.via[0]] == "*"


def _keys(value: Any) -> Any:
    """The keys of a value in their order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _keys(inner)


def _is_refused(text: str) -> bool:
    """Is it refused by PyYAML, or by the loader that OmegaConf makes of it?"""
    try:
        yaml.load(text, Loader=omegaconf._utils.get_yaml_loader())
    except (yaml.YAMLError, RecursionError):
        return True
    return False


@settings(max_examples=examples(75), deadline=None)
@given(st.dictionaries(WORDS, st.recursive(LEAVES, lambda its: st.lists(its, max_size=3), max_leaves=6), min_size=1), st.integers(2, 4))
def test_what_pyyaml_dumps_with_aliases_is_read_as_omegaconf_reads_it(data: dict[str, object], uses: int) -> None:
    whole = {f"use{number}": data for number in range(uses)}
    text = yaml.safe_dump(whole)
    assume("*" in text)
    assert plain(Source("a.yaml", text).root) == omegaconf.OmegaConf.to_container(omegaconf.OmegaConf.create(text))
