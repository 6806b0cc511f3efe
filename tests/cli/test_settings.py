"""Settings of a project: where they are found, what comes before them, and what cannot be used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from placewright.cli.main import run
from placewright.cli.settings import settings_of
from placewright.models.findings.finding import UnusableInput
from printed import last_line as verdict_of

TRAIN = "cluster:\n  num_nodes: 2\n  component_placement:\n    actor: 0-7\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a configuration in a folder, which is the current one."""
    root = tmp_path / "repository"
    for folder in (".git", "jobs"):
        (root / folder).mkdir(parents=True)
    (root / "jobs" / "train.yaml").write_text(TRAIN)
    monkeypatch.chdir(root / "jobs")
    return root


def last_line(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    run(["verify", "train.yaml", *words])
    return verdict_of(capsys.readouterr().out)


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "incomplete" in last_line(capsys)
    (project / "placewright.toml").write_text('cluster = "x8"\nlevel = "placement"\nframework = "rlinf==0.2"\n')
    assert "ok: placement of RLinf 0.2 (stated) on 2x8;" in last_line(capsys)
    monkeypatch.setenv("PLACEWRIGHT_CLUSTER", "2x16")
    assert " on 2x16;" in last_line(capsys)
    assert " on 2x4;" in last_line(capsys, "--cluster", "2x4")
    assert "placement and training arithmetic of RLinf 0.1 (stated)" in last_line(
        capsys, "--level", "training", "--framework", "rlinf==0.1"
    )


def test_the_address_of_the_documentation_is_a_setting(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "placewright.toml").write_text('docs-url = "https://docs.example.org"\ncluster = "1x4"\n')
    run(["verify", "train.yaml", "--format", "sarif"])
    (rule,) = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]["rules"][:1]
    assert rule["helpUri"] == f"https://docs.example.org/reference/codes/{rule['id']}.html"


def test_the_nearest_file_counts_up_to_the_root_of_the_repository(project: Path) -> None:
    (project.parent / "placewright.toml").write_text('cluster = "x1"\n')
    assert settings_of(".") == {}
    (project / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert settings_of(".") == {}
    (project / "pyproject.toml").write_text('[tool.placewright]\ncluster = "x2"\nconfig-root = ["jobs"]\n')
    assert settings_of(".") == {"cluster": "x2", "roots": (".",)}
    (project / "placewright.toml").write_text('cluster = "x3"\n')
    assert settings_of(".") == {"cluster": "x3"}
    Path("placewright.toml").write_text('dialect = "rlinf"\nframework = ["verl == 0.6.1", "ROLL==0.2.0"]\n')
    assert settings_of(".") == {"dialect": "rlinf", "frameworks": ("verl==0.6.1", "roll==0.2.0")}


def test_paths_are_relative_to_the_file(project: Path) -> None:
    (project / "machines.yaml").write_text("nodes:\n  - {accelerators: {count: 8, model: H100}, repeat: 2}\n")
    (project / "placewright.toml").write_text('cluster = "machines.yaml"\n')
    assert settings_of(".") == {"cluster": os.path.join("..", "machines.yaml")}
    assert run(["verify", "train.yaml"]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('clustr = "x8"', "`clustr` is not a setting of placewright"),
        ("cluster = 8", "`cluster` is not machines"),
        ('cluster = "2x0x9x9"', "`cluster` is not machines"),
        ('cluster = "gone.yaml"', "`cluster` is not machines"),
        ('level = "all"', "`level` is not one of"),
        ('dialect = ["verl"]', "`dialect` is not one of"),
        ('config-root = "gone"', "`config-root` is not an existing folder"),
        ('framework = "verl"', "`framework` is not a release"),
        ("cluster = ", "`placewright.toml` cannot be read"),
        ('cluster = "\\q"', "`placewright.toml` cannot be read"),
    ],
)
def test_what_cannot_be_used_is_one_finding(project: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("placewright.toml").write_text(text)
    with pytest.raises(UnusableInput) as raised:
        settings_of(".")
    (finding,) = raised.value.findings
    assert finding.code == "PW016"
    assert finding.message.startswith(message)
    assert run(["verify", "train.yaml"]) == 2
    assert "error[PW016]" in capsys.readouterr().err
    assert run(["explain", "PW016"]) == 0


def test_settings_hold_for_every_verb_that_reads_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "placewright.toml").write_text('cluster = "x8"\n')
    assert run(["explain", "train.yaml"]) == 0
    assert run(["solve", "train.yaml"]) == 0
    assert run(["whatif", "train.yaml"]) == 0
    assert run(["convert", "train.yaml", "--to", "native"]) == 0
    assert run(["schema"]) == 0


def test_no_reader_of_toml_is_loaded_without_a_file(project: Path) -> None:
    code = "import sys; from placewright.cli.main import run; run(['verify', 'train.yaml']); print('tomllib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_known_releases_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version", "--verbose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("placewright ")
    assert [line for line in lines if line.endswith(":")] == ["RLinf:", "ROLL:", "verl:"]
    assert any(line.split()[:2] == ["0.6.1", "d62da49505"] for line in lines)
    assert run(["--version"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
