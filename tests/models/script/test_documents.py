"""From a script to the configurations of its programs: places, what is not known, what is lost, and what mends it."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import load, load_all, load_settings, read
from placewright.models.findings.finding import Finding, Severity, UnusableInput
from placewright.models.findings.span import Span, apply_edits
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.script.document import documents_of
from placewright.models.script.recognise import is_script, is_settings
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.models.text.tree import UNRESOLVED, Scalar, find, plain

START = "python3 -m verl.trainer.main_ppo"


def document(script: str, *settings: str) -> Document:
    (found,) = documents_of(Source("run.sh", script), Composer(settings=settings))
    return found


def at(script: str, span: Span | None) -> str:
    assert span is not None
    assert script.split("\n")[span.line - 1][span.column - 1 :].startswith(script[span.start : span.end].split("\n")[0])
    return script[span.start : span.end]


def scalar(found: Document, path: str) -> Scalar:
    value = find(found.root, path)
    assert isinstance(value, Scalar)
    return value


@pytest.mark.parametrize(
    ("script", "place", "origin"),
    [
        (f"{START} a.b=2", "2", None),
        (f'{START} "a.b=2"', "2", None),
        (f"{START} a.b='2'", "2", None),
        (f"N=2\n{START} a.b=$N", "$N", "2"),
        (f"N=2\n{START} a.b=${{N}}", "${N}", "2"),
        (f"N=${{N:-2}}\n{START} a.b=$N", "$N", "2"),
        (f'ALL="a.b=2 a.c=3"\n{START} $ALL', "2", None),
        (f'N=2\nALL="a.b=$N a.c=3"\n{START} $ALL', "$N", "2"),
        (f'ALL=(a.b=2)\n{START} "${{ALL[@]}}"', "2", None),
        (f'N=2; M=$N\nALL=(a.b=$M)\nMORE=("${{ALL[@]}}")\n{START} "${{MORE[@]}}"', "$M", "2"),
        (f"N=1\n{START} a.b=$((N + 1))", "$((N + 1))", "1"),
        (f"{START} a.b=$((1 + 1))", "$((1 + 1))", None),
        (f"{START} \\\n  a.b=\\\n2", "2", None),
    ],
)
def test_a_value_stands_where_it_is_set_and_comes_from_where_it_is_written(script: str, place: str, origin: str | None) -> None:
    value = scalar(document(script), "a.b")
    assert (value.value, at(script, value.span)) == (2, place)
    assert (at(script, value.origin) if value.origin else None) == origin


def test_lists_and_maps_keep_the_places_of_what_they_hold() -> None:
    script = f"N=8\n{START} 'a.b=[1, two]' a.c={{x:$N}}"
    found = document(script)
    assert plain(found.root) == {"a": {"b": [1, "two"], "c": {"x": 8}}}
    value = find(found.root, "a.b.1")
    assert value is not None
    assert at(script, value.span) == "two"
    assert at(script, scalar(found, "a.c.x").origin) == "8"


def test_later_settings_win_and_those_of_the_command_line_last() -> None:
    script = f"{START} a.b=1 a.b=2 +a.c=3 ++a.c=4 ~a.d a.e=5 ~a.e"
    assert plain(document(script).root) == {"a": {"b": 2, "c": 4}}
    assert plain(document(script, "a.b=7", "a.f=8").root) == {"a": {"b": 7, "c": 4, "f": 8}}


def test_the_program_and_its_options() -> None:
    script = "N=2\ntorchrun --nnodes=$N --nproc_per_node 8 -m verl.trainer.sft_trainer --config-name=sft a.b=1"
    program = document(script).program
    assert program is not None
    assert (program.name, program.launcher, program.config_name) == ("verl.trainer.sft_trainer", "torchrun", "sft")
    assert dict(program.options) == {"--nnodes": "2", "--nproc_per_node": "8", "--config-name": "sft"}
    assert at(script, program.span) == "verl.trainer.sft_trainer"
    assert at(script, program.command) == script.split("\n")[1]


@pytest.mark.parametrize(
    ("command", "name", "launcher"),
    [
        ("python3 -u -X dev train.py", "train.py", ""),
        ("/opt/venv/bin/python3.11 -m a.b", "a.b", ""),
        ("exec python -m a.b", "a.b", ""),
        ('ray job submit --address=x --runtime-env-json \'{"a": "python"}\' -- python3 -m a.b', "a.b", "ray job submit"),
        ('E="$(python3 - <<PY\nprint()\nPY\n)"\nray job submit --runtime-env-json "$E" -- python3 -m a.b', "a.b", "ray job submit"),
        ("srun -N 2 --ntasks=1 bash python3 -m a.b", "a.b", "srun"),
        ("nohup env -u X A=1 python3 -m a.b", "a.b", "nohup"),
        ("python3 -m torch.distributed.run --nproc_per_node=2 train.py", "train.py", "torchrun"),
        ("uv run python -m a.b", "a.b", "uv run"),
        ("PYTHON=$(which python3); $PYTHON -m a.b", "a.b", ""),
        ("X='-m a.b'; torchrun --standalone $X", "a.b", "torchrun"),
    ],
)
def test_programs_behind_others(command: str, name: str, launcher: str) -> None:
    program = document(f"{command} c.d=1").program
    assert program is not None
    assert (program.name, program.launcher) == (name, launcher)


@pytest.mark.parametrize(
    "command",
    ["bash other.sh c.d=1", "python3 -c 'x' c.d=1", "echo python3 -m a.b c.d=1", "python3", "python3 -m", "$X c.d=1", "make c.d=1"],
)
def test_what_starts_no_program_that_can_be_told(command: str) -> None:
    with pytest.raises(UnusableInput) as problem:
        document(command)
    assert [finding.code for finding in problem.value.findings] == ["PW010"]


def test_what_is_not_known_says_why() -> None:
    found = document(f"A=$(nproc)\nif [ -d x ]; then B=1; else B=2; fi\n{START} a.b=$A a.c=$B a.d=$C a.e=$1 a.f=$HOME/x a.g=${{N:-3}}")
    why = {path: found.reasons[scalar(found, path).span] for path in ("a.b", "a.c", "a.d", "a.e", "a.f")}
    assert all(scalar(found, path).tag == UNRESOLVED for path in why)
    assert why["a.b"] == "`$(nproc)` is a command, which is not run"
    assert why["a.c"] == "it depends on whether `[ -d x ]` holds: files are not looked at"
    assert why["a.d"] == "`C` is not set in the script; `--allow-env C` reads it"
    assert why["a.e"] == "`$1` is an argument of the script, and none are given"
    assert why["a.f"] == "`HOME` is what it is where the script runs"
    assert scalar(found, "a.f").text == "$HOME/x"
    assert scalar(found, "a.g").value == 3
    assert found.assumed == {scalar(found, "a.g").span: frozenset({"N"})}


def test_both_ways_are_followed_and_what_is_the_same_in_both_is_known() -> None:
    found = document(f"if nvidia-smi; then A=1; B=2; else A=1; B=3; fi\n{START} a.a=$A a.b=$B")
    assert scalar(found, "a.a").value == 1
    assert scalar(found, "a.b").tag == UNRESOLVED


@pytest.mark.parametrize("test", ["[ $NODES -gt 1 ]", "[[ $NODES -gt 1 ]]", "(( NODES > 1 ))", "[[ $NODES -eq 1 || $NODES -gt 4 ]]"])
def test_a_number_that_only_the_environment_gives_decides_nothing(test: str) -> None:
    found = document(f"if {test}; then A=8; else A=1; fi\n{START} a.a=$A a.b=$NODES a.c=$((NODES * 8)) a.d=${{NODES:-2}}")
    assert all(scalar(found, path).tag == UNRESOLVED for path in ("a.a", "a.b", "a.c"))
    assert scalar(found, "a.d").value == 2


def test_an_exit_for_want_of_arguments_is_gone_past() -> None:
    found = document(f'if [ $# -lt 1 ]; then echo usage; exit 1; fi\nN=$1; shift\n{START} a.b=$N a.c=1 "$@"')
    assert scalar(found, "a.b").tag == UNRESOLVED
    assert scalar(found, "a.c").value == 1
    with pytest.raises(UnusableInput):
        document(f"exit 0\n{START} a.b=1")


def test_a_program_that_may_not_be_started_is_told() -> None:
    found = document(f"if nvidia-smi; then {START} a.b=1; fi")
    assert [item.why for item in found.unchecked] == [
        "whether `verl.trainer.main_ppo` in line 1 is started is not known: it depends on how `nvidia-smi` ends"
    ]


BROKEN = [
    f"{START} \\\n  trainer.nnodes=1 \\\n  # eight\n  trainer.n_gpus_per_node=8 \\\n  a.b=1\n",
    f"{START} trainer.nnodes=1\n  trainer.n_gpus_per_node=8 a.b=1\n",
    f"{START} trainer.nnodes=1 \\  # one\n  trainer.n_gpus_per_node=8 a.b=1\n",
    f"{START} trainer.nnodes=1 \\ \n  trainer.n_gpus_per_node=8 a.b=1\n",
    f"{START} trainer.nnodes=1 trainer.n_gpus_per_node=8 a.b=1 trainer.logger=a,b\n",
    f"{START} trainer.nnodes=1 trainer.n_gpus_per_node=8 a.b=1 'trainer.logger=a,b'\n",
    f'{START} trainer.nnodes=1 trainer.n_gpus_per_node=8 a.b=1 "trainer.logger=a,b"\n',
]


@pytest.mark.parametrize("script", BROKEN)
def test_what_mends_a_script_was_tried(script: str) -> None:
    findings: list[Finding] = list(document(script).findings)
    assert findings
    edits = [finding.edit for finding in findings if finding.edit]
    for edit in edits[:1] if len({e.span.start for e in edits}) < len(edits) else edits:
        script = apply_edits(script, [edit])
    found = document(script)
    assert not found.findings
    assert plain(found.root)["a"] == {"b": 1}  # type: ignore[index]


def test_edits_of_a_dialect_fit_the_script() -> None:
    script = f"{START} trainer.nnodes=1 trainer.n_gpus_per_node='8' actor_rollout_ref.rollout.tensor_model_parallel_size=3\n"
    reading = read(Source("run.sh", script), DeclaredNodes(8))
    edits = [finding.edit for finding in reading.findings if finding.edit]
    assert not any(finding.code == "PW014" for finding in read(Source("run.sh", apply_edits(script, edits[:1]))).findings)


def test_several_programs(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text(f"for n in 1 2; do\n  {START} trainer.nnodes=$n trainer.n_gpus_per_node=8\ndone\n")
    readings = load_all(path, dialect="verl")
    programs = [reading.document.program for reading in readings]
    assert [(each.number, each.count) for each in programs if each] == [(1, 2), (2, 2)]
    assert [scalar(reading.document, "trainer.nnodes").value for reading in readings] == [1, 2]
    first = load(path, dialect="verl", level="placement")
    assert [(each.code, each.severity) for each in first.findings] == [("PW122", Severity.WARNING)]
    again = readings[1].document.compose(Source("run.sh", path.read_text().replace("1 2", "1 5")))
    assert scalar(again, "trainer.nnodes").value == 5


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("run.sh", "", "script"),
        ("run.slurm", "x", "script"),
        ("run", "#!/usr/bin/env bash\n", "script"),
        ("run", f"{START} a.b=1\n", "script"),
        ("run.txt", "a.b=1\n# c\n+d=2\n", "settings"),
        ("overrides.yaml", "- a.b=1\n- +c=2\n", "settings"),
        ("list.yaml", "- a\n- b: 1\n", ""),
        ("train.yaml", "a: b=c\n", ""),
        ("train.yaml", "a:\n  command: python3 -m x a.b=1\n", ""),
        ("run.txt", "a: 1\n", ""),
        ("config", "a: |\n  python3 -m x a.b=1\n", ""),
        ("run.txt", "", ""),
    ],
)
def test_which_kind_of_text_it_is(name: str, text: str, expected: str) -> None:
    source = Source(name, text)
    assert ("script" if is_script(source) else "settings" if is_settings(source) else "") == expected


def test_settings_of_a_file_and_of_a_command_line() -> None:
    text = "# nodes\ntrainer.nnodes=2\ntrainer.n_gpus_per_node=8 \\\n  a.b='x y' # tail\na.c='[1, 2]'\n"
    found = read(Source("run.txt", text), dialect="verl").document
    assert plain(found.root) == {"trainer": {"nnodes": 2, "n_gpus_per_node": 8}, "a": {"b": "x y", "c": [1, 2]}}
    assert at(text, scalar(found, "trainer.n_gpus_per_node").span) == "8"
    found = load_settings(["trainer.nnodes=2", "a.b=a b"], dialect="verl").document
    assert plain(found.root) == {"trainer": {"nnodes": 2}, "a": {"b": "a b"}}


def test_a_program_tells_which_configuration_it_begins_with(tmp_path: Path) -> None:
    folder = tmp_path / "code" / "x"
    (folder / "config").mkdir(parents=True)
    (folder / "main.py").write_text('@hydra.main(version_base=None, config_path="config", config_name="base")\ndef main(c): ...\n')
    (folder / "config" / "base.yaml").write_text("defaults: [more, _self_]\na: {b: 1}\n")
    (folder / "config" / "more.yaml").write_text("a: {b: 0, c: 2}\n")
    composer = Composer((str(tmp_path / "code"),))
    (found,) = documents_of(Source(str(tmp_path / "run.sh"), "python3 -m x.main a.b=5"), composer)
    assert plain(found.root) == {"a": {"c": 2, "b": 5}}
    assert found.program is not None
    assert found.program.found
    (found,) = documents_of(Source(str(tmp_path / "run.sh"), "python3 -m x.main a.d=5"), composer)
    assert [finding.code for finding in found.findings] == ["PW012"]
    (found,) = documents_of(Source(str(tmp_path / "elsewhere" / "run.sh"), "python3 -m x.main a.d=5"), Composer())
    assert not found.program or not found.program.found
    outside = f"python3 -m x.main --config-path={tmp_path}/code/x/config --config-name=base a.d=5"
    (found,) = documents_of(Source(str(tmp_path / "elsewhere" / "run.sh"), outside), Composer())
    assert not found.findings  # nothing outside of the folder of the script is read


BOTH = "if nvidia-smi; then\ncat > f.sh <<'END'\n{0} a.b=1\nEND\nelse\ncat > f.sh <<'END'\n{0} a.b=2\nEND\nfi\nbash f.sh"


@pytest.mark.parametrize(
    ("script", "values"),
    [
        ("N=3; bash -c '{0} a.b=${{N:-9}}'", ["9"]),
        ("export N=3; bash -c '{0} a.b=${{N:-9}}'", ["3"]),
        ("set -a; N=3; set +a; bash -c '{0} a.b=${{N:-9}}'", ["3"]),
        ("N=3 bash -c '{0} a.b=${{N:-9}}'", ["3"]),
        ("N=3; ssh h1 '{0} a.b=${{N:-9}}'", [None]),
        ("N=3; ssh -o X=y h1 {0} a.b=$N", ["3"]),
        ("ssh h1 {0} a.b=\"'1'\"", ["1"]),
        ("ssh h1 bash <<END\n{0} a.b=1\nEND", ["1"]),
        ("docker run -e N=3 image bash -c '{0} a.b=${{N:-9}}${{M:-1}}'", [None]),
        ("env N=3 bash -c '{0} a.b=${{N:-9}}'", ["3"]),
        ("export N=3; env -i bash -c '{0} a.b=${{N:-9}}'", [None]),
        ("go() {{ {0} a.b=1; }}; time go", ["1"]),
        ("{0} a.b=`echo \\`echo 4\\``", [None]),
        ("ray job submit -- {0} 'a.b=${{c.d}}'", [None]),
        ("ray job submit -- {0} \"a.b=['x']\" a.b='1'", ["1"]),
        ("bash -euo pipefail -c '{0} a.b=1'", ["1"]),
        ("bash -ceuo pipefail '{0} a.b=1'", ["1"]),
        ("bash -s 3 <<'END'\n{0} a.b=$1\nEND", ["3"]),
        ("go() {{ {0} a.b=5; }}; export -f go; bash -c go", ["5"]),
        ("trap '{0} a.b=3' EXIT; {0} a.b=1", ["3", "1"]),
        ("for i in 1 2 3; do {0} a.b=1 && break; done", ["1"]),
        # waiting for a service: whether a turn leaves the loop is not known
        ('for i in 1 2 3; do if curl x; then N=1; break; fi; done; if [ ! "$N" ]; then exit 1; fi; {0} a.b=1', ["1"]),
        ("N=0; for i in 1 2 3; do if curl x; then N=1; break; fi; done; {0} a.b=$N", [None]),
        ("N=0; while true; do if curl x; then N=1; break; fi; sleep 1; done; {0} a.b=$N a.b=2", ["2"]),
        ("for i in 1 2; do if curl x; then break; fi; if [ $i -eq 2 ]; then exit 1; fi; done; {0} a.b=1", ["1"]),
        ("for i in 1 2; do if curl x; then continue; fi; N=2; done; {0} a.b=${{N:-1}}", [None]),
        ("N=1; while true; do if curl x; then break; else exit 1; fi; done; {0} a.b=$N", ["1"]),
        ("for i in 1 2; do if curl x; then exit 1; else break; fi; done; {0} a.b=1", ["1"]),
        ("for i in 1 2; do if curl x; then break; fi; return 1; done; {0} a.b=1", ["1"]),
        ("for ((i = 1; i <= 2; i++)); do {0} a.b=$i; done", ["1", "2"]),
        ("for ((i = 0; i < $(nproc); i++)); do {0} a.b=$i; done", [None]),
        ("f() {{ for i in 1 2; do curl x && return; if [ $i -eq 2 ]; then return; fi; done; {0} a.b=9; }}; f; {0} a.b=1", ["1"]),
        ("for i in 1 2; do if curl x; then N=1; continue; fi; N=2; done; {0} a.b=$N", [None]),
        # an unknown word in what two branches share
        ('A="a.b=1 c=$(date) d=2"; if curl x; then A="$A e=3"; fi; {0} $A', ["1"]),
        ('N=$(date); A="a.b=1 c=$N"; if curl x; then A="a.b=1 c=$N"; fi; {0} $A', ["1"]),
        ('A="a.b=1 c=$(date)"; if curl x; then A="a.b=2 c=$(date)"; fi; {0} $A', [None]),
        (": ${{N:?}}; {0} a.b=$N", [None]),
        (BOTH, [None]),
        ("cat > f.sh <<'END'\n{0} a.b=0\nEND\nsed -i s/0/4/ f.sh\n{0} a.b=1; bash f.sh", ["1"]),
        ("echo '{0} \\' > f.sh; echo a.b=2 >> f.sh; bash f.sh", ["2"]),
        ("{{ echo N=3; echo M=4; }} > f.env; source f.env; {0} a.b=$N$M", ["34"]),
        ("cat > f.sh <<END && {0} a.b=1\necho\nEND", ["1"]),
        ("N=$(echo $(seq -s, 0 3) | tr ',' '\\n' | wc -l); {0} a.b=$N", [None]),
        ("N=$(nvidia-smi -L | wc -l); {0} a.b=$N", [None]),
        ("seq 3 | xargs -I{{}} bash -c '{0} a.b={{}} a.c=1'", [None]),
        ("bash -s -- 3 <<'END'\n{0} a.b=$1\nEND", ["3"]),
        ("echo 'N=3; return; N=4' > f.env; . ./f.env; {0} a.b=$N", ["3"]),
        ("set -a; N=3; set +a; M=4; bash -c '{0} a.b=${{N:-8}}${{M:-9}}'", ["39"]),
        ("bash -ec '{0} a.b=1; false; {0} a.b=2'; {0} a.b=3", ["1", "3"]),
        ("set -e; bash -c 'false; {0} a.b=2'; {0} a.b=3", ["2", "3"]),
        ("go() {{ {0} a.b=2; }}; trap go EXIT; {0} a.b=1", ["2", "1"]),
        ("select N in 1 2; do {0} a.b=$N; done", [None]),
        ('set -e; [ -n "$WANDB" ]; {0} a.b=1', ["1"]),
    ],
)
def test_a_program_gets_what_bash_gives_it(script: str, values: list[str | None]) -> None:
    documents = documents_of(Source("run.sh", script.format(START)), Composer())
    found = [find(document.root, "a.b") for document in documents]
    assert [None if not isinstance(value, Scalar) or value.tag == UNRESOLVED else value.text for value in found] == values


def test_what_an_alias_makes_of_a_command_is_said_to_be_unknown() -> None:
    alias = "alias python3='python3 -u'"
    (document,) = documents_of(Source("run.sh", f"shopt -s expand_aliases\n{alias}\n{START} a.b=1"), Composer())
    assert [item.why for item in document.unchecked][:1] == [f"`{alias}` in line 2 is not followed; what it sets is not known"]
    (plain,) = documents_of(Source("run.sh", f"{alias}\n{START} a.b=1"), Composer())  # bash expands it in a terminal alone
    assert not any("alias" in item.why for item in plain.unchecked)


def test_a_pattern_of_file_names_is_no_wrong_argument() -> None:
    (document,) = documents_of(Source("run.sh", f"{START} a.b=*.json conf/*.txt"), Composer())
    assert not document.findings
    assert any("it stands for the names of files" in item.why for item in document.unchecked)
