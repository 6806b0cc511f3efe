"""Scripts with the arguments of a pasted command line: `verify -- bash run.sh NAME` knows `$1`."""

from __future__ import annotations

import shlex
from pathlib import Path

import placewright as pw
import pytest
from click.testing import CliRunner
from placewright.cli.main import cli

from .bash import BASH, by_bash, by_reading

ARGUMENTS = [[], ["a"], ["a", "b"], ["--n", "4", "--m=5", "rest"], ["nodes=2", "n=3"]]
FORMS = """\
NAME=x; [ -n "$1" ] && NAME=$1; show $NAME
NAME=x; [[ -n $1 ]] && NAME=$1\nshow $NAME
NAME=x; if [ $# -ge 1 ]; then NAME=$1; fi; show $NAME
NAME=x; test $# -gt 0 && NAME=$1; show $NAME
NAME=x; (( $# > 0 )) && NAME=$1; show $NAME
NAME=x; [ -z "$1" ] || NAME=$1; show $NAME
NAME=x; [ -n "${1:-}" ] && { NAME=$1; shift; }; show $NAME "$@"
X=${1:-default}; shift || true; show $X "$@"
show ${1-a} ${2-b} ${9-c} ${9:+d}
shift; shift 5; show "$@"
shift 2 && show two "$@"
while [[ $# -gt 0 ]]; do case $1 in --n) N=$2; shift 2;; --m=*) M=${1#*=}; shift;; *) R+=("$1"); shift;; esac; done; show "$N" "$M" "${R[@]}"
while (( $# )); do show "$1"; shift; done
until [ -z "$1" ]; do A="$A $1"; shift; done; show $A
while [ "$1" ]; do case "$1" in -n|--n) N="$2"; shift;; --) shift; break;; esac; shift; done; show "$N" "$@"
for a; do show $a; done
for a in "$@"; do [[ $a == *=* ]] && export "$a"; done; show "${n:-1}"
set -- a b "$@"; show "$@" $#
f() { show "$@"; }; f "$@" x
f() { g "$@"; }; g() { show "$1" "${@:2}"; }; f "$@" x y
f() { show ${2-none} $#; }; f a
case "$1" in a) X=1;; "") X=0;; *) X=2;; esac; show $X
A=("$@"); show "${A[@]:1}"
if [ "$1" == "--n" ]; then D=1; shift; fi; show "$D" "$@"
if (( $# >= 2 )); then A=$2; else A=z; fi; show $A
A="${1%%=*}"; B="${1#*=}"; show "$A" "$B"
N=4; while getopts "n:" o; do case $o in n) N=$OPTARG;; esac; done; shift $((OPTIND-1)); show $N "$@"
A=1 B=2 >/dev/null\nshow $A $B
A=1 >/dev/null\nshow $A
A=1 B=2 >/dev/null 2>&1\nC=3 show $A $B
A=1 >/dev/null; B=2; show $A $B
>/dev/null A=1 B=2\nshow $A $B
export A=1 B=2 >/dev/null\nshow $A $B
A=1 B=2\nexport C=3 >/dev/null\nshow $A $B $C
show a 2>/dev/null b
2>/dev/null show a
f() { return 1; }; if f; then A=1; else A=2; fi; show $A
f() { [ "$1" = a ]; }; if f a; then A=1; else A=2; fi; show $A
f() { return 0; }; f && show yes
A=(1 2 3); unset 'A[1]'; show "${A[@]}"
declare -i I=3+4; show $I
declare -x A=1 B; readonly C=3; show $A "$B" $C
i=0; while [ $i -lt 3 ]; do show $i; i=$((i+1)); done; show $i
i=0; until [ $i -ge 2 ]; do i=$((i+1)); [ $i = 1 ] && continue; show $i; done
i=0; while true; do i=$((i+1)); [ $i -gt 2 ] && break; show $i; done; show $i
show a & wait; show b
show a || true; false || show b; true && show c
N=1; { N=2; } >/dev/null; (N=3); show $N"""


@pytest.mark.skipif(BASH is None, reason="there is no bash here")
@pytest.mark.parametrize("form", FORMS.split("\n"))
def test_words_are_those_of_bash_or_not_known(form: str) -> None:
    script = form.replace("\\n", "\n") + "\n"
    for arguments in ARGUMENTS:
        expected, read = by_bash(script, arguments), by_reading(script, shlex.join(["bash", "run.sh", *arguments]))
        unknown = any(word.startswith("?") for words in read for word in words)
        assert read == expected or (unknown and any(sign in form for sign in ("getopts", "declare -i", "unset"))), arguments


def test_getopts_without_arguments_sets_nothing() -> None:
    assert by_reading('N=4; while getopts "n:" o; do N=$OPTARG; done; shift $((OPTIND-1)); show $N "$@"\n') == [["4"]]
    assert by_reading('f() { while getopts "n:" o; do N=$OPTARG; done; }; N=4; f -n 5; show $N\n') == [["?$N"]]


RLINF = "cluster:\n  num_nodes: 1\n  component_placement: {actor: 0-7, rollout: 0-%s}\n"
START = "python train.py --config-path config --config-name $NAME cluster.num_nodes=${NODES:-1}\n"


@pytest.mark.parametrize(
    ("script", "command", "code"),
    [
        ('NAME=small; [ -n "$1" ] && NAME=$1', "bash run.sh", ""),
        ('NAME=small; [ -n "$1" ] && NAME=$1', "bash run.sh large", "PW102"),
        ("NAME=${1:-small}", "sh run.sh large", "PW102"),
        ("[ $# -lt 1 ] && exit 1; NAME=$1; shift", "bash run.sh large", "PW102"),
        ("NAME=small", "NAME=large bash run.sh", ""),
        (": ${NAME:=small}", "NAME=large bash run.sh", "PW102"),
        (": ${NAME:=small}", "env NAME=large nohup bash run.sh", "PW102"),
        (": ${NAME:=small}", "bash -x run.sh", ""),
    ],
)
def test_a_pasted_command_line_gives_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, command: str, code: str
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "small.yaml").write_text(RLINF % 7)
    (tmp_path / "config" / "large.yaml").write_text(RLINF % 11)
    (tmp_path / "train.py").write_text("@hydra.main(version_base='1.1')\ndef main(c): ...\n")
    (tmp_path / "run.sh").write_text(f"{script}\n{START}")
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(cli, ["verify", "--cluster", "1x8", "--level", "placement", "--", *shlex.split(command)])
    assert code in answer.output and (code or "ok" in answer.output), answer.output
    assert "run.sh" in answer.output and "no arguments are given" not in answer.output


def test_a_script_that_is_not_there_is_said() -> None:
    answer = CliRunner().invoke(cli, ["verify", "--", "bash", "gone.sh", "small"])
    assert "there is no file `gone.sh`" in answer.output


SOURCED = {
    "config/small.yaml": RLINF % 7,
    "config/large.yaml": RLINF % 11,
    "train.py": "@hydra.main(version_base='1.1')\ndef main(c): ...\n",
    "lib/env.sh": 'HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\nNAME=${1:-large}\nif [ -n "$2" ]; then return; fi\nRANKS=0-11\n',
    "lib/run.sh": "python train.py --config-path config --config-name large\n",
    "lib/self.sh": "source lib/self.sh\n",
}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("source lib/env.sh\n" + START, "0-11}"),
        ("source lib/env.sh small\n" + START, "run.sh: ok"),
        ('. "$(dirname "$0")/lib/env.sh" small\n' + START, "run.sh: ok"),
        ("source lib/env.sh small\nNAME=small\npython $HERE/../train.py --config-path $HERE/../config --config-name $NAME\n", "run.sh: ok"),
        (
            "source lib/env.sh small\npython train.py --config-path config --config-name $NAME cluster.component_placement.actor=$RANKS",
            "12 ranks",
        ),
        ("source lib/env.sh small x\npython train.py --config-path config --config-name $NAME ${RANKS:-}", "run.sh: ok"),
        ("source lib/run.sh\n", "starts no program in what could be followed"),
        ("source lib/self.sh\n", "calls itself"),
        ("source lib/gone.sh\n" + START, "`source lib/gone.sh` is not followed"),
        ("source /etc/os-release\n" + START, "`source /etc/os-release` in line 1 is not followed"),
    ],
)
def test_a_file_beside_the_script_is_sourced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: str) -> None:
    for name, text in SOURCED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "run.sh").write_text(script)
    monkeypatch.chdir(tmp_path)
    answer = CliRunner().invoke(cli, ["verify", "--cluster", "1x8", "--level", "placement", "run.sh"])
    assert expected in " ".join(answer.output.split()), answer.output
    assert "+" not in answer.output  # no edit of the line that sources


def test_words_between_typographic_quotes_are_one_fault(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(
        "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.project_name=\u201cx y z\u201d trainer.n_gpus_per_node=8\n", "utf-8"
    )
    answer = CliRunner().invoke(cli, ["verify", str(script), "--cluster", "1x8"])
    assert answer.output.count("[PW012]") == 1 and "write straight quotes" in answer.output


@pytest.mark.parametrize(("count", "addition"), [("$1", ", or give the script its arguments: `verify -- bash run.sh ...`"), ("$GPUS", "")])
def test_a_number_of_processes_may_come_from_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: str, addition: str
) -> None:
    (tmp_path / "run.sh").write_text(f"torchrun --nproc_per_node={count} -m verl.trainer.sft_trainer model.path=m\n")
    monkeypatch.chdir(tmp_path)
    assert pw.verify("run.sh", "1x8").missing[0].add == f"Write a number for `--nproc_per_node`{addition}"
    answer = CliRunner().invoke(cli, ["verify", "--cluster", "1x8", "--", "bash", "run.sh", "8"])
    assert ("8 processes on 1 node" in answer.output) is bool(addition)
