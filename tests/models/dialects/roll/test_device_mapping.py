"""`device_mapping` texts mean what Python makes of them, and nothing of them is ever run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.dialects.roll.device_mapping import MAX_IDS, read_expression
from placewright.models.dialects.roll.ids import Ids, text_of
from sampling import examples

GOOD = (
    "list(range(0,8))", " list(range(0, 8))  # all of them", "[0, 1, 2, 3]", "range(8)", "(0, 1)", "0, 1, 2", "[]", "list()",
    "list(range(8))[::-1]", "[7,6,5]", "[0]*4", "2*[3, 5]", "list(range(0, 16, 2))", "list(range(8, 0, -1))", "[i for i in range(4)]",
    "[i + 8 for i in range(4)]", "[2*i+1 for i in range(4)]", "[i*i for i in range(4)]", "[0, True]", "[3 for i in range(2)]", "[*range(2), 6]",
    "list(list(range(4)))", "(list(range(2)))", "list(range(0,2))+list(range(14,16))", "list(range(16))[4:12:3]", "[5, 3, 1][::-1]",
    "list(range(2 * 4))", "list(range(10 // 3, 4))", "tuple(range(3)) + (7,)", "[list(range(4))[1]]", "[--3]", "[]*1000000000",
    "(list(range(4)) + [9, 8])[::-2]", "list(\n  range(0,\n  4))", "[0,]", "list([1, 2])",
    "list(*[range(3)])", "[+3, 2]", "# \u00e9\n[0]",
    "list(range(60000))" + "[1:]" * 60,
)  # fmt: skip


@pytest.mark.parametrize("text", GOOD)
def test_ids_are_those_of_python(text: str) -> None:
    found = read_expression(text)
    assert found.fault is None, found.fault
    assert list(found.ids or ()) == list(eval(text.strip(" \t")))  # of this table alone


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    small = st.integers(0, 9)
    if depth == 0 or draw(st.booleans()):
        start, length, step = draw(small), draw(small), draw(st.sampled_from([1, 1, 2, 3]))
        return draw(
            st.sampled_from(
                [f"list(range({start},{start + length},{step}))", f"[{start}, {length}]", f"[i*{step}+{start} for i in range({length})]"]
            )
        )
    left = draw(expressions(depth=depth - 1))
    kind = draw(st.sampled_from(["+", "*", "slice", "list", "star"]))
    if kind == "+":
        return f"{left}+{draw(expressions(depth=depth - 1))}"
    if kind == "*":
        return f"({left})*{draw(st.integers(0, 3))}"
    if kind == "slice":
        bounds = [draw(st.none() | st.integers(-12, 12)) for _ in range(2)]
        step = draw(st.sampled_from([None, 1, 2, -1, -3]))
        return f"({left})[{':'.join('' if each is None else str(each) for each in (*bounds, step))}]"
    return f"list({left})" if kind == "list" else f"[*({left}), 4]"


@settings(max_examples=examples(150), deadline=None)
@given(expressions())
def test_any_expression_means_what_python_makes_of_it(text: str) -> None:
    found = read_expression(text)
    expected = eval(text)  # written by the strategy above alone
    assert found.fault is None
    assert found.ids is not None
    assert list(found.ids) == expected
    assert (len(found.ids), found.ids.distinct) == (len(expected), len(set(expected)))
    assert [each for part in found.ids.ranges for each in part] == sorted(set(expected))
    assert found.ids.ascending == all(one < other for one, other in zip(expected, expected[1:]))
    assert list(read_expression(text_of(found.ids)).ids or ()) == expected
    if expected:
        assert (found.ids.lowest, found.ids.highest) == (min(expected), max(expected))


WRONG: dict[str, tuple[str, str]] = {
    "list(range(0,8": ("(", ""),
    "0-7": ("0-7", "list(range(0,8))"),
    "0-3,8-11": ("0-3,8-11", "list(range(0,4))+list(range(8,12))"),
    "3": ("3", ""),
    "list(rang(0,8))": ("rang", "range"),
    "['0', 1]": ("['0', 1]", ""),
    "[0.0, 1]": ("[0.0, 1]", ""),
    "lst([0, 1])": ("lst", "list"),
    "list(0, 1)": ("list(0, 1)", ""),
    "list(range(0,2))+range(4,6)": ("list(range(0,2))+range(4,6)", ""),
    "[[0, 1], [2]]": ("[[0, 1], [2]]", ""),
    "list(range(0,8,0))": ("range(0,8,0)", ""),
    "[1]+list(7)": ("list(7)", ""),
    "['\u00e9', i]": ("i", ""),
    "None": ("None", ""),
    "all": ("all", ""),
    "[0]+8": ("[0]+8", ""),
    "range(0,2)+range(4,6)": ("range(0,2)+range(4,6)", ""),
    "[-1, 0]": ("[-1, 0]", ""),
    "list(range(é))": ("é", ""),
    "[0, é]": ("é", ""),
    "list(range(8))[9]": ("list(range(8))[9]", ""),
    "[0][::0]": ("[0][::0]", ""),
    "": ("", ""),
    "list(range(0,\uff12))": ("\uff12", ""),
}
"""A text -> what of it is pointed at, and what is proposed instead."""


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_pointed_at(text: str) -> None:
    at, better = WRONG[text]
    fault = read_expression(text).fault
    assert fault is not None and fault.when
    assert (text[fault.place.start : fault.place.end], fault.better) == (at, better)
    if better:
        mended = text[: fault.place.start] + better + text[fault.place.end :]
        assert read_expression(mended).fault is None


@pytest.mark.parametrize(
    "text",
    [
        "list({0: 1})",
        "[i for i in range(8) if i % 2]",
        "[i for i in [1] for j in [2]]",
        "sum([[0]], [])",
        "self.world_size",
        "__import__('torch').cuda.device_count()",
        "list(range(8**99))",
        "list(range(1<<3))",
        "list(range(9 % 5))",
        "list(range(0,16)) if 1 else []",
        "{0, 2, 1}",
        "sorted(range(16))",
    ],
)
def test_python_that_is_not_worked_out_is_no_fault(text: str) -> None:
    found = read_expression(text)
    assert found.ids is None and found.fault is not None and not found.fault.when


CANARY: list[str] = []

ATTACKS = (
    "__import__('os').system('touch canary')", "CANARY.append(1)", "(lambda: CANARY.append(1))()", "[CANARY.append(1) for _ in range(1)]",
    "list(map(CANARY.append, [1]))", "exec('CANARY.append(1)')", "eval('1')", "open('canary', 'w')", "().__class__.__bases__[0]", "self",
    "getattr(self, 'name')", "list(range(8)).__class__", "f'{CANARY.append(1)}'", "(x := 5)", "[x := 1]", "range.__init__", "list.append([], 1)",
    "globals()", "vars()", "breakpoint()", "print(1)", "list(**{})", "range(stop=3)", "await x", "(yield 1)", "*[1]",
    "[0] and CANARY.append(1)", "[0] if CANARY.append(1) else [1]", "{**{}}", "{x for x in [1]}", "[[i, j] for i in [1] for j in [2]]", "...",
    "b'x'", "1j", "[0][CANARY.append(1)]", "-CANARY", "not []", "1 < 2", "import os", "[0]\nimport os", "[0];import os", "\x00", "\ud800", "0x" + "f" * 400,
)  # fmt: skip


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_is_run(text: str) -> None:
    assert read_expression(text).fault is not None
    assert not CANARY


@settings(max_examples=examples(150), deadline=None)
@given(st.text(alphabet="list(range)[]{}+-*/.,:0123456789 ij'#\n\t=<é", max_size=40) | st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_expression(text)
    assert found.ids is not None or found.fault is not None
    assert found.fault is None or 0 <= found.fault.place.start <= found.fault.place.end <= max(len(text), 1)


HUGE = {
    "range": "list(range(1000000000))",
    "times": "[0]*1000000000",
    "times of times": "((([0]*1000)*1000)*1000)*1000",
    "a power": "list(range(10**10**10))",
    "a shift": "list(range(1<<1000000))",
    "a product": "*".join(["9" * 9] * 200),
    "brackets": "(" * 5000 + ")" * 5000,
    "lists": "[" * 5000 + "]" * 5000,
    "calls": "list" + "()" * 20000,
    "signs": "-" * 60000 + "1",
    "nots": "not " * 15000 + "1",
    "sums": "+".join(["[0]"] * 15000),
    "conditions": "1 if 1 else " * 5000 + "1",
    "lambdas": "lambda:" * 5000 + "1",
    "attributes": "a" + ".a" * 20000,
    "digits": "9" * 60000,
    "long": "[0]" + " " * 70000,
    "items": "[" + ",".join(["0"] * 30000) + "]",
    "stars": "[" + ",".join(["*range(262144)"] * 200) + "]",
    "an index": "list(range(9))[99999999999]",
}


@pytest.mark.timeout(30)  # of what takes minutes or all memory where it is worked out
@pytest.mark.parametrize("name", HUGE)
def test_what_is_too_large_is_refused_at_once(name: str) -> None:
    assert read_expression(HUGE[name]).fault is not None


def test_as_many_ids_as_allowed_are_read() -> None:
    found = read_expression(f"list(range({MAX_IDS}))")
    assert found.ids == Ids.join(range(MAX_IDS))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(lambda a, n, s: range(a, a + n * s, s), st.integers(0, 20), st.integers(0, 6), st.sampled_from([1, 2, -1, -2])),
        max_size=5,
    ),
)
def test_ids_are_progressions_in_order(parts: list[range]) -> None:
    plain = [each for part in parts for each in part]
    ids = Ids.join(*parts)
    assert list(ids) == plain
    assert [each for part in ids.parts for each in part] == plain
