"""verl's own answers, one line of JSON for each line of JSON: ``python oracle.py CHECKOUT``, started in the checkout.

A question is ``{"program": "main_ppo", "config": "verl/trainer/config/ppo_trainer.yaml", "settings": ["trainer.nnodes=2"], "nodes": [8, 8]}``.
Hydra composes the configuration; then what the program itself does is run up to its first step: its roles and its pools, its check of
the configuration, the sum of the accelerators, the worker groups with all that the constructors of the workers demand, the inference
replicas with their servers, and how samples are dealt out. An answer has the pools, the replicas, and the stage at which verl refuses
with its exception. With ``"only": "compose"`` the answer is the configuration itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import signal
import sys
import warnings
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import stand_ins

LIMIT = 10
"""CPU seconds after which a question is given up."""
MEMORY = 4 << 30
"""Bytes that it may take."""
STARTED_IN = "examples/split_placement"
"""The one folder whose program is started there: its configuration searches others relative to it."""


@cache
def _base(path: str) -> Any:
    import hydra
    from omegaconf import OmegaConf

    file = Path(path).absolute()
    before = os.getcwd()
    os.chdir(STARTED_IN if path.startswith(STARTED_IN) else ".")
    try:
        with hydra.initialize_config_dir(config_dir=str(file.parent), version_base=None):
            config = hydra.compose(file.stem)
    finally:
        os.chdir(before)
    OmegaConf.set_struct(config, True)
    return config


def composed(question: dict[str, Any]) -> Any:
    """The configuration, as Hydra makes it; its settings are parsed by Hydra, and put in as Hydra does."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf

    config = deepcopy(_base(question["config"]))
    for setting in OverridesParser.create().parse_overrides(list(question.get("settings", ()))):
        if setting.is_delete() or setting.is_sweep_override():
            raise ValueError(f"{setting.input_line} is not put in here")
        added = setting.is_add() or setting.is_force_add()
        OmegaConf.update(config, setting.key_or_group, setting.value(), merge=True, force_add=added)
    return config


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """See above."""
    from omegaconf import OmegaConf

    answer: dict[str, Any] = {"stage": "compose"}
    try:
        config = composed(question)
        if question.get("only") == "compose":
            return {"config": OmegaConf.to_container(config, resolve=False), "values": _resolved(config)}
        from programs import run

        run(question["program"], config, question["nodes"], answer)
        answer["stage"] = ""
    except Exception as refused:
        answer["error"] = f"{type(refused).__name__}: {refused}"[:600]
    return answer


def _resolved(config: Any) -> dict[str, Any]:
    """Every value by its dotted path, as it is where nothing else is set; what cannot be resolved is left out."""
    from omegaconf import DictConfig, ListConfig, OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    found: dict[str, Any] = {}

    def visit(node: DictConfig, path: str) -> None:
        for key in node:
            name = f"{path}{key}"
            if OmegaConf.is_missing(node, key):
                found[name] = "???"
                continue
            try:
                value = node[key]
            except OmegaConfBaseException:
                continue
            if isinstance(value, DictConfig):
                visit(value, f"{name}.")
            else:
                found[name] = OmegaConf.to_container(value) if isinstance(value, ListConfig) else value

    visit(config, "")
    return found


def _too_long(*_: Any) -> None:
    raise TimeoutError("no answer in time")


def main() -> None:
    """Answers every line of standard input."""
    stand_ins.install(sys.argv[1])
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = answered(json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
