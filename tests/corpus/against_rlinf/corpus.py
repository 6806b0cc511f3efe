"""The configurations of RLinf, composed by Hydra, judged by both on nodes of 8 accelerators."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Iterator

from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.dialects.rlinf.modes.state import MULTI_AGENT_DATA, Placer
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.planner.verify import verify

from .comparison import Child

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus" / "rlinf"
LIST = CORPUS / "placement_files.txt"
FILES = [CORPUS / line for line in LIST.read_text("utf-8").split()] if LIST.is_file() else []
FOLDERS = {"EMBODIED_PATH": "embodiment", "REWARD_PATH": "reward", "DIFFUSION_PATH": "diffusion"}
GROUPS = ("embodiment", "reasoning", "sft", "reward")
EACH = 8


def judged(checkout: str, level: str) -> Iterator[tuple[str, tuple[str, ...], str, str]]:
    """(file, codes of our errors, how RLinf refuses it or "", how it refuses to place it or "") of each that Hydra composes."""
    folders = {name: str(CORPUS / "yaml" / "examples" / folder) for name, folder in FOLDERS.items()}
    roots = (*(str(CORPUS / "yaml" / "examples" / group / "config") for group in GROUPS), str(CORPUS / "yaml"))
    before = dict(os.environ)
    os.environ.update(folders, REPO_PATH=str(CORPUS / "yaml"))
    try:
        composer = Composer(roots, allowed=(*folders, "REPO_PATH"))
        with Child(checkout) as child:
            for file in FILES:
                config = composed(file)
                if config is None:
                    continue
                reading = load(file, DeclaredNodes(EACH), level=level, composer=composer)
                cluster = reading.problem.cluster if reading.problem else None
                nodes = [len(node.accelerators) for node in cluster.nodes] if cluster else [EACH] * config.cluster.num_nodes
                answer = child.ask(question(config, nodes))
                components = answer.get("components", {})
                failed = [f"{name}: {each['error']}" for name, each in components.items() if "error" in each]
                refusal = answer.get("error", "") or "; ".join(failed)
                codes = tuple(sorted({finding.code for finding in verify(reading).errors}))
                yield file.name, codes, refusal or answer["validation"], refusal
    finally:
        os.environ.clear()
        os.environ.update(before)


def composed(file: Path) -> Any:
    """The configuration as Hydra composes it; None where it refuses."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with hydra.initialize_config_dir(config_dir=str(file.parent), version_base="1.1"):
                return hydra.compose(file.stem)
        except hydra.errors.HydraException:
            GlobalHydra.instance().clear()
            return None


def question(config: Any, nodes: list[int]) -> dict[str, Any]:
    """What the oracle is asked of a composed configuration: its class is the one that its main program uses."""
    from omegaconf import OmegaConf

    task = OmegaConf.select(config, "runner.task_type", default="")
    agents = OmegaConf.select(config, "data.type", default="") == MULTI_AGENT_DATA
    placer = {
        "reasoning": Placer.MULTI_AGENT if agents else Placer.MODEL_PARALLEL,
        "coding_online_rl": Placer.MODEL_PARALLEL,
        "reasoning_eval": Placer.MULTI_AGENT_EVAL if agents else Placer.MODEL_PARALLEL_EVAL,
    }.get(task, Placer.HYBRID)
    return {
        "text": OmegaConf.to_yaml(config),
        "nodes": [{"accelerators": count, "model": "NV_GPU:H100" if count else ""} for count in nodes],
        "placer": placer.value,
        "custom": ["rollout_judge"] if OmegaConf.select(config, "agentloop.use_local_judge", default=False) else [],
        "validates": True,
    }
