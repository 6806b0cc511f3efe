"""What only some releases of RLinf know or refuse: an error where the release at hand does, a warning where only others do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
import yaml
from placewright.models.composition import Composer
from placewright.models.dialects.load import load
from placewright.models.dialects.rlinf import release_of
from placewright.models.dialects.rlinf.known import RELEASES, names, releases_of
from placewright.models.findings.finding import Finding, Severity
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.releases.release import read_releases
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.planner.verify import verify

Judge = Callable[..., list[Finding]]
GROUPS = [{"label": "a", "node_ranks": 0}, {"label": "b", "node_ranks": 1}]
EMBODIED: dict[str, Any] = {
    "runner": {"task_type": "embodied", "only_eval": False, "val_check_interval": -1},
    "cluster": {"num_nodes": 1, "component_placement": {"actor,env,rollout": "all"}},
    "env": {"train": {"total_num_envs": 64, "max_steps_per_rollout_epoch": 80, "group_size": 8}},
    "rollout": {"pipeline_stage_num": 1},
    "actor": {"model": {"num_action_chunks": 8}, "training_backend": "fsdp", "global_batch_size": 64, "micro_batch_size": 8},
    "algorithm": {"adv_type": "gae", "group_size": 1},
}


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Findings on a configuration at a stated release ("" for none), other than of idle components."""

    def found(tree: dict[str, Any], release: str = "") -> list[Finding]:
        file = tmp_path / "run.yaml"
        file.write_text(yaml.safe_dump(tree, sort_keys=False))
        composer = Composer(frameworks=(f"rlinf=={release}",) if release else ())
        return [each for each in verify(load(file, DeclaredNodes(8), composer=composer)).findings if each.code < "PW8"]

    return found


def with_(tree: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The tree with other values by dotted path (`__` for the dot)."""
    copy = yaml.safe_load(yaml.safe_dump(tree))
    for path, value in changes.items():
        place = copy
        *above, last = path.split("__")
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return copy


def codes(findings: list[Finding]) -> set[str]:
    return {each.code for each in findings if each.severity is Severity.ERROR}


def test_several_groups_are_one_label_before_0_2(judged: Judge) -> None:
    tree = {
        "cluster": {"num_nodes": 2, "component_placement": {"actor": {"node_group": "a,b", "placement": "0-15"}}, "node_groups": GROUPS}
    }
    assert codes(judged(tree, "0.1")) == {"PW107"}
    for release in ("0.2", "0.3", "a3816b59"):
        assert not judged(tree, release)
    (warning,) = judged(tree)
    assert (warning.code, warning.severity) == ("PW107", Severity.WARNING) and "only in RLinf 0.1" in warning.notes[0]
    newer = with_(
        tree,
        cluster__node_groups=[*GROUPS, {"label": "c", "node_ranks": 0, "hardware": {"type": "Turtle2", "configs": [{"node_rank": 0}]}}],
    )
    assert not judged(newer)  # no 0.1 has this robot


@pytest.mark.parametrize(
    ("task", "first"), [("sft", "0.2"), ("reasoning_eval", "0.2"), ("embodied_eval", "0.3"), ("offline", "0.3"), ("embodied", "")]
)
def test_a_task_is_unknown_before_its_release(judged: Judge, task: str, first: str) -> None:
    tree = {"cluster": {"num_nodes": 1, "component_placement": {"actor,env,rollout,reward": "all"}}, "runner": {"task_type": task}}
    every = [each.name for each in read_releases(RELEASES)]
    for release in every:
        refused = [each for each in judged(tree, release) if "task_type" in each.message and each.severity is Severity.ERROR]
        assert bool(refused) == (bool(first) and every.index(release) < every.index(first)), release
    assert not [each for each in judged(tree) if "task_type" in each.message]


@pytest.mark.parametrize(
    ("hardware", "release", "code"),
    [
        ({"type": "GimArm", "configs": [{"node_rank": 0}]}, "0.2", "PW116"),
        ({"type": "Turtle2", "configs": [{"node_rank": 0}]}, "0.1", "PW116"),
        ({"type": "Franka", "configs": [{"node_rank": 0, "robot_ip": "10.0.0.1", "gripper_type": "franka"}]}, "0.2", "PW104"),
        ({"type": "Franka", "configs": [{"node_rank": 0, "camera_serials": ["1"]}]}, "0.2", "PW101"),
    ],
)
def test_robots_and_their_fields_are_those_of_the_release(judged: Judge, hardware: dict[str, Any], release: str, code: str) -> None:
    group = {"label": "arm", "node_ranks": 0, "hardware": hardware}
    tree = {"cluster": {"num_nodes": 1, "node_groups": [group], "component_placement": {"env": {"node_group": "arm", "placement": 0}}}}
    assert code in codes(judged(tree, release))
    assert not codes(judged(tree, "a3816b59"))


def test_profiling_is_ignored_before_0_3(judged: Judge) -> None:
    tree = {"cluster": {"num_nodes": 1, "component_placement": {"actor": "all"}, "profiling": {"backend": "none"}}}
    (warning,) = judged(tree, "0.2")
    assert (warning.code, warning.severity) == ("PW117", Severity.WARNING)
    assert codes(judged(tree, "0.3")) == codes(judged(tree)) == {"PW117"}


def test_a_critic_is_started_by_no_program_of_0_1(judged: Judge) -> None:
    tree = {
        "runner": {"task_type": "reasoning"}, "algorithm": {"recompute_logprobs": False},
        "rollout": {"return_logprobs": True}, "actor": {"model": {}}, "critic": {"use_critic_model": True, "model": {}},
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward,critic_inference,critic": "all"}},
    }  # fmt: skip
    assert codes(judged(tree, "0.2")) and not codes(judged(tree, "0.1"))


@pytest.mark.parametrize(
    ("release", "message"), [("0.1", "starts no `critic`: its ranks"), ("0.2", "is false"), ("0.3", "is false"), ("", "is false")]
)
def test_an_unused_critic_is_named_once_by_release(release: str, message: str, tmp_path: Path) -> None:
    tree = {
        "runner": {"task_type": "reasoning"}, "algorithm": {"recompute_logprobs": False}, "rollout": {"return_logprobs": True},
        "actor": {"model": {}}, "critic": {"use_critic_model": False},
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward,critic": "all"}},
    }  # fmt: skip
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(tree, sort_keys=False))
    reading = load(file, DeclaredNodes(8), composer=Composer(frameworks=(f"rlinf=={release}",) if release else ()))
    found = [each.message for each in verify(reading).findings if each.code == "PW803" and each.severity is Severity.WARNING]
    assert len(found) >= 1 and message in found[-1]
    assert reading.problem is not None and "critic" not in {component.name for component in reading.problem.components}


@pytest.mark.parametrize("release", ["0.2", "0.3", ""])
def test_a_component_on_nodes_has_the_accelerators_of_its_ranks(judged: Judge, release: str) -> None:
    tree = {
        "runner": {"task_type": "reasoning"}, "algorithm": {"recompute_logprobs": False}, "rollout": {"return_logprobs": True},
        "actor": {"training_backend": "megatron", "model": {"tensor_model_parallel_size": 2}},
        "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout": {"node_group": "node", "placement": "0"}, "reward": "0"}},
    }  # fmt: skip
    assert codes(judged(tree, release)) == {"PW208"}
    assert not codes(judged(with_(tree, actor__model__tensor_model_parallel_size=1), release))


def test_both_probabilities_needed_a_fix_before_0_3(judged: Judge) -> None:
    tree = {
        "runner": {"task_type": "reasoning"}, "algorithm": {"recompute_logprobs": True}, "rollout": {"return_logprobs": True},
        "actor": {"model": {}}, "cluster": {"num_nodes": 1, "component_placement": {"actor,rollout,reward": "all"}},
    }  # fmt: skip
    assert codes(judged(tree, "0.2")) == codes(judged(tree, "0.1")) == {"PW123"}
    assert not codes(judged(tree, "0.3")) and not codes(judged(tree))
    assert not codes(judged(with_(tree, algorithm__importance_sampling_fix=True), "0.2"))


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"env__train__total_num_envs": 60}, ("0.1", "0.2", "0.3", "a3816b59")),
        ({"runner__only_eval": True, "env__train__total_num_envs": 60, "runner__val_check_interval": 1, "env__eval": EMBODIED["env"]["train"]}, ("0.1",)),
        ({"runner__enable_decoupled_mode": True, "rollout__pipeline_stage_num": 2, "env__train__group_size": 4}, ("0.3", "a3816b59")),
        ({"reward": {"use_reward_model": True}, "rollout__pipeline_stage_num": 2, "env__train__group_size": 4}, ("0.3", "a3816b59")),
        ({"algorithm": {"adv_type": "grpo", "group_size": 1}, "runner__only_eval": True, "env__eval": EMBODIED["env"]["train"]}, ("0.1", "0.2")),
        ({"cluster__component_placement": {"actor": "all", "env": "0-7", "rollout": "0-3"}}, ("0.1",)),
    ],
)  # fmt: skip
def test_arithmetic_of_environments_by_release(judged: Judge, changes: dict[str, Any], refused: tuple[str, ...]) -> None:
    tree = with_(EMBODIED, **changes)
    every = ("0.1", "0.2", "0.3", "a3816b59")
    assert tuple(release for release in every if codes(judged(tree, release))) == refused
    assert not any(codes(judged(EMBODIED, release)) for release in every)


def test_multi_agent_placement_began_with_0_3(judged: Judge) -> None:
    tree = {
        "runner": {"task_type": "reasoning"}, "algorithm": {"recompute_logprobs": False}, "rollout": {"return_logprobs": True},
        "actor": {"model": {}}, "data": {"type": "wideseek_r1"},
        "cluster": {"num_nodes": 1, "component_placement": {"actor,reward": "0-7", "rollout": "0-3"}},
    }  # fmt: skip
    assert not codes(judged(tree)) and not codes(judged(tree, "0.3"))
    assert codes(judged(tree, "0.2"))  # actor and rollout overlap in part


@pytest.mark.parametrize(
    ("text", "release", "reason"),
    [
        ("runner: {task_type: reasoning}", "a3816b59", "newest, assumed"),
        ("env: {channel: {name: a}}", "0.1", "newest that has `env.channel`"),
        ("algorithm: {adv_type: opd}", "a3816b59", "newest, assumed"),
        ("server: {num: 1}", "a3816b59", "newest, assumed"),  # a section of this name may be the user's own
        ("mine: {yours: 1}", "a3816b59", "newest, assumed"),
    ],
)
def test_what_a_file_shows_excludes_releases(text: str, release: str, reason: str) -> None:
    choice = release_of(Document.of(Source("run.yaml", text + "\n")))
    assert (choice.release.name, choice.reason) == (release, reason)


def test_words_leave_the_releases_that_know_them() -> None:
    choice = release_of(Document.of(Source("run.yaml", "runner: {task_type: sft}\n")))
    assert [each.name for each in choice.possible] == ["0.2", "0.3", "a3816b59"]


@pytest.mark.parametrize("key", ["env.train.seed", "env.eval.seed", "env.train.is_eval", "actor.model.image_size"])
def test_keys_of_groups_belong_to_the_releases_whose_groups_set_them(key: str) -> None:
    table = read_releases(RELEASES)
    release = table.find("0.2")
    assert release is not None and any(table.holds(run, release) for run in releases_of("key", key))


@pytest.mark.parametrize("release", ["0.1", "0.2", "0.3", "a3816b59"])
def test_a_checkout_around_the_file_says_its_release(tmp_path: Path, release: str) -> None:
    table = read_releases(RELEASES)
    known = table.find(release)
    assert known is not None
    for path in (table.checkout, *(mark for mark, ranges in table.marks.items() if any(table.holds(each, known) for each in ranges))):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    file = tmp_path / "examples" / "reasoning" / "config" / "run.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("runner: {task_type: reasoning}\n")
    choice = release_of(Document.of(Source.read(file)))
    assert choice.release.name == release and choice.reason == f"checkout {tmp_path.name}"


@pytest.mark.parametrize("code", ["SUPPORTED = ['walking']", ""])
def test_a_task_that_the_release_lacks_is_a_warning_beside_other_code(tmp_path: Path, code: str) -> None:
    for path, text in (("rlinf/scheduler/__init__.py", ""), ("rlinf/config.py", code)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump({**EMBODIED, "runner": {"task_type": "walking"}}, sort_keys=False))
    report = verify(load(file, DeclaredNodes(8)))
    (task,) = (finding for finding in report.findings if "not a task of RLinf" in finding.message)
    assert (task.severity, report.verdict) == (("warning", "incomplete") if code else ("error", "faulty"))


def test_facts_name_known_releases_only() -> None:
    table = read_releases(RELEASES)
    known = {each.name for each in table} | {""}
    for kind in (
        "task",
        "advantage",
        "loss",
        "model",
        "embodied_model",
        "environment",
        "hardware",
        "hardware_field",
        "cluster_key",
        "profiler",
        "program",
        "key",
    ):
        assert names(kind)
        assert all({each.since, each.until} <= known for name in names(kind) for each in releases_of(kind, name))


@pytest.mark.parametrize(("code", "severity"), [("", "error"), ("MINE = 'mine'", "warning")])
def test_an_environment_that_a_changed_checkout_may_know_is_a_warning(tmp_path: Path, code: str, severity: str) -> None:
    for path, text in {
        "rlinf/scheduler/__init__.py": "",
        **dict.fromkeys(read_releases(RELEASES).marks, ""),
        "rlinf/envs/__init__.py": code,
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    tree = {**EMBODIED, "env": {"train": {**EMBODIED["env"]["train"], "env_type": "mine"}}}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(tree))
    findings = load(tmp_path / "run.yaml", DeclaredNodes(8), "auto", "training").findings
    assert [each.severity.value for each in findings if "`mine`" in each.message] == [severity]


@pytest.mark.parametrize("release", ["0.1", "0.2", "0.3", "a3816b59"])
def test_groups_of_an_embodied_job_divide_the_trajectories_of_a_rank(judged: Judge, release: str) -> None:
    tree = with_(EMBODIED, algorithm__adv_type="grpo", algorithm__loss_type="actor", env__train__group_size=1, algorithm__rollout_epoch=2)
    few = "the 16 trajectories of an actor's rank do not divide into groups of `algorithm.group_size` 3"
    assert few in [each.message for each in judged(with_(tree, algorithm__group_size=3), release) if each.severity is Severity.ERROR]
    for right in ({"algorithm__group_size": 16}, {"algorithm__group_size": 3, "algorithm__adv_type": "gae"}):
        assert not [each for each in judged(with_(tree, **right), release) if "trajectories" in each.message]


@pytest.mark.parametrize("release", ["0.1", "0.2", "0.3", "a3816b59"])
def test_a_whole_job_resolves_every_interpolation(judged: Judge, release: str) -> None:
    whole = with_(EMBODIED, actor__group_name="A", runner__logger={"log_path": "x"})
    for value, refused in (("${nothing_here}", True), ("${multiply:2,3}", False), ("${unregistered:2}", True)):
        for tree, count in ((whole, refused), (EMBODIED, False)):
            messages = [each.message for each in judged(with_(tree, note=value), release) if each.code == "PW120"]
            assert len(messages) == count, (value, messages)
