"""Completion in the shells that are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import placewright as pw
import pytest

CLUSTER = "nodes:\n  - {name: gpu-a, accelerators: {count: 8}}\n  - {name: gpu-b, accelerators: {count: 8}}\n  - {name: cpu, accelerators: {count: 0}}\n"
LINES = {
    "placewright ver": ["verify"],
    "placewright verify --dialect rl": ["rlinf"],
    "placewright explain pw10": ["PW101", "PW102"],
    "placewright plan --model meta-llama/Llama-3.3": ["meta-llama/Llama-3.3-70B", "meta-llama/Llama-3.3-70B-Instruct"],
    "placewright solve job.yaml --cluster machines.yaml --lose gpu-": ["gpu-a", "gpu-b"],
}
BASH = """
eval "$(placewright completion bash)"
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_placewright_completion placewright; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "placewright completion fish | source; complete -C '{line}' | string split -f1 \\t"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "machines.yaml").write_text(CLUSTER)
    command = tmp_path / "bin" / "placewright"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m placewright "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(Path(pw.__file__).parents[1])}


@pytest.mark.slow
@pytest.mark.parametrize(("shell", "program"), {"bash": BASH, "fish": FISH}.items())
def test_words_are_completed(shell: str, program: str, tmp_path: Path, environment: dict[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    for line, words in LINES.items():
        done = subprocess.run(
            [shell, "-c", program.format(line=line)], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert set(words) <= set(done.stdout.split("\n")), (line, done.stdout, done.stderr)


@pytest.mark.slow
def test_zsh_takes_the_script(tmp_path: Path, environment: dict[str, str]) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("needs zsh")
    program = 'autoload -U compinit; compinit -u; eval "$(placewright completion zsh)"; print -r -- ${_comps[placewright]}'
    done = subprocess.run(["zsh", "-f", "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "_placewright_completion", done.stderr
