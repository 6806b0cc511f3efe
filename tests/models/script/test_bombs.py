"""Whatever a script holds, reading it ends soon. That nothing of it is run, tests/cli/test_attacks.py shows."""

from __future__ import annotations

import time

import pytest
from placewright.models.composition import Composer
from placewright.models.findings.finding import UnusableInput
from placewright.models.script.document import documents_of
from placewright.models.text.source import Source

START = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8"

BOMBS = {
    "braces": "x {1..1000000}",
    "many braces": "x " + "{a,b}" * 30,
    "doubling": "A=aaaaaaaaaaaaaaaa\n" + "A=$A$A\n" * 24 + f"{START} a.b=$A",
    "splitting": "A='a a a a '\n" + "A=$A$A\n" * 14 + f"{START} $A $A $A",
    "recursion": "f() { f $1$1; f $1$1; }\nf a",
    "endless loop": "while true; do A=$A.; done",
    "loop in a loop": "for i in {1..1000}; do for j in {1..1000}; do x=1; done; done",
    "counting": "for ((i=0;i<999999999;i++)); do A=$i; done",
    "open parentheses": "(" * 5_000,
    "open substitutions": "A=" + '"$(' * 3_000,
    "open braces": "A=" + "${A:-" * 3_000,
    "powers": "A=$((9**9**9**9**9**9)); B=$((99999999999999999**99999999999999999))",
    "a variable that is itself": "a=a; A=$((a)); A=A; B=${!A}",
    "a long name in a sum": f"A=$(({'a' * 200}; ))",
    "stars": "A=" + "a" * 2_000 + "; B=${A##" + "*a" * 200 + "b}",
    "replacing": "A=" + "a" * 100_000 + "; B=${A//a/bb}; C=${A%%*b}",
    "branches": "\n".join(f"if a$x; then B{i}=1; else B{i}=2; fi" for i in range(3_000)),
    "nested conditions": "if [ " + r"\( " * 399 + f"]; then A=1; fi\n{START} a.b=1",
    "nested conditions of bash": "if [[ " + "( " * 399 + f"]]; then A=1; fi\n{START} a.b=1",
    "nested branches": "if a; then " * 60 + "x" + "; fi" * 60,
    "many words": "A=(" + "a " * 60_000 + ')\n"${A[@]}"',
    "many settings": START + "".join(f" a.b{i}=1" for i in range(20_000)),
    "a long key": f"{START} {'.'.join('a' * 5_000)}=1",
    "a long value": f"{START} a.b={'a/' * 100_000}",
    "a deep value": f"{START} a.b={'[' * 4_000}{']' * 4_000}",
    "dollars": "$" * 100_000,
    "open arrays": "x=(" * 100_000,
    "closing signs": "))" * 150_000,
    "open sums": "A=1\n" + "$[" * 150_000,
    "pipes": "a | " * 20_000 + "b",
    "a sparse array": f"A[99999999999999]=1; {START} a.b=${{A[99999999999999]}} a.c=${{A[-1]}}",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", BOMBS.values(), ids=BOMBS)
def test_it_ends_soon(script: str) -> None:
    """Each grows without end, or by a power of what is written, where it is followed; 30 seconds are no measure of speed."""
    start = time.process_time()
    try:
        documents_of(Source("run.sh", script), Composer())
    except UnusableInput as problem:
        assert all(len(finding.message) < 400 for finding in problem.findings)
    assert time.process_time() - start < 30


def test_broken_text_takes_no_more_than_the_time_for_it() -> None:
    start = time.process_time()
    with pytest.raises(UnusableInput) as caught:
        documents_of(Source("run.sh", f"{START}\n" + "))" * 150_000), Composer())
    (finding,) = caught.value.findings
    assert (finding.code, finding.message) == ("PW002", "parsing takes more than 2 s of CPU: more than is read")
    assert time.process_time() - start < 10
