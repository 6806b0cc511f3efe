"""The profile of a checkout of RLinf, and several of them as ranges of releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.tools.rlinf_profile import profile, ranges

FILES = {
    "rlinf/config.py": 'SUPPORTED_TASK_TYPE = ["embodied", "sft"]\ndef f(cfg):\n    return cfg.runner.get("only_eval", False), cfg.mine.own\n',
    "rlinf/scheduler/cluster/config.py": "class ClusterConfig:\n    num_nodes: int\n    profiling: int = 0\n",
    "rlinf/scheduler/hardware/robots/arm.py": (
        "class Arm:\n    HW_TYPE = 'Arm'\n"
        "@NodeHardwareConfig.register_hardware_config(Arm.HW_TYPE)\n@dataclass\nclass ArmConfig(HardwareConfig):\n    ip: str\n    port: int = 1\n"
    ),
    "rlinf/algorithms/advantages.py": '@register_advantage("gae")\ndef f():\n    pass\n',
    "rlinf/algorithms/losses.py": '@register_policy_loss("actor")\ndef f():\n    pass\n',
    "examples/sft/train.py": '@hydra.main(version_base="1.1", config_path="config", config_name="run")\ndef main(cfg):\n    raise SystemExit\n',
    "examples/sft/config/run.yaml": "cluster: {component_placement: {actor: all}}\nrunner: {task_type: sft, deep: {a: {b: 1}}}\nhydra: {run: 1}\n",
    "examples/sft/config/part.yaml": "only: {a: 1}\n",
    "examples/sft/config/grouped.yaml": "defaults: [env/b@env.train, model/c, _self_, override hydra/job_logging: d]\ncluster: {}\nrunner: {}\n",
    "examples/sft/config/env/b.yaml": "seed: 1\ninner: {e: {f: 1}}\n",
    "examples/sft/config/model/c.yaml": "size: 1\n",
}  # fmt: skip

ENVIRONMENTS = 'class SupportedEnvType(Enum):\n    LIBERO = "libero"\n    GYM = "gym"\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_facts_are_read_without_running_anything(checkout: Path) -> None:
    found = profile(checkout)
    assert found["task"] == ["embodied", "sft"] and found["advantage"] == ["gae"] and found["loss"] == ["actor"]
    assert (found["hardware"], found["hardware_field"], found["hardware_required"]) == (["Arm"], ["Arm.ip", "Arm.port"], ["Arm.ip"])
    assert found["cluster_key"] == ["num_nodes", "profiling"]
    assert found["program"] == ["examples/sft/train.py:config/run"]
    assert found["key"] == [
        "cluster", "cluster.num_nodes", "cluster.profiling", "env.train.inner", "env.train.seed", "model.size", "runner", "runner.deep", "runner.deep.a", "runner.only_eval",
        "runner.task_type",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("config", "registry"),
    [
        ('class SupportedModel(Enum):\n    PI = ("pi", "embodied")\n    LM = ("lm", "reasoning")\n    ARM = ("arm", "embodied")\n', ""),
        (
            "".join(f'SupportedModel.{name.upper()} = SupportedModel.register("{name}", force=True)\n' for name in ("pi", "lm", "arm"))
            + "EMBODIED_MODEL = set({SupportedModel.PI})\n",
            'register_model(SupportedModel.ARM.value, build, category="embodied")\n',
        ),
    ],
)
def test_models_are_listed_or_registered(config: str, registry: str, tmp_path: Path) -> None:
    for name, text in (("config.py", config), ("models/__init__.py", registry), ("envs/__init__.py", ENVIRONMENTS)):
        (tmp_path / "rlinf" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rlinf" / name).write_text(text)
    found = profile(tmp_path)
    assert (found["model"], found["embodied_model"]) == (["pi", "lm", "arm"], ["pi", "arm"])
    assert found["environment"] == ["libero", "gym"]


def test_an_empty_folder_has_no_facts(tmp_path: Path) -> None:
    assert not any(profile(tmp_path).values())


def test_profiles_become_ranges() -> None:
    found = ranges({"1": {"key": ["a", "b", "c"]}, "2": {"key": ["a", "c", "d"]}, "3": {"key": ["a", "b", "d"]}})
    assert found == {"key": {"2:": ["d"], ":": ["a"], ":2,3:": ["b"], ":3": ["c"]}}
