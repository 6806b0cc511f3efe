"""The block `placewright:` says the same in a file of every framework: demands, relations, links and the objective."""

from __future__ import annotations

import pytest
from placewright.models.component import APART, NEAR, Keep, Pin, Spread
from placewright.models.dialects.load import read
from placewright.models.dialects.recognition import dialect_named
from placewright.models.findings.finding import Finding, Severity
from placewright.models.job import WEIGHTED, Link, Preference
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.cluster_file import cluster_of
from placewright.models.reading import Reading
from placewright.models.roles import role_of
from placewright.models.text.source import Source

MACHINES = (
    "nodes: [{repeat: 2, accelerators: {count: 8}, topology: {rack: r0}}, {repeat: 2, accelerators: {count: 8}, topology: {rack: r1}}]"
)
ROLES = "rewards: {math: {world_size: 1, tag_included: [m]}}\n"
FILES = {
    "rlinf": ("cluster: {num_nodes: 4}\n", "actor", "rollout"),
    "roll": (
        "pretrain: models/own\nactor_train: {strategy_args: {strategy_name: megatron_train}}\n"
        f"actor_infer: {{strategy_args: {{strategy_name: vllm}}}}\n{ROLES}",
        "actor_train",
        "actor_infer",
    ),
    "verl": (
        "trainer: {n_gpus_per_node: 8}\ndata: {train_batch_size: 512}\nactor_rollout_ref:\n  model: {path: models/own}\n"
        "  actor: {ppo_mini_batch_size: 128, ppo_micro_batch_size_per_gpu: 4}\n  rollout: {name: vllm, log_prob_micro_batch_size_per_gpu: 4}\n",
        "actor",
        "rollout",
    ),
}
SAID = """placewright:
  components:
    TRAIN: {accelerators: 16, keep: {replica: rack}, spread: {level: node, percent: 60}, pin: {ranks: 0-7, nodes: 2}, exclude: 1, host_memory: 10GiB}
  relations: [{kind: near, components: [TRAIN, INFER]}]
  links: [{from: TRAIN, to: INFER, weights: 14GiB}]
  objective: {weights: {rack: 10}}
"""


def reading(dialect: str, block: str, machines: Cluster | None = None) -> Reading:
    text, train, infer = FILES[dialect]
    return read(
        Source("run.yaml", text + block.replace("TRAIN", train).replace("INFER", infer)), machines or cluster_of(Source("c", MACHINES))
    )


@pytest.mark.parametrize("dialect", FILES)
def test_all_words_reach_the_problem(dialect: str) -> None:
    block = SAID if dialect == "verl" else SAID.replace("  relations", "    INFER: {accelerators: 16}\n  relations")
    found = reading(dialect, block)
    assert found.dialect == dialect
    assert found.problem is not None
    _, train, infer = FILES[dialect]
    its, job = found.problem[train], found.problem.job
    assert (its.keep, its.spread) == ((Keep("replica", "rack"),), (Spread("node", 1, 60),))
    assert (its.pins, its.excluded, its.host_memory) == ((Pin(range(8), (2,)),), (1,), 10240)
    assert [(r.kind, r.components, r.level) for r in job.relations if r.kind in (APART, NEAR)] == [(NEAR, (train, infer), "rack")]
    assert job.links == (Link(train, infer, 14336),)
    assert job.preference == Preference(WEIGHTED, {"rack": 10})


@pytest.mark.parametrize("dialect", FILES)
@pytest.mark.parametrize(
    ("block", "code", "message"),
    [
        ("placewright: {links: [{from: TRAIN, to: nobody, weights: 1GiB}]}\n", "PW121", "`placewright.links` names `nobody`"),
        ("placewright: {objective: best}\n", "PW105", "`order` of `placewright.objective`: `best` is not a known order"),
        ("placewright: {relations: [{kind: near}]}\n", "PW101", "`components` of `placewright.relations.0` is missing"),
        ("placewright: {components: {TRAIN: {accelerators: 8, spread: rak}}}\n", "PW105", "`rak` is not a known level"),
        ("placewright: {component: {TRAIN: {accelerators: 8}}, links: []}\n", "PW104", "unknown key `component` in the block"),
        ("placewright: {components: {TRAIN: {placement: 0-7}}}\n", "PW121", "belong into the framework's own section"),
        ("placewright: {components: {TRAIN: {seconds: {8: 9}, placement: 0-7}}}\n", "PW121", "belong into the framework's own section"),
    ],
)
def test_faults_of_the_block(dialect: str, block: str, code: str, message: str) -> None:
    found = [finding for finding in reading(dialect, block).findings if finding.code == code and message in finding.message]
    assert found
    assert all(finding.help and finding.span for finding in found)


@pytest.mark.parametrize(("block", "near"), [("{component: {actor: {accelerators: 8}}}", "components"), ("{plam: {batches: 3}}", "plan")])
def test_a_strange_key_alone_is_named_and_nothing_else(block: str, near: str) -> None:
    (finding,) = [each for each in reading("rlinf", f"placewright: {block}\n").findings if each.code in ("PW104", "PW105")]
    assert (finding.code, finding.help) == ("PW104", f"write `{near}`")


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("accelerators_per_process: 2", "`accelerators_per_process` of `actor` is 2, but verl makes it 1"),
        ("cpus: 50", "`cpus` of `actor` is 50, but verl makes it 3"),
    ],
)
def test_what_verl_fixes_is_not_left_to_hints(hint: str, message: str) -> None:
    for more in ("accelerators: 8", "seconds: {8: 9}"):
        findings: tuple[Finding, ...] = reading("verl", f"placewright: {{components: {{actor: {{{more}, {hint}}}}}}}\n").findings
        assert [each.message for each in findings if each.code == "PW121"] == [message]


def test_a_role_that_verl_runs_otherwise_is_ignored() -> None:
    for more in ("accelerators: 8", "seconds: {8: 9}"):
        its = reading("verl", f"placewright: {{components: {{actor: {{{more}, role: critic}}}}}}\n")
        (told,) = [each for each in its.findings if "`role` of `actor`" in each.message]
        assert told.code == "PW124" and told.severity is Severity.WARNING
        assert its.problem is not None and role_of(its.problem["actor"]) == "actor"


def test_a_near_key_is_an_edit() -> None:
    findings: tuple[Finding, ...] = reading("rlinf", "placewright: {component: {actor: {accelerators: 8}}, links: []}\n").findings
    (finding,) = [each for each in findings if each.code == "PW104"]
    assert finding.edit is not None
    assert finding.edit.text == "components"


@pytest.mark.parametrize("dialect", ["rlinf", "roll"])
def test_a_framework_file_made_from_a_native_one_says_all_of_it(dialect: str) -> None:
    text = f"cluster: {{{MACHINES}}}\ncomponents:\n  actor: {{accelerators: 16, spread: rack, exclude: 3}}\n"
    text += "  rollout: {accelerators: 8, apart_from: {component: actor, level: node}}\n"
    if dialect == "roll":
        text += "  reward: {node_group: node, processes: 1}\n"
    text += "relations: [{kind: not fewer, components: [actor, rollout]}]\nlinks: [{from: actor, to: rollout, weights: 1GiB}]\nobjective: weighted\n"
    native = read(Source("job.yaml", text)).problem
    assert native is not None
    rendering = dialect_named(dialect).render(native)
    again = read(Source("run.yaml", rendering.text), native.cluster, dialect).problem
    assert again is not None
    names = rendering.names
    assert again.job.links == (Link(names["actor"], names["rollout"], 1024),)
    assert again.job.preference == Preference(WEIGHTED)
    assert again[names["actor"]].excluded == (3,)
    assert ("not fewer", (names["actor"], names["rollout"])) in [(relation.kind, relation.components) for relation in again.job.relations]
