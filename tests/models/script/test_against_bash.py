"""Scripts that are made at random of harmless pieces: reading gives the words that real bash gives."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from sampling import examples

from .bash import BASH, all_known, by_bash, by_reading

pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash here")

NAMES = st.sampled_from(["A", "B", "C", "N"])
TEXTS = st.sampled_from(["A", "B", "C"])
PLAIN = st.text(alphabet="ab1.-/:=+,", min_size=0, max_size=6)
SPACED = st.text(alphabet="ab1 \t.-/:=", min_size=0, max_size=8)
NUMBERS = st.integers(-20, 40).map(str)
PATTERNS = st.sampled_from(["a", "*a", "a*", "?", "[ab]", "*", ".", "b?", "[!a]", "\\*", "1", "*/", "/*", "*=*"])
OPERATORS = st.sampled_from(["#", "##", "%", "%%", "/", "//", "^", "^^", ",", ",,"])
DEFAULTS = st.sampled_from([":-", "-", ":+", "+", ":="])


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    """An arithmetic expression without side effects and without division."""
    if not depth or draw(st.booleans()):
        return draw(st.one_of(NUMBERS.map(lambda number: f"({number})"), st.just("N")))
    one, other = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    operator = draw(st.sampled_from(["+", "-", "*", "<", ">=", "==", "!=", "&&", "||"]))
    return f"({one} {operator} {other})"


@st.composite
def expansions(draw: st.DrawFn) -> str:
    """Something that begins with a dollar."""
    name, kind = draw(NAMES), draw(st.integers(0, 7))
    if kind == 0:
        return f"${{{name}}}"
    if kind == 1:
        return f"${{{name}{draw(DEFAULTS)}{draw(PLAIN)}}}"
    if kind == 2:
        operator, pattern = draw(OPERATORS), draw(PATTERNS)
        if operator[0] == "/":
            return f"${{{name}{operator}{pattern.replace('/', 'a')}/{draw(st.sampled_from(['', 'x', 'yz', '-']))}}}"
        return f"${{{name}{operator}{pattern}}}"
    if kind == 3:
        return f"${{#{name}}}"
    if kind == 4:
        return f"${{{name}:{draw(st.integers(0, 4))}:{draw(st.integers(0, 4))}}}"
    if kind == 5:
        return f"$(({draw(expressions())}))"
    if kind == 6:
        return f"${{L[{draw(st.integers(0, 3))}]}}"
    return f'${{{name}:-"{draw(SPACED)}"}}'


@st.composite
def words(draw: st.DrawFn) -> str:
    """A word of a command."""
    pieces = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 4))
        if kind == 0:
            pieces.append(draw(PLAIN))
        elif kind == 1:
            pieces.append(f"'{draw(SPACED)}'")
        elif kind == 2:
            pieces.append(f'"{draw(SPACED)}{draw(expansions())}{draw(PLAIN)}"')
        elif kind == 3:
            pieces.append(draw(expansions()))
        else:
            pieces.append(draw(st.sampled_from(['"${L[@]}"', "${L[@]}", '"$@"', '"${L[*]}"', "{a,b}", "{1..3}", "\\ "])))
    return "".join(pieces) or "''"


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> str:
    """An assignment, a `show`, or one of these within an `if`, a loop or a `case`."""
    kind = draw(st.integers(0, 12 if depth else 6))
    if kind == 0:
        return f"{draw(TEXTS)}={draw(words())}"
    if kind == 1:
        return f"N={draw(NUMBERS)}"
    if kind == 2:
        return f"L{draw(st.sampled_from(['', '+']))}=({' '.join(draw(st.lists(words(), max_size=3)))})"
    if kind == 3:
        return f"{draw(TEXTS)}+={draw(words())}"
    if kind == 4:
        return f"show {' '.join(draw(st.lists(words(), min_size=1, max_size=3)))}"
    if kind == 5:
        return f'[ -n "{draw(st.sampled_from(["$1", "$2", "$A", "${B:-}"]))}" ] && {draw(TEXTS)}={draw(words())}'
    if kind == 6:
        lines = ["A=1 B={} >/dev/null", ">/dev/null C={} A=2", "shift", 'set -- "$@" {}', "unset A", "A=3 B={} show $A"]
        return draw(st.sampled_from(lines)).format(draw(PLAIN))
    inner = draw(statements(depth - 1))
    if kind == 7 and "K=" not in inner:
        number, joint = draw(st.integers(0, 3)), draw(st.sampled_from(["while [ $K -lt", "until [ $K -ge", "while (( K <"]))
        return f"K=0; {joint} {number} {'))' if '((' in joint else ']'}; do\nK=$((K+1))\n{inner}\ndone"
    if kind == 8 and "set --" not in inner:
        return f'while [ $# -gt 0 ]; do\ncase "$1" in\n{draw(PATTERNS)}) shift; {inner} ;;\n*) C=$1; shift ;;\nesac\ndone'
    if kind == 9:
        return f"go() {{\n{inner}\nreturn {draw(st.integers(0, 1))}\n}}\nif go {draw(words())}; then A=yes; else B=no; fi"
    if kind == 10:
        test = draw(
            st.sampled_from(['[ -n "$A" ]', '[ "$A" = "$B" ]', "[[ $A == a* ]]", "[[ -z $B && $N -lt 3 ]]", "(( N > 4 ))", "[ $N -le 7 ]"])
        )
        return f"if {test}; then\n{inner}\nelse\n{draw(statements(depth - 1))}\nfi"
    if kind == 11:
        return f"for C in {' '.join(draw(st.lists(words(), min_size=1, max_size=3)))}; do\n{inner}\ndone"
    if kind == 12 and draw(st.booleans()):
        return f'case "$A" in\n{draw(PATTERNS)}) {inner} ;;\n*) B=other ;;\nesac'
    return f'run() {{\n{inner}\nshow "$1" $#\n}}\nrun {draw(words())}'


@settings(
    max_examples=examples(75), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], derandomize=True
)
@given(st.lists(statements(), min_size=1, max_size=8), st.lists(SPACED, max_size=3))
@example(["A=a", "A+=b", 'show "$A"'], [])
@example(["A=''\\ ''"], [])
@example(["N=1", "A=$N\\ b", 'show "$A"'], [])
def test_the_words_are_those_of_bash(lines: list[str], arguments: list[str]) -> None:
    script = "\n".join(["N=3", *lines, 'show "$A" "$B" "$C" "$N" "${L[@]}"']) + "\n"
    assume(not re.search(r"\\[ \t]\n", script))  # taken for a backslash that should end the line, and said so
    command = shlex.join(["bash", "run.sh", *arguments])
    assume(all_known(script, command))
    assert by_reading(script, command) == by_bash(script, arguments)
