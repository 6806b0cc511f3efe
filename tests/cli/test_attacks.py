"""Configurations that want more than to be read: nothing of them is run, nothing of the environment comes out, nothing is left behind.

The strings are in `attacks/`: one a line, `\\n` a new line, in scripts `\\0` a null byte. Each goes through whole commands, in CPU time and memory that are bounded.
"""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Callable, Iterator, Sequence

import pytest
from placewright.cli.main import run
from sampling import stated

HERE = Path(__file__).parent / "attacks"
SECRET = "hunter2-canary-9731"
SECONDS, DRAWN = 5.0, 10.0
"""CPU time after which `verify`, or a command that draws every node, counts as one that does not end."""
MEMORY = 512 << 20
ROLL = """\
exp_name: x
rollout_batch_size: 128
adv_estimator: reinforce
pretrain: a
actor_train: {{training_args: {{}}, strategy_args: {{strategy_name: fsdp2_train, strategy_config: {{}}}}, device_mapping: {mapping}}}
actor_infer: {{strategy_args: {{strategy_name: vllm, strategy_config: {{}}}}, device_mapping: "list(range(8))"}}
reference: {{strategy_args: {{strategy_name: hf_infer, strategy_config: {{}}}}, device_mapping: "list(range(8))"}}
rewards: {{math: {{world_size: 1}}}}
"""


def attacks(name: str) -> list[str]:
    return [line for line in (HERE / f"{name}.txt").read_text("utf-8").splitlines() if line]


LONG = {
    "brackets": "[" * 60_000,
    "nested lists": "[" * 500 + "0" + "]" * 500,
    "parentheses": "(" * 40_000 + "0" + ")" * 40_000,
    "sum": "+".join(["[0]"] * 20_000),
    "unary": "[" + "-" * 50_000 + "1]",
    "not": "not " * 15_000 + "0",
    "digits": "[" + "9" * 60_000 + "]",
    "powers": "**".join(["9"] * 10_000),
    "comparisons": "<".join(["1"] * 20_000),
    "attributes": "a" + ".a" * 30_000,
    "calls": "list(" * 10_000 + ")" * 10_000,
    "subscripts": "[0]" * 20_000,
    "lambdas": "lambda: " * 8_000 + "0",
    "conditions": "1 if 1 else " * 5_000 + "0",
    "text": "'" + "x" * 60_000 + "'",
    "one long name": "x" * 65_000,
    "newlines": "(\n" * 20_000,
    "bytes that are no text": "\x00\x01\x7f",
    "much": "list(range(8))" + " " * 70_000,
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own, a secret in the environment, and not more memory than a little."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CANARY", SECRET)
    monkeypatch.setenv("PLACEWRIGHT_DEBUG", "1")
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    before = resource.getrlimit(resource.RLIMIT_AS)
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture
def outcome(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[int]]:
    """Runs each verb on a file, one for text and the next for JSON, and says how that ended, after all that must hold was checked."""

    def judged(name: str, text: str, *more: str, verbs: Sequence[str] = ("verify",)) -> list[int]:
        if name:
            Path(name).write_bytes(text.encode("utf-8", "surrogatepass"))
        files = [name] if name else []
        there = sorted(path.name for path in tmp_path.iterdir())
        codes = []
        for number, verb in enumerate(verbs, len(text)):
            form = ["--format", "json"] if number % 2 else ["--level", "training"]
            began = time.process_time()
            codes.append(run([verb, *files, *more, *form]))
            spent = time.process_time() - began
            captured = capsys.readouterr()
            said = captured.out + captured.err
            assert codes[-1] in (0, 1, 2, 5), said
            assert spent < (SECONDS if verb == "verify" else DRAWN), (verb, spent)
            assert SECRET not in said and SECRET.upper() not in said
            assert "Traceback" not in said
            assert "root:" not in said
            assert "\x1b" not in said
            if "json" in form:
                json.loads(captured.out)
            assert sorted(path.name for path in tmp_path.iterdir()) == there
        return codes

    return judged


def at_release(dialect: str, text: str) -> list[str]:
    return [word for release in stated(dialect, len(text)) for word in ("--framework", release)]


WORKED_OUT = ("[True]", "[0] if True else [1]", "[0] or open('pwned', 'w')", "list(*[range(8)])", "list(range(*[0, 8]), *[])")
"""What Python makes ids of without calling anything but `list` and `range`."""


def test_there_are_enough() -> None:
    assert sum(len(attacks(path.stem)) for path in HERE.glob("*.txt")) >= 300
    assert len(attacks("device_mapping")) + len(LONG) + len(attacks("scripts")) >= 200


@pytest.mark.parametrize("text", [*attacks("device_mapping"), *LONG.values()], ids=lambda text: text[:40])
def test_a_device_mapping_is_refused(text: str, outcome: Callable[..., list[int]]) -> None:
    mapping = json.dumps(text.replace("\\n", "\n"))
    # ROLL takes a bool for a number; what an interpolation holds is not known here, and that is said.
    codes = outcome("run.yaml", ROLL.format(mapping=mapping), "--cluster", "2x8", "--dialect", "roll", *at_release("roll", text))
    assert all(codes) or text in WORKED_OUT or text.startswith("${"), "nothing was wrong with it"


@pytest.mark.parametrize("text", attacks("scripts"), ids=lambda text: text[:40])
def test_a_script_is_read_and_never_run_nor_its_variables_shown(text: str, outcome: Callable[..., list[int]]) -> None:
    for name in ("pwned.sh", "pwned.py", "pwned.so"):
        Path(name).write_text("touch pwned\n")
    more = ["--cluster", "2x8", "--allow-env", "CANARY", *at_release("verl", text)]
    outcome("run.sh", "#!/bin/bash\n" + text.replace("\\n", "\n").replace("\\0", "\0") + "\n", *more)


@pytest.mark.parametrize("text", attacks("yaml"), ids=lambda text: text[:40])
def test_a_configuration_is_read_and_never_built(text: str, outcome: Callable[..., list[int]]) -> None:
    lines = text.replace("\\n", "\n")
    more = [] if lines.startswith("cluster") or "---" in lines else ["--cluster", "2x8"]
    outcome("run.yaml", lines + "\n", *more, verbs=("verify", "explain"))


@pytest.mark.parametrize("text", attacks("settings"), ids=lambda text: text[:40])
def test_a_setting_is_read_and_never_run(text: str, outcome: Callable[..., list[int]]) -> None:
    more = ["--cluster", "2x8", "--dialect", "verl", *at_release("verl", text)]
    outcome("run.yaml", "trainer: {nnodes: 1, n_gpus_per_node: 8}\n", *more, f"--set={text}")
    outcome("", "", *more, "trainer.n_gpus_per_node=8", f"++x={text}")


NAMES = [
    "$(touch pwned).yaml",
    "`touch pwned`.sh",
    "-rf.yaml",
    "a;touch pwned;.yaml",
    "\x1b[2J.yaml",
    "a\nb.yaml",
    "..%2f..%2fetc.yaml",
    "\u202eab.sh",
    "{1..9}.sh",
    "*.yaml",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_only_a_name(name: str, outcome: Callable[..., list[int]]) -> None:
    outcome(
        f"./{name}",
        "cluster: 1x8\ncomponents: {a: {placement: 0-8}}\n"
        if name.endswith("yaml")
        else "python3 -m verl.trainer.main_ppo trainer.nnodes=x\n",
    )


@pytest.mark.parametrize(
    "name",
    [
        "/dev/zero",
        "/dev/stdin/x",
        "/proc/self/environ",
        "/proc/self/mem",
        "/etc/shadow",
        ".",
        "",
        "\x00",
        "a" * 5000,
        "http://127.0.0.1/x.yaml",
    ],
)
def test_what_is_no_configuration_is_not_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", name]) in (1, 2)
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err


@pytest.mark.parametrize(
    "change",
    [
        {"components": {"a": [{"ranks": [0, 10**9], "node": 0, "kind": "Accelerator", "first": 0, "each": 1, "step": 1, "pitch": 0, "node_group": "cluster"}]}},
        {"components": {"a": [{"ranks": [0, 1], "node": 0, "kind": "Accelerator", "first": 0, "each": 10**9, "step": 0, "pitch": 0, "node_group": "cluster"}]}},
        {"components": {"a": [{"ranks": [0, 1], "node": 0, "kind": "Accelerator", "first": 10**9, "each": 1, "step": 10**18, "pitch": 1, "node_group": "cluster"}]}},
        {"components": {"a": [{"ranks": [0, 1], "node": 0, "kind": "__class__", "first": 0, "each": 1, "step": 1, "pitch": 1, "node_group": "../x"}]}},
        {"cluster": {"nodes": [{"repeat": 131072, "accelerators": {"count": 1024}}]}},
        {"cluster": {"nodes": [{"repeat": 131072, "accelerators": {"count": 1024}}] * 1000}},
        {"cluster": {"nodes": "131072x1024"}},
        {"cluster": {"nodes": [{"labels": {"a": "$(touch pwned)"}, "hardware": [{"type": "x", "__class__": "y"}]}]}},
        {"terms": [{"name": "${oc.env:CANARY}", "value": 1, "bound": 1, "weight": 10**400}]},
        {"status": "__import__('os').system('touch pwned')"},
        {"digest": "sha256:" + "0" * 10**6},
        {"seed": 10**4000},
        {"__proto__": {}, "schema": True},
    ],
    ids=str,
)  # fmt: skip
def test_a_plan_is_read_within_limits(change: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = {
        "schema": 1, "status": "verified", "isolate_accelerator": True, "cluster": {"nodes": [{"accelerators": {"count": 1}}]}, "components": {},
        "terms": [], "bound": 0, "seed": 0, "seconds": 0.0, "digest": "sha256:0", **change,
    }  # fmt: skip
    Path("plan.json").write_text(
        json.dumps(plan) if "seed" not in change else json.dumps({**plan, "seed": 7}).replace(": 7", ": " + "9" * 4000)
    )
    began = time.process_time()
    assert run(["launch", "plan.json", "--simulate"]) == 2
    assert time.process_time() - began < 2 * SECONDS
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
