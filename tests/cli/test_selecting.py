"""`--select`, `--ignore`, comments, settings, `-q`, `-v`, `--color`: what is left out is counted, never silently green."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from placewright.cli.main import run
from printed import last_line

WRONG = "cluster: {num_nodes: 1, component_placement: {actor: 0-8, rollout: 0-9}}\n"
BY_LINES = "cluster:\n  num_nodes: 1\n  component_placement:\n    actor: 0-8  # placewright: ignore[PW102]\n    rollout: 0-9\n"
IDLE = "cluster: {num_nodes: 1, component_placement: {actor: 0-3}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    for name, text in (("wrong", WRONG), ("lines", BY_LINES), ("idle", IDLE)):
        (tmp_path / f"{name}.yaml").write_text(text)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def out(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    assert run(["verify", *words, "--cluster", "x8"]) == code
    return capsys.readouterr().out


def test_an_ignored_error_is_counted_in_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    last = last_line(out(capsys, 0, "wrong.yaml", "--ignore", "PW102"))
    assert last.startswith("wrong.yaml: ok: 2 errors ignored; placement and")
    assert "2 errors ignored" in out(capsys, 0, "wrong.yaml", "-q", "--ignore", "PW102")
    assert out(capsys, 0, "wrong.yaml", "idle.yaml", "--ignore", "PW102").splitlines()[-1] == "2 files: 2 ok; 2 errors ignored"
    assert "ignored:\n\nerror[PW102]: `actor`" in out(capsys, 0, "wrong.yaml", "-v", "--ignore", "PW102")
    painted = last_line(out(capsys, 0, "wrong.yaml", "--color", "always", "--ignore", "PW102"))
    assert "\x1b[1;33mok\x1b[0m" in painted


def test_a_comment_ignores_one_of_two_like_faults(capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, 1, "lines.yaml")
    assert "error[PW102]: `rollout`" in text and "`actor`: `0-8`" not in text
    assert "faulty: 1 error; 1 error ignored; " in last_line(text)
    assert "error[PW102]: `rollout`" in out(capsys, 1, "lines.yaml", "-q")


@pytest.mark.parametrize(("ranks", "is_told"), [("0-7", True), ("0-8", False)])
def test_a_comment_that_ignores_nothing_is_told_of_a_file_without_errors(
    ranks: str, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once an error is mended, the comment may have something to ignore."""
    (tmp_path / "job.yaml").write_text(
        f"cluster: 1x8\ncomponents:\n  actor: {{placement: {ranks}, memory: 1GiB}}  # placewright: ignore[PW801]\n"
    )
    assert run(["verify", str(tmp_path / "job.yaml")]) == (0 if is_told else 1)
    assert ("nothing is ignored here: no PW801" in " ".join(capsys.readouterr().out.split())) is is_told


@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit"])
def test_every_format_knows_what_is_ignored(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, 1, "lines.yaml", "--format", form)
    if form == "json":
        (ignored,) = json.loads(text)["files"][0]["ignored"]
        assert (ignored["subject"], ignored["line"], ignored["by"]) == ("actor", 4, "comment")
    elif form == "sarif":
        results = json.loads(text)["runs"][0]["results"]
        assert [result.get("suppressions") for result in results] == [None, [{"kind": "inSource"}]]
    else:
        assert "1 error ignored" in text


def test_warnings_may_be_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert "ok: " in out(capsys, 0, "idle.yaml")
    (Path("warns.yaml")).write_text(IDLE.replace("0-3", "0-6"))
    assert "warning[PW801]" in out(capsys, 0, "warns.yaml")
    text = out(capsys, 1, "warns.yaml", "--warnings-as-errors")
    assert "error[PW801]" in text and "a warning, made an error by `--warnings-as-errors`" in text
    out(capsys, 0, "warns.yaml", "--warnings-as-errors", "--ignore", "PW801")


@pytest.mark.parametrize("words", [["--ignore", "PW999,PX"], ["--select", "PW999", "--select", "PX"]])
@pytest.mark.parametrize("form", ["text", "json"])
def test_unknown_codes_are_one_finding(words: list[str], form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "idle.yaml", *words, "--format", form]) == 2
    printed = "".join(capsys.readouterr())
    assert printed.count("unknown codes: PW999, PX") == 1
    assert printed.count("PW016") == (1 if form == "json" else 2)


def test_unusable_input_cannot_be_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "gone.yaml", "--ignore", "PW001"]) == 2
    assert "cannot be ignored" in capsys.readouterr().err
    out(capsys, 2, "gone.yaml", "--ignore", "PW", "--select", "PW8")


def test_quiet_prints_what_is_not_ok_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert out(capsys, 0, "idle.yaml", "-q") == ""
    assert out(capsys, 0, "idle.yaml", "idle.yaml", "-q") == ""
    text = out(capsys, 1, "wrong.yaml", "-q")
    assert text.startswith("error[PW102]") and "not checked:\n" not in text
    assert run(["verify", "idle.yaml", "-q", "-v"]) == 2


def test_colour_may_be_chosen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in out(capsys, 1, "wrong.yaml")
    assert "\x1b" in out(capsys, 1, "wrong.yaml", "--color", "always")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in out(capsys, 1, "wrong.yaml")
    assert "\x1b" not in out(capsys, 1, "wrong.yaml", "--color", "never")
    monkeypatch.delenv("FORCE_COLOR")
    run(["--color", "always", "explain", "PW102"])
    assert "\x1b" in capsys.readouterr().out


def test_settings_and_variables_ignore_too(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    settings = folder / "placewright.toml"
    settings.write_text('ignore = ["PW102"]\n')
    assert "2 errors ignored" in out(capsys, 0, "wrong.yaml")
    out(capsys, 1, "wrong.yaml", "--ignore", "PW8")
    settings.write_text('warnings-as-errors = true\nselect = "PW8"\ncluster = "x8"\n')
    (folder / "run.sh").write_text("python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8 data.seed=1\n")
    (folder / "warns.yaml").write_text(IDLE.replace("0-3", "0-6"))
    out(capsys, 1, "warns.yaml")
    assert run(["convert", "run.sh", "--to", "native", "--level", "placement"]) == 0  # lossy: `--strict` would refuse it
    capsys.readouterr()
    settings.unlink()
    monkeypatch.setenv("PLACEWRIGHT_IGNORE", "PW8 PW102")
    assert "2 errors ignored" in out(capsys, 0, "wrong.yaml")
    monkeypatch.setenv("PLACEWRIGHT_IGNORE", "PW9")
    out(capsys, 2, "wrong.yaml")


def test_paths_of_settings_are_relative_to_their_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text('[tool.placewright.per-path."examples/**"]\nignore = ["PW102"]\n')
    (folder / "examples" / "deep").mkdir(parents=True)
    (folder / "examples" / "deep" / "wrong.yaml").write_text(WRONG)
    out(capsys, 0, "examples/deep/wrong.yaml")
    out(capsys, 1, "wrong.yaml")
    monkeypatch.chdir(folder / "examples" / "deep")
    out(capsys, 0, "wrong.yaml")
    out(capsys, 1, "../../wrong.yaml")


def test_a_path_may_have_its_machines_and_its_level(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def last(*words: str) -> str:
        run(["verify", *words])
        return last_line(capsys.readouterr().out)

    (folder / "big").mkdir()
    (folder / "big" / "idle.yaml").write_text(IDLE)
    (folder / "placewright.toml").write_text(
        'cluster = "x8"\nframework = "rlinf==0.2"\n[per-path."big/*"]\ncluster = "1x16"\nlevel = "placement"\nframework = "rlinf==0.1"\n'
    )
    assert "placement and training arithmetic of RLinf 0.2 (stated) on 1x8;" in last("idle.yaml")
    assert "placement of RLinf 0.1 (stated) on 1x16;" in last("big/idle.yaml")
    assert "placement and training arithmetic of RLinf 0.1 (stated) on 1x4;" in last(
        "big/idle.yaml", "--cluster", "1x4", "--level", "training"
    )
    monkeypatch.setenv("PLACEWRIGHT_CLUSTER", "1x12")
    assert "placement of RLinf 0.1 (stated) on 1x12;" in last("big/idle.yaml")
    monkeypatch.delenv("PLACEWRIGHT_CLUSTER")
    assert run(["convert", "big/idle.yaml", "--to", "native"]) == 0
    assert "cluster: 1x16" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('ignore = ["PW999"]', "`ignore` is not a code"),
        ("warnings-as-errors = 1", "`warnings-as-errors` is not true or false"),
        ('[per-path."a/**"]\nignores = ["PW1"]', "`per-path` is not tables"),
        ('[per-path]\n"a/**" = {ignores = ["PW1"]}', "`per-path` is not tables"),
        ("per-path = 1", "`per-path` is not tables"),
        ('[per-path."a/**"]\ncluster = "2x0x9"', "`per-path` is not tables"),
        ('select = ["PW1", 2]', "`select` is not a code"),
    ],
)
def test_faulty_settings_are_one_finding_at_their_line(text: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "placewright.toml").write_text(text)
    assert run(["verify", "idle.yaml"]) == 2
    error = capsys.readouterr().err
    assert f"error[PW016]: {message}" in error and "placewright.toml:1:" in error
