"""`placewright explain`: pages, the list, and codes that do not exist."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import placewright
import pytest
from placewright.cli.main import run
from placewright.models.findings.codes import CODES
from printed import last_line, unwrapped

ASSUMED = "no machines were named: 8 on each node are assumed, enough for all ranks"
HEAVY = ("ortools", "ray", "networkx", "rich", "pydantic", "yaml")


def test_codes_are_explained_in_the_order_in_which_they_were_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "PW203", "pw102"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"PW203: {CODES['PW203']}\n")
    assert f"\n\n\nPW102: {CODES['PW102']}\n" in out
    assert "\x1b" not in out


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {code}  {title}\n" in out for code, title in CODES.items())


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "PW102", "PW103", "--format", "json"]) == 0
    assert [page["code"] for page in json.loads(capsys.readouterr().out)["codes"]] == ["PW102", "PW103"]
    assert run(["explain", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["codes"]) == len(CODES)


def test_a_code_that_does_not_exist_is_exit_2_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "PW102", "PW1O3"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "there is no code `PW1O3`; did you mean PW103 (" in captured.err


def test_a_name_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "\x1b[2J"]) == 2
    assert r"`\x1b[2J`" in capsys.readouterr().err


def test_the_front_door_explains_too() -> None:
    assert placewright.explain("PW102").startswith(f"PW102: {CODES['PW102']}\n")
    with pytest.raises(ValueError, match="did you mean PW102"):
        placewright.explain("PW1O2")


TRAIN = "cluster:\n  num_nodes: 2\n  component_placement:\n    actor: 0-15\n    rollout: 0-7\n"


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.yaml").write_text(TRAIN)
    return "train.yaml"


def test_files_are_explained_one_after_the_other_and_the_worst_decides(train: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yaml").write_text(TRAIN.replace("0-7", "0-17"))
    assert run(["explain", train, "--cluster", "x8"]) == 0
    assert run(["explain", train, "bad.yaml", "none.yaml", "--cluster", "x8"]) == 2
    out = capsys.readouterr().out
    assert out.count("train.yaml: needs 16 accelerators on 2 nodes, none of 16 idle; verify finds no error\n") == 2
    assert "bad.yaml: needs 16 accelerators on 2 nodes, none of 16 idle; verify finds 1 error\n" in out
    assert out.endswith("none.yaml: verify finds 1 error\n")


def test_a_file_may_be_called_like_anything_but_a_code(train: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("memory").write_text(TRAIN)
    assert run(["explain", "memory", "--cluster", "x8"]) == 0
    assert run(["explain", "memory"]) == 5
    assert last_line(capsys.readouterr().out).endswith("incomplete: ranks not checked: accelerators per node unknown. Pass `--cluster x8`")
    Path("PW102").write_text(TRAIN)
    capsys.readouterr()
    assert run(["explain", "PW102"]) == 0
    assert capsys.readouterr().out.startswith("PW102: ")
    assert run(["explain", "./PW102", "--cluster", "x8"]) == 0
    assert capsys.readouterr().out.endswith("./PW102: needs 16 accelerators on 2 nodes, none of 16 idle; verify finds no error\n")
    assert run(["explain", "./PW102"]) == 5
    assert ASSUMED in unwrapped(capsys.readouterr().out)


def test_settings_count(train: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["explain", train, "--set", "cluster.component_placement.rollout=8-11", "--cluster", "x8", "--format", "json"]
    assert run(asked) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    (placed,) = [each for each in file["numbers"] if (each["component"], each["name"]) == ("rollout", "world size")]
    assert placed["value"] == 4
    assert placed["figures"][0]["file"].startswith("--set")


def test_the_front_door_explains_files_too(train: str) -> None:
    assert placewright.explain(train, "x8").splitlines()[-1].startswith("train.yaml: needs 16 accelerators")
    found = placewright.explanation(train)
    assert (found.assumed, found.needs.accelerators) == (8, 16)
    assert placewright.explanation(placewright.load(train)).assumed == 0  # it was read: nothing can be assumed any more


def test_a_file_is_explained_without_what_only_solving_needs(train: str) -> None:
    code = (
        "import sys\nfrom placewright.cli.main import run\nrun(['explain', 'train.yaml'])\n"
        f"print(*[name for name in {HEAVY[:-1]!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys\nfrom placewright.cli.main import run\nrun(['explain', 'PW202'])\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_the_model_that_is_named_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, file = tmp_path / "config.json", tmp_path / "job.yaml"
    config.write_text('{"model_type": "qwen2", "num_hidden_layers": 30, "num_attention_heads": 30, "hidden_size": 3840}')
    file.write_text(
        "cluster: 1x8xH100\ncomponents:\n  actor: {placement: 0-7, memory: 9GiB, parallel: {tp: 4}, estimate: {model: my/model}}\n"
    )
    assert run(["explain", str(file)]) == 0
    assert "name its `config.json` with `--model-config`" in unwrapped(capsys.readouterr().out)
    assert run(["explain", str(file), "--model-config", str(config)]) == 1  # 30 heads among 4
    assert "verify finds 1 error" in capsys.readouterr().out
    assert run(["explain", str(file), "--model-config", str(tmp_path / "none.json"), "--format", "json"]) == 2
