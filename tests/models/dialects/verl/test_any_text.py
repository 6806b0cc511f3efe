"""Whatever stands under verl's keys, reading says what is wrong; and what it offers mends that."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewright.models.composition import Composer
from placewright.models.dialects import verl
from placewright.models.dialects.load import read
from placewright.models.dialects.verl.programs import PROGRAMS, table_of
from placewright.models.findings.span import apply_edits
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.text.document import Document, Program
from placewright.models.text.source import Source
from placewright.planner.verify import verify

VALUES = (
    "0",
    "-1",
    "1",
    "3",
    "8",
    "16",
    "1000000000",
    "9" * 18,
    "8.0",
    "8.5",
    "x",
    "''",
    "null",
    "true",
    "[8]",
    "{a: 1}",
    "'${a.b}'",
    "'8'",
    "megatron",
    "gae",
)
AT = Composer(frameworks=("verl==b178a3cd",))
TABLES = {
    name: table
    for name in ("fully_async_ppo_trainer", "ppo_megatron_trainer", "rob_ppo_trainer", "generation")
    if (table := table_of(name, 7)) is not None
}
READ = ("parallel_size", "batch_size", "batch_size_per_gpu", "nodes", "gpus_per_node", "strategy", ".mode", ".name", "enable", "rank", ".n",
        "num_workers", "use_dynamic_bsz", "fsdp_size", "estimator", "use_kl_loss", "device", "hybrid_engine", "stage_num", "num_envs")  # fmt: skip
"""How the keys end that decide a placement."""
KEYS = sorted(
    {key for table in TABLES.values() for key in table.keys if key.endswith(READ)}
    | {
        "trainer.n_rollout_gpus_per_node",
        "trainer.n_env_gpus_per_node",
        "placewright.components.actor",
        "resource_pool_spec.global_pool",
        "mapping",
        "topology.device_pools",
    }
)


def text_of(values: dict[str, str]) -> str:
    """Flow maps in flow maps; a key below a value that is none is left out."""
    tree: dict[str, object] = {}
    for key, value in values.items():
        owner: object = tree
        *path, last = key.split(".")
        for name in path:
            owner = owner.setdefault(name, {}) if isinstance(owner, dict) else None
        if isinstance(owner, dict):
            owner.setdefault(last, value)
    return _flow(tree)


def _flow(value: object) -> str:
    return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}" if isinstance(value, dict) else str(value)


@pytest.mark.slow
@pytest.mark.timeout(120)
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=12),
    st.sampled_from([entry.program for entry in PROGRAMS] + [""]),
    st.sampled_from(["", *TABLES]),
    st.sampled_from(["2x8", "1x4+1x2", "x8", "1x0", "3x1"]),
    st.sampled_from(["placement", "training"]),
)
def test_any_values_are_read(values: dict[str, str], program: str, name: str, machines: str, level: str) -> None:
    source = Source("train.yaml", text_of(values))
    started = Program(program, source.whole(), "", "", name) if program else None
    reading = verl.read(Document(source, source.root, program=started), read_shorthand(machines), level)
    report = verify(reading)
    assert all(finding.message and finding.code for finding in report.findings)


FAULTY = (
    ("trainer: {nnodes: 2, n_gpus_per_node: 3}\nactor_rollout_ref: {rollout: {tensor_model_parallel_size: 1}}\n", "1x4+1x2"),
    ("trainer: {nnodes: 2, n_gpus_per_node: 8}\n", "1x8"),
    ("trainer:\n  nnodes: 0\n", "1x8"),
    ("reward_model: {enable: true, enable_resource_pool: true, nnodes: 1}\ntrainer: {nnodes: 1}\n", "2x8"),
    ("reward_model: {enable: true, use_reward_loop: false, enable_resource_pool: true, nnodes: 0}\ntrainer: {nnodes: 1}\n", "2x8"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "machines"), FAULTY)
def test_what_is_offered_mends_the_fault(text: str, machines: str) -> None:
    report = verify(read(Source("train.yaml", text), read_shorthand(machines), "verl", composer=AT))
    edits = [finding.edit for finding in report.findings if finding.edit]
    assert edits
    for edit in edits:
        mended = {finding.message for finding in report.findings if finding.edit == edit}
        again = verify(read(Source("train.yaml", apply_edits(text, [edit])), read_shorthand(machines), "verl", composer=AT))
        assert mended.isdisjoint(finding.message for finding in again.findings)
    everything = apply_edits(text, list(dict.fromkeys(edits)))
    assert len(verify(read(Source("train.yaml", everything), read_shorthand(machines), "verl", composer=AT)).errors) < len(report.errors)
