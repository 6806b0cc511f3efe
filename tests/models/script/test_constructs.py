"""What bash makes of a few hundred constructs is what reading makes of them, or unknown. The table was made by bash, and is asked of it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .bash import BASH, all_known, by_bash, by_reading

_TABLE = (Path(__file__).parent / "constructs.txt").read_text("utf-8").rstrip("\n").split("\n%%\n")


def _entry(text: str) -> tuple[str, list[list[str]]]:
    script, *words = text.split("\n=> ")
    return script, [json.loads(each) for each in words]


CONSTRUCTS = [_entry(text) for text in _TABLE]


@pytest.mark.parametrize(("script", "words"), CONSTRUCTS, ids=[" ".join(script.split())[:60] for script, _ in CONSTRUCTS])
def test_words(script: str, words: list[list[str]]) -> None:
    read = by_reading(script)
    assert read == words or not all_known(script)
    assert len(read) != len(words) or all(word in there or word.startswith("?") for here, there in zip(read, words) for word in here)


def test_most_constructs_are_known() -> None:
    unknown = [script for script, words in CONSTRUCTS if by_reading(script) != words]
    assert len(unknown) <= 49


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_bash_says_the_same() -> None:
    assert len(CONSTRUCTS) > 300
    differing = [script for script, words in CONSTRUCTS if by_bash(script) != words]
    assert not differing
