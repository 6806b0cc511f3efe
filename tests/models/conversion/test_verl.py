"""verl's own configurations, converted to verl: the same pools, the same ranks. And what pools cannot say."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.composition import Composer
from placewright.models.conversion import differences
from placewright.models.dialects.load import read
from placewright.models.dialects.recognition import dialect_named
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.report import REFUSED
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from placewright.solver.convert import convert
from sampling import examples

MACHINES = read_shorthand("4x8xH100")
CASES = examples(75)
DEGREES = "{{tensor_model_parallel_size: {}, pipeline_model_parallel_size: {}, context_parallel_size: 1, expert_model_parallel_size: 1}}"


@st.composite
def files(draw: st.DrawFn) -> str:
    """One pool, one with a pool for the reward model, two pools, or simulators."""
    nodes, size = draw(st.sampled_from((1, 2, 4))), draw(st.sampled_from((2, 4, 8)))
    program = draw(st.sampled_from(("hybrid", "hybrid", "reward", "apart", "simulators")))
    strategy = "strategy: fsdp"
    if draw(st.booleans()):
        strategy = f"strategy: megatron, megatron: {DEGREES.format(draw(st.sampled_from((1, 2))), draw(st.sampled_from((1, 2))))}"
    rollout = f"tensor_model_parallel_size: {draw(st.sampled_from((1, 2, 4)))}, data_parallel_size: {draw(st.sampled_from((1, 1, 2)))}"
    reference = str(draw(st.booleans()) and program != "simulators").lower()
    estimator = draw(st.sampled_from(("gae", "grpo"))) if program != "simulators" else "grpo"
    text = f"algorithm: {{adv_estimator: {estimator}}}\n"
    text += f"actor_rollout_ref:\n  actor: {{{strategy}, use_kl_loss: {reference}}}\n  rollout: {{{rollout}}}\n"
    if program == "simulators":
        return f"{text}trainer: {{nnodes: {nodes}, n_rollout_gpus_per_node: {size // 2}, n_env_gpus_per_node: {size // 2}}}\n"
    text += f"trainer: {{nnodes: {nodes}, n_gpus_per_node: {size}}}\n"
    if program == "reward":
        text += "reward_model: {enable: true, enable_resource_pool: true, use_reward_loop: false, strategy: fsdp, nnodes: 1, n_gpus_per_node: 2}\n"
    return text + (f"rollout: {{nnodes: {nodes}, n_gpus_per_node: {draw(st.sampled_from((2, 4)))}}}\n" if program == "apart" else "")


@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(files())
def test_a_configuration_of_verl_in_verls_own_words_is_the_same(text: str) -> None:
    reading = read(Source("ppo.yaml", text), MACHINES, "verl", composer=Composer(frameworks=("verl==1dda039b",)))
    if verify(reading).errors or reading.problem is None:
        return
    rendering = dialect_named("verl").render(reading.problem)
    again = read(Source("again.yaml", rendering.text), MACHINES, "verl")
    assert again.problem is not None
    assert [*differences(reading.problem, again.problem, rendering.names)] == [], rendering.text
    assert not [loss.message for loss in rendering.losses if loss.severity.value == "warning"]


@pytest.mark.parametrize(
    ("cluster", "components", "why"),
    [
        ("1x8", "  actor: {placement: 0-7}\n", "verl always trains an `actor` and generates with `rollout`, but there is no `rollout`"),
        (
            "2x8",
            "  actor: {placement: 0-8}\n  rollout: {placement: 0-8, colocate_with: actor}\n",
            "the parts of a pool are even, but the accelerators of `actor` are 8 on node 0, 1 on node 1",
        ),
        (
            "1x8",
            "  actor: {placement: 0-7}\n  rollout: {placement: '0-1,4-5', within: actor}\n",
            "`rollout` is on a part of the pool of `actor`, `rollout`, but in verl it runs on all of it",
        ),
        (
            "1x8",
            "  actor: {placement: 0-7}\n  rollout: {placement: 0-7:0-15, colocate_with: actor}\n",
            "processes of `rollout` share accelerators, but in verl each has one of its own",
        ),
        ("1x8", "  actor: {placement: 0-3}\n  rollout: {placement: 4-5}\n  tool: {placement: 6}\n", "verl has no role for `tool`"),
        (
            "1x8",
            "  actor: {placement: 0-3}\n  rollout: {placement: 4-7}\n  env: {placement: 4-7, colocate_with: rollout}\n",
            "no program of verl has the pools of `actor`; `rollout`, `env`",
        ),
    ],
)
def test_what_pools_cannot_say_is_refused_with_the_reason(cluster: str, components: str, why: str) -> None:
    done = convert(read(Source("job.yaml", f"cluster: {cluster}\ncomponents:\n{components}"), None, "native"), "verl")
    assert done.verdict == REFUSED
    assert why in [finding.message for finding in done.findings]


def test_where_verl_would_place_a_pool_elsewhere_that_is_announced() -> None:
    text = "cluster: 2x8\ncomponents:\n  actor: {placement: 12-15}\n  rollout: {placement: 4-7}\n"
    done = convert(read(Source("job.yaml", text), None, "native"), "verl")
    assert [loss.message for loss in done.losses] == [
        "verl names no node and no accelerator: it places the ranks of `actor` on others, from accelerator 0 of node 0 on",
        "verl names no node and no accelerator: it places the ranks of `rollout` on others, from accelerator 0 of node 1 on",
    ]


@pytest.mark.parametrize("release", ["0.8.0", "0.9.0"])
def test_processes_beside_the_pools_hold_cpus_of_the_first_node(release: str) -> None:
    """Until 0.9.0 a task takes the first CPU; since then a TransferQueue takes nine."""
    nodes = "".join(f"    - {{accelerators: {{count: 8, model: H100}}, cpus: {cpus}}}\n" for cpus in (24, 64))
    text = f"cluster:\n  nodes:\n{nodes}components:\n  actor: {{placement: 0-7}}\n  rollout: {{placement: 0-7, colocate_with: actor}}\n"
    done = convert(read(Source("job.yaml", text), None, "native"), "verl", frameworks=(f"verl=={release}",))
    assert [loss.message for loss in done.losses] == [
        f"verl names no node and no accelerator: it places the ranks of `{name}` on others, from accelerator 0 of node 1 on"
        for name in ("actor", "rollout")
    ]


@pytest.mark.parametrize(("release", "components", "program"), [
    ("0.4.1", "  rollout: {placement: 4-7}\n", "one_step_off_policy"),
    ("0.5.0", "  rollout: {placement: 4-7}\n", ""),
    ("0.6.1", "  rollout: {placement: 0-3, colocate_with: actor}\n  env: {placement: 4-7}\n", "vla"),
    ("0.7.1", "  rollout: {placement: 0-3, colocate_with: actor}\n  env: {placement: 4-7}\n", ""),
    ("0.8.0", "  rollout: {placement: 0-3, colocate_with: actor}\n  env: {placement: 4-7}\n", "vla"),
])  # fmt: skip
def test_a_program_that_the_release_lacks_is_refused(release: str, components: str, program: str) -> None:
    text = f"cluster: 1x8\ncomponents:\n  actor: {{placement: 0-3}}\n{components}"
    done = convert(read(Source("job.yaml", text), None, "native"), "verl", frameworks=(f"verl=={release}",))
    why = f"verl {release} has no `verl.experimental.{program}.main_ppo`, the program with these pools"
    assert [finding.message for finding in done.findings] == ([why] if program else [])
