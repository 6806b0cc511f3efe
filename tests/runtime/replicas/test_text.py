"""Text as its tokens come: each character once, whole, and no stop string ever shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from placewright.runtime.engines.engine import BytesTokenizer
from placewright.runtime.replicas.answers import StreamedText


def shown(text: str, stop: tuple[str, ...] = ()) -> tuple[list[str], StreamedText]:
    out = StreamedText(BytesTokenizer(), stop)
    pieces = []
    for token in BytesTokenizer().encode(text):
        pieces.append(out.add(token))
        if out.stopped:
            break
    return [*pieces, out.finish()], out


SMALL = st.text(alphabet="abé😀", max_size=20)


@given(st.text(max_size=30))
def test_all_of_it_is_shown_once_and_in_order(text: str) -> None:
    said = text.encode("utf-8", "replace").decode()
    assert "".join(shown(text)[0]) == said


@given(SMALL, st.lists(st.text(alphabet="abé", min_size=1, max_size=3), min_size=1, max_size=3))
def test_it_ends_before_the_first_stop_string(text: str, stop: list[str]) -> None:
    places = [text.find(each) for each in stop if each in text]
    pieces, out = shown(text, tuple(stop))
    assert out.stopped == bool(places)
    if not places:
        assert "".join(pieces) == text
        return
    # what ends first while the text grows has the say: a longer one that begins before it is not complete yet
    ends = min(text.find(each) + len(each) for each in stop if each in text)
    first = min(text.find(each) for each in stop if each in text and text.find(each) + len(each) == ends)
    assert "".join(pieces) == text[:first]


def test_a_character_of_several_tokens_is_shown_when_it_is_whole() -> None:
    assert shown("é!")[0] == ["", "é", "!", ""]


def test_what_may_begin_a_stop_string_is_held_back() -> None:
    assert shown("<enx", ("<end>",))[0] == ["", "", "", "<enx", ""]
    assert shown("<en", ("<end>",))[0] == ["", "", "", "<en"]


def test_bytes_that_are_no_text_are_marked_at_the_end() -> None:
    out = StreamedText(BytesTokenizer(), ())
    assert out.add(0xC3) == ""
    assert out.finish() == "\N{REPLACEMENT CHARACTER}"
