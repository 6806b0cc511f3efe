"""Numbers in sentences."""

from __future__ import annotations

import pytest
from placewright.models.findings.wording import are, do, plural, with_noun


@pytest.mark.parametrize(("count", "words"), [(1, "1 process is"), (2, "2 processes are"), (0, "0 processes are")])
def test_verbs_go_with_their_numbers(count: int, words: str) -> None:
    assert f"{with_noun(count, 'process')} {are(count)}" == words


@pytest.mark.parametrize(("count", "words"), [(1, "1 rank does not divide"), (3, "3 ranks do not divide")])
def test_what_is_denied_of_a_number_goes_with_it(count: int, words: str) -> None:
    assert f"{with_noun(count, 'rank')} {do(count)} not divide" == words


def test_large_numbers_are_grouped_where_asked() -> None:
    assert (with_noun(1024, "node", ","), with_noun(1024, "node")) == ("1,024 nodes", "1024 nodes")


@pytest.mark.parametrize(
    ("noun", "several"), [("minibatch", "minibatches"), ("trajectory", "trajectories"), ("key", "keys"), ("CPU", "CPUs")]
)
def test_nouns_take_the_ending_of_their_kind(noun: str, several: str) -> None:
    assert plural(noun, 2) == several
