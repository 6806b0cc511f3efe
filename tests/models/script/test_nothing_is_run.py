"""Whatever a script holds: nothing of it is run, nothing of the environment is shown, and it ends soon."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from placewright.cli.main import run
from placewright.models.composition import Composer
from placewright.models.findings.finding import UnusableInput
from placewright.models.script.document import documents_of
from placewright.models.text.source import Source

SECRET = "hunter2-not-to-be-seen"
START = "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8"

ATTACKS = [
    f"{START} $(touch canary)",
    f"{START} `touch canary`",
    f'{START} "$(touch canary)"',
    f'{START} a.b="`touch canary`"',
    f"{START} a.b=$(touch canary)",
    f"{START} trainer.x=$(echo $(touch canary))",
    f"{START} <(touch canary)",
    f"{START} >(touch canary)",
    f"{START} > canary",
    f"{START} >> canary",
    f"{START} &> canary",
    f"{START} 2> canary",
    f"{START} >| canary",
    f"{START} <> canary",
    f"{START} | tee canary",
    f"{START} && touch canary",
    f"{START} ; touch canary",
    f"{START} & touch canary",
    f"{START} || touch canary",
    f"touch canary; {START}",
    f"touch canary && {START}",
    f"eval touch canary; {START}",
    f"eval 'touch canary'; {START}",
    f'eval "$(touch canary)"; {START}',
    f"X='touch canary'; eval $X; {START}",
    f"X='touch canary'; $X; {START}",
    f"X='$(touch canary)'; {START} a.b=$X",
    f"X='$(touch canary)'; {START} a.b=${{X@P}}",
    f"X='`touch canary`'; {START} a.b=${{X@P}}",
    f"X='a[$(touch canary)]'; {START} a.b=$((X))",
    f"{START} a.b=$((a[$(touch canary)]))",
    f"X='a[$(touch canary)]'; [[ $X -eq 1 ]]; {START}",
    f"X='a[$(touch canary)]'; (( X )); {START}",
    f"X='a[$(touch canary)]'; let X; {START}",
    f"X='a[$(touch canary)]'; A[X]=1; {START}",
    f"A[$(touch canary)]=1; {START}",
    f"A=($(touch canary)); {START} ${{A[@]}}",
    f"A=([$(touch canary)]=1); {START}",
    f"declare -A A; A[$(touch canary)]=1; {START}",
    f"declare 'X=$(touch canary)'; {START}",
    f"declare -i X='a[$(touch canary)]'; {START}",
    f"declare -n R=X; R=$(touch canary); {START}",
    f"export X=$(touch canary); {START} a.b=$X",
    f"readonly X=`touch canary`; {START} a.b=$X",
    f"local X=$(touch canary); {START}",
    f"PROMPT_COMMAND='touch canary'; {START}",
    f"PS4='$(touch canary)'; set -x; {START}",
    f"PS1='$(touch canary)'; {START}",
    f"BASH_ENV=canary.sh; {START}",
    f"ENV=canary.sh; {START}",
    f"IFS=$(touch canary); {START}",
    f"PATH=.:$PATH; {START}",
    f"LD_PRELOAD=./canary.so; {START}",
    f"PYTHONSTARTUP=canary.py; {START}",
    f"source canary.sh; {START}",
    f". canary.sh; {START}",
    f". <(echo touch canary); {START}",
    f"source /dev/stdin <<< 'touch canary'; {START}",
    f"bash <<< 'touch canary'; {START}",
    f"bash -c 'touch canary'; {START}",
    f"sh canary.sh; {START}",
    f"exec touch canary; {START}",
    f"exec > canary; {START}",
    f"exec 3<>/dev/tcp/127.0.0.1/9; {START}",
    f"cat < /dev/tcp/127.0.0.1/9; {START}",
    f"trap 'touch canary' EXIT; {START}",
    f"trap 'touch canary' DEBUG; {START}",
    f"alias python3='touch canary'; {START}",
    f"python3() {{ touch canary; }}; {START}",
    f"f() {{ touch canary; }}; f; {START}",
    f"f() {{ $(touch canary); }}; f; {START}",
    f"command touch canary; {START}",
    f"builtin eval touch canary; {START}",
    f"enable -f ./canary.so canary; {START}",
    f"coproc touch canary; {START}",
    f"nohup touch canary & {START}",
    f"env touch canary; {START}",
    f"xargs touch <<< canary; {START}",
    f"find . -exec touch canary \\; ; {START}",
    f"awk 'BEGIN{{system(\"touch canary\")}}'; {START}",
    f'python3 -c \'open("canary", "w")\'; {START}',
    'python3 -c \'open("canary", "w")\' trainer.nnodes=1',
    "python3 canary.py trainer.nnodes=1 trainer.n_gpus_per_node=8",
    "torchrun --nproc_per_node=$(touch canary) -m verl.trainer.sft_trainer trainer.nnodes=1",
    "$(touch canary) -m verl.trainer.main_ppo trainer.nnodes=1",
    "`touch canary`; python3 -m `touch canary` trainer.nnodes=1",
    f"cat <<EOF\n$(touch canary)\nEOF\n{START}",
    f"cat <<$(touch canary)\n$(touch canary)\n{START}",
    f"cat <<< $(touch canary); {START}",
    f"while read x; do touch canary; done < <(touch canary); {START}",
    f"for x in $(touch canary); do touch canary; done; {START}",
    f"for ((i=$(touch canary);i<1;i++)); do :; done; {START}",
    f"case $(touch canary) in *) touch canary;; esac; {START}",
    f"case a in $(touch canary)) :;; esac; {START}",
    f"if touch canary; then :; fi; {START}",
    f"while touch canary; do break; done; {START}",
    f"until ! touch canary; do break; done; {START}",
    f'[ -n "$(touch canary)" ]; {START}',
    f"[[ -n $(touch canary) ]]; {START}",
    f"[[ a =~ $(touch canary) ]]; {START}",
    f"test -v 'a[$(touch canary)]'; {START}",
    f"printf -v 'a[$(touch canary)]' x; {START}",
    f"read 'a[$(touch canary)]' <<< 1; {START}",
    f"unset 'a[$(touch canary)]'; {START}",
    f"mapfile -C 'touch canary' -c 1 A <<< x; {START}",
    f"complete -C 'touch canary' x; {START}",
    f"hash -p ./canary python3; {START}",
    f"{START} a.b=${{X:-$(touch canary)}}",
    f"{START} a.b=${{X:=$(touch canary)}}",
    f"{START} a.b=${{X:?$(touch canary)}}",
    f"X=1; {START} a.b=${{X:+$(touch canary)}}",
    f"X=a; {START} a.b=${{X/a/$(touch canary)}}",
    f"X=a; {START} a.b=${{X#$(touch canary)}}",
    f"X=abc; {START} a.b=${{X:$(touch canary)}}",
    f"X='x$(touch canary)'; {START} a.b=${{!X}}",
    f"{START} a.b=${{A[$(touch canary)]}}",
    f"{START} a.b=$[$(touch canary)]",
    f"{START} $'$(touch canary)' $\"$(touch canary)\"",
    f"{START} 'a.b=${{oc.env:SECRET}}' 'trainer.nnodes=${{oc.env:SECRET}}'",
    f"{START} 'a.b=!!python/object/apply:os.system [touch canary]'",
    f"{START} a.b='eval(\"touch canary\")'",
    f"{START} trainer.nnodes=$SECRET",
    f"{START} trainer.nnodes=${{SECRET}}x",
    f"{START} trainer.$SECRET=2",
    f"{START} $SECRET",
    f"{START} $SECRET=2",
    f"{START} ${{SECRET^^}}=2 trainer.nnodes=${{SECRET:0:7}}",
    f"{START} trainer.n_gpus_per_node=$((SECRET))",
    f"{START} trainer.nnodes=${{#SECRET}}",
    f"{START} --config-name=$SECRET --config-path=/$SECRET",
    f"{START} actor_rollout_ref.rollout.name=$SECRET actor_rollout_ref.actor.strategy=$SECRET",
    f"{START} $(eval $SECRET) trainer.x=[$SECRET,1]",
    f"X=$SECRET; Y=$X; {START} trainer.nnodes=$Y trainer.n_gpus_per_node=<$SECRET>",
    "$SECRET trainer.nnodes=1; python3 -m $SECRET trainer.nnodes=1",
    f"cd $SECRET; [ $SECRET -gt 1 ] && {START} a.b={{$SECRET}}",
    f"A=($SECRET); declare -A M=([$SECRET]=1); {START} a.b=${{A[0]}} a.c=${{M[$SECRET]}} a.d=${{!SECRET}}",
]


@pytest.mark.parametrize("allowed", [(), ("--allow-env", "SECRET")], ids=["unread", "allowed"])
def test_no_attack_is_run_and_no_secret_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], allowed: tuple[str, ...]
) -> None:
    assert len(ATTACKS) >= 130
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SECRET", SECRET)
    for name in ("canary.sh", "canary.py", "canary.so"):
        (tmp_path / name).write_text("touch canary\n")
    there = sorted(os.listdir(tmp_path))
    for attack in ATTACKS:
        (tmp_path / "run.sh").write_text(attack + "\n")
        for form in ("text", "json"):
            code = run(["verify", "run.sh", "--cluster", "1x8", "--format", form, *allowed])
            said = capfd.readouterr()
            assert code in (0, 1, 2, 5), (attack, said)
            assert SECRET not in said.out + said.err and SECRET.upper() not in said.out + said.err, attack
        (tmp_path / "run.sh").unlink()
        assert sorted(os.listdir(tmp_path)) == there, attack


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
