"""Why there is no design: what is needed and what there is, and help that helps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, Answer


@dataclass(frozen=True)
class Case:
    """A file without any answer, what is said of it, and an edit after which there is one, as the help says."""

    rollout: str
    actor: str
    plan: str
    message: str
    edit: tuple[str, str]
    arrow: str = "->"


ROLLOUT = "accelerators: 1-16, seconds: {8: 55}, memory: 60GiB, phase: generate"
ACTOR = "accelerators: 2-16, seconds: {8: 60, 16: 33}, parallel: {tp: 2}, memory: 70GiB, phase: train"
CASES = {
    "time": Case(
        ROLLOUT, ACTOR, ", budget: {seconds: 20}",
        "impossible: an iteration takes at least 60.5 seconds, 20 are allowed", ("seconds: 20", "seconds: 60.5"),
    ),
    "accelerators": Case(
        ROLLOUT, ACTOR, ", budget: {accelerators: 1}",
        "impossible: at least 2 accelerators are needed, 1 may be used", ("budget: {accelerators: 1}", "budget: {accelerators: 2}"),
    ),
    "accelerators for a time": Case(
        ROLLOUT, ACTOR, ", budget: {accelerators: 4, seconds: 80}",
        "impossible: an iteration takes at least 219.091 seconds, 80 are allowed", ("budget: {accelerators: 4", "budget: {accelerators: 12"),
    ),
    "memory": Case(
        ROLLOUT, ACTOR.replace("70", "90"), "",
        "impossible: `actor` can be run in no way: it needs 90 GiB on each accelerator, whatever its count and degrees; there are 80 GiB",
        ("90GiB", "80GiB"),
    ),
    "samples": Case(
        ROLLOUT.replace("1-16", "8-16") + ", samples: 7", ACTOR, "",
        "impossible: `rollout` can be run in no way: 7 samples divide evenly among its replicas on no count of 8-16", ("8-16", "7"),
    ),
    "samples on counts of a table": Case(
        ROLLOUT.replace("1-16", "2-16") + ", samples: 100, scaling: table", ACTOR, "",
        "impossible: `rollout` can be run in no way: 100 samples divide evenly among its replicas on none of the counts of its table, 8",
        (", samples: 100", ""),
    ),
    "a table": Case(
        ROLLOUT.replace("1-16", "1-4") + ", scaling: table", ACTOR, "",
        "impossible: `rollout` can be run in no way: its times are a table, and none of its counts is one of 1-4", ("1-4", "8"),
    ),
    "a table of other replicas": Case(
        ROLLOUT.replace("{8: 55}", "{3: 55}") + ", scaling: table, parallel: {tp: 2}", ACTOR, "",
        "impossible: `rollout` can be run in no way: its times are a table, and it can have none of the counts in it that it asks for, "
        "3: whole replicas of its degrees, on nodes that it may use", ("{3: 55}", "{4: 55}"),
    ),
    "a count": Case(
        ROLLOUT, ACTOR.replace("2-16", "18-40"), "",
        "impossible: `actor` can be run in no way: it asks for 18-40 accelerators, and can have 2, 4, 6, 8, 10, ... 16: whole replicas of its "
        "degrees, on nodes that it may use", ("18-40", "16"),
    ),
    "all at once": Case(
        ROLLOUT.replace("1-16", "10-16").replace(", phase: generate", ""), ACTOR.replace("2-16", "8-16").replace(", phase: train", ""), "",
        "impossible: at least 18 accelerators are needed at the same time, there are 16: rollout on 10, actor on 8", ("2x8xH100", "2x8xH100+1x2xH100"),
    ),
    "counts that differ": Case(
        "accelerators: 10, seconds: {8: 55}", "accelerators: 8, seconds: {8: 60}", "",
        "impossible: at least 18 accelerators are needed at the same time, there are 16: rollout on 10, actor on 8",
        ("batches: 16", "batches: 16, nested: true"),
    ),
    "cost model": Case(
        ROLLOUT.replace(", phase: generate", ""), ACTOR + ", disjoint_from: rollout", ", cost_model: rlinf",
        "impossible: the cost model `rlinf` has a time for none of the arrangements that keep to everything that is asked",
        ("cost_model: rlinf", "cost_model: stream"), "=>",
    ),
    "other degrees": Case(
        ROLLOUT, ACTOR.replace("{8: 60, 16: 33}", "[{accelerators: 8, seconds: 60, tp: 4}]"), "",
        "impossible: `actor` can be run in no way: its times were measured with tp 4; it may have tp 2", (", tp: 4", ""),
    ),
    "a group of more than a node": Case(
        ROLLOUT, ACTOR.replace("tp: 2", "tp: [16, 32]"), "",
        "impossible: `actor` can be run in no way: tp 16 needs 16 accelerators of one node, and the largest that it may use has 8",
        ("[16, 32]", "[16, 8]"),
    ),
    "other accelerators": Case(
        ROLLOUT, ACTOR.replace("{8: 60, 16: 33}", "[{accelerators: 8, seconds: 60, accelerator: A100}]"), "",
        "impossible: `actor` can be run in no way: its times were measured on A100, and it may use H100", (", accelerator: A100", ""),
    ),
    "other degrees on other accelerators": Case(
        ROLLOUT, ACTOR.replace("{8: 60, 16: 33}", "[{accelerators: 8, seconds: 6, accelerator: A100}, {accelerators: 8, seconds: 6, tp: 4}]"), "",
        "impossible: `actor` can be run in no way: its times were measured with other degrees than it may have, or on other accelerators "
        "than it may use", (", tp: 4", ""),
    ),
    "a model that no node has": Case(
        ROLLOUT, ACTOR + ", accelerator: B200", "",
        "impossible: `actor` can be run in no way: no node has B200, the only model that it may use; there are H100", ("accelerator: B200", "accelerator: H100"),
    ),
}  # fmt: skip


def solved(folder: Path, text: str) -> Answer:
    file = folder / "job.yaml"
    file.write_text(text)
    return pw.solve(str(file), sandbox=False)


@pytest.mark.parametrize("name", CASES)
def test_what_is_short_is_told_with_what_helps(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    text = (
        f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{case.rollout}}}\n  actor: {{{case.actor}}}\n"
        f"plan: {{workflow: rollout {case.arrow} actor, batches: 16{case.plan}}}\n"
    )
    answer = solved(tmp_path, text)
    assert answer.verdict == IMPOSSIBLE
    assert [finding.message for finding in answer.findings] == [case.message]
    assert answer.findings[0].help
    before, after = case.edit
    assert before in text
    changed = solved(tmp_path, text.replace(before, after, 1))
    assert changed.plan is not None, changed.findings


@pytest.mark.parametrize(("more", "at"), [("scaling: table", "{3: 55}"), ("samples: 7", "7"), ("samples: 7, scaling: linear", "7")])
def test_what_is_wrong_with_its_times_is_pointed_at(more: str, at: str, tmp_path: Path) -> None:
    """Not at whatever is written last of them."""
    text = f"cluster: 2x8xH100\ncomponents: {{rollout: {{accelerators: 2-6, seconds: {{3: 55}}, parallel: {{tp: 2}}, {more}}}}}\n"
    if "samples" in more:
        text = text.replace("2-6", "4-6").replace("tp: 2", "tp: 1")
    (finding,) = solved(tmp_path, text).findings
    assert finding.span is not None and text[finding.span.start : finding.span.end] == at


@pytest.mark.parametrize(
    ("first", "second", "message", "at", "other"),
    [
        ("colocate_with: actor", "disjoint_from: rollout", "`rollout` and `actor` are to be on the same accelerators", "rollout", "actor"),
        ("within: actor, disjoint_from: [actor]", "role: actor", "`rollout` is to be within `actor`", "actor", "actor"),
    ],
)
def test_relations_that_cannot_both_be_are_pointed_at(first: str, second: str, message: str, at: str, other: str, tmp_path: Path) -> None:
    """Nothing is said of letting them share, or be on others: that is what was written."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{ROLLOUT}, {first}}}\n  actor: {{{ACTOR}, {second}}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    assert finding.message == f"impossible: {message}, and they are to share none"
    assert finding.help == "drop one of the two demands" and finding.span and finding.origin
    assert text[finding.span.start : finding.span.end] == at and text[finding.origin.start : finding.origin.end] == other
    assert text[: finding.span.start].rstrip("[ ").endswith("disjoint_from:")


@pytest.mark.parametrize(
    ("rollout", "actor", "help_text", "mended"),
    [
        ("memory: 60GiB", "memory: 50GiB", "say the `phase` in which each needs its memory, of `rollout` and `actor`, so that they take turns",
         ("memory: 60GiB, phase: a", "memory: 50GiB, phase: b")),
        ("memory: 60GiB, phase: a", "memory: 50GiB, phase: a", "let them work in other phases (`phase`)",
         ("memory: 60GiB, phase: a", "memory: 50GiB, phase: b")),
        ("memory: 60GiB, phase: a, offloaded: 40GiB", "memory: 50GiB, phase: b", "keep less of one while others work (`offloaded`)",
         ("memory: 60GiB, phase: a, offloaded: 4GiB", "memory: 50GiB, phase: b")),
        ("memory: 60GiB, phase: a, offloaded: 40GiB", "memory: 50GiB", "say the `phase` of `actor`, and keep less while others work (`offloaded`)",
         ("memory: 60GiB, phase: a, offloaded: 4GiB", "memory: 50GiB, phase: b")),
    ],
)  # fmt: skip
def test_memory_that_is_needed_at_once_is_told_with_what_helps(
    rollout: str, actor: str, help_text: str, mended: tuple[str, str], tmp_path: Path
) -> None:
    """Only what was searched: phases where none is said or both have the same, less beside others where that is too much."""
    text = "cluster: 2x8xH100\ncomponents:\n  rollout: {seconds: {8: 55}, colocate_with: actor, %s}\n"
    text += "  actor: {seconds: {8: 60}, %s}\nplan: {workflow: rollout => actor}\n"
    (finding,) = solved(tmp_path, text % (rollout, actor)).findings
    assert finding.message.startswith("impossible: whoever shares accelerators needs at least ")
    assert finding.help.startswith(f"{help_text}, or let `rollout` and `actor` be on others")
    assert solved(tmp_path, text % mended).plan is not None


def test_what_the_framework_demands_is_not_told_to_be_dropped(tmp_path: Path) -> None:
    """Who shares a pool of verl is on the same accelerators: the file can only drop its own demand, or leave more counts open."""
    script = (
        "python3 -m verl.trainer.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=8 actor_rollout_ref.rollout.tensor_model_parallel_size=2 "
        "data.train_batch_size=256 actor_rollout_ref.rollout.n=8 '+placewright.components.actor={seconds: {8: 100}, %s}' "
        "'+placewright.components.rollout={seconds: {8: 180}, %s}'\n"
    )

    def told(actor: str, rollout: str) -> tuple[str, str]:
        (tmp_path / "run.sh").write_text(script % (actor, rollout))
        (finding,) = pw.solve(tmp_path / "run.sh", cluster="4x8xH100", sandbox=False).findings
        return finding.message, finding.help

    reason = "verl runs all roles of a pool in the same processes"
    assert told("disjoint_from: rollout", "accelerators: 8-32")[1] == f"drop this demand: {reason}"
    message, advice = told("accelerators: 8-16", "accelerators: 24-32")
    assert message.endswith(f"({reason})") and advice == "leave more of their counts and degrees open"
    _, advice = told("memory: 60GiB", "memory: 50GiB")
    assert advice == "say the `phase` in which each needs its memory, of `actor` and `rollout`, so that they take turns"


@pytest.mark.parametrize(
    ("third", "at"),
    [("memory: 78GiB, colocate_with: actor, phase: infer", "78GiB"), ("accelerators: 4, memory: 1GiB, colocate_with: actor", "actor")],
)
def test_what_is_in_the_way_is_pointed_at(third: str, at: str, tmp_path: Path) -> None:
    """A memory that does not fit beside what stays; a relation without which there would be a design."""
    text = f"cluster: 2x8xH100\ncomponents:\n  rollout: {{{ROLLOUT.replace('1-16', '8')}, offloaded: 2GiB}}\n"
    text += f"  actor: {{{ACTOR.replace('2-16', '8')}, offloaded: 4GiB}}\n  judge: {{{third}}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    assert finding.span is not None and text[finding.span.start : finding.span.end] == at


def test_a_component_for_which_nothing_is_free_is_not_told_of_degrees(tmp_path: Path) -> None:
    text = "cluster: 1x8xH100\ncomponents:\n  a: {placement: 0-7, memory: 1GiB}\n  b: {seconds: {8: 224}}\n"
    (tmp_path / "job.yaml").write_text(text, encoding="utf-8")
    (finding,) = pw.solve(tmp_path / "job.yaml").findings
    reason = "no accelerator that it may use is free of components with given ranks and of other jobs"
    assert finding.message == f"impossible: `b` can be run in no way: {reason}"


def test_counts_that_have_nothing_in_common_are_told(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text(
        "cluster: 2x8\ncomponents:\n"
        "  rollout: {accelerators: 1-16, seconds: {8: 55}, parallel: {tp: 3}, colocate_with: actor}\n"
        "  actor: {accelerators: 1-16, seconds: {8: 60, 16: 33}, scaling: table}\n"
    )
    answer = pw.solve(str(file), sandbox=False)
    assert answer.verdict == IMPOSSIBLE
    assert answer.findings[0].message.endswith("on the same accelerators: `rollout` (tp 3) can have 3, 6, 9, 12, `actor` 8, 16")


@pytest.mark.parametrize(("budget", "allowed"), [("0.0006", "0.0006"), ("0.0000004", "0.0000004")])
def test_a_budget_finer_than_a_millisecond_is_told_as_it_is(tmp_path: Path, budget: str, allowed: str) -> None:
    text = f"""
cluster: 2x8
components:
  rollout: {{accelerators: 8, seconds: {{8: 0.0004}}}}
  actor: {{accelerators: 8, seconds: {{8: 0.0003}}}}
plan: {{workflow: rollout -> actor, budget: {{seconds: {budget}}}}}
"""
    (tmp_path / "job.yaml").write_text(text)
    answer = pw.solve(tmp_path / "job.yaml", sandbox=False)
    assert answer.findings[0].message == f"impossible: an iteration takes at least 0.0007 seconds, {allowed} are allowed"
    assert answer.findings[0].help.startswith("allow `seconds: 0.0007`")
    (tmp_path / "job.yaml").write_text(text.replace(f"{{seconds: {budget}}}", "{seconds: 0.0007}"))
    assert pw.solve(tmp_path / "job.yaml", sandbox=False).planned is not None


TWO = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {8: 100}}
  b: {accelerators: 8, seconds: {8: 100}, disjoint_from: a}
  c: {accelerators: 4, seconds: {8: 100}, colocate_with: a}
"""
THREE = """\
cluster: 1x8xH100
components:
  a: {accelerators: 6, seconds: {8: 100}, memory: 70GiB}
  b: {accelerators: 6, seconds: {8: 100}, memory: 70GiB, disjoint_from: c}
  c: {accelerators: 6, seconds: {8: 100}, memory: 70GiB}
plan: {budget: {seconds: 150, accelerators: 7}}
"""


def test_demands_that_rule_everything_out_together_are_named_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TWO)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == (
        "impossible: no single demand is the reason, 2 are together: `c` has 4 accelerators, and `b` and `a` share none"
    )
    assert found.span is not None and found.origin is not None and (found.span.line, found.origin.line) == (5, 4)
    (tmp_path / "plan.yaml").write_text(TWO.replace("accelerators: 4, ", "").replace(", disjoint_from: a", ""))  # as the help says
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        ("{accelerators: 1, seconds: {8: 100}, scaling: table}", "its times are a table, and none of its counts is 1"),
        ("{seconds: {8: 100}, accelerators: 9-12}", "it asks for 9-12 accelerators, and can have 1, 2, 3, 4, 5, ... 8"),
        (
            "{accelerators: 8, seconds: [{accelerators: 8, seconds: 100, accelerator: H100}]}",
            "its times were measured on H100, and it may use accelerators of no known model",
        ),
    ],
)
def test_one_and_what_has_no_name_are_told_in_words(component: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(f"cluster: 1x8\ncomponents:\n  a: {component}\n")
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message.startswith(f"impossible: `a` can be run in no way: {reason}")


def test_one_accelerator_is_one(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TWO.replace("accelerators: 4", "accelerators: 1"))
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert "`c` has 1 accelerator, and" in found.message


def test_a_count_that_rules_everything_out_by_itself_is_the_reason(tmp_path: Path) -> None:
    """More time and sharing would do together, too."""
    text = """\
cluster: 1x8xH100
components:
  a: {accelerators: 8, seconds: {4: 100, 8: 100}}
  b: {accelerators: 1-8, seconds: {4: 30, 8: 100}, scaling: table, disjoint_from: a}
plan: {workflow: a -> b, budget: {seconds: 150, accelerators: 8}}
"""
    (tmp_path / "plan.yaml").write_text(text)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == "impossible: `a` has 8 accelerators, with which nothing keeps to all else that is asked"
    assert found.help == "leave more counts of `a` open" and found.span is not None and found.span.line == 3
    (tmp_path / "plan.yaml").write_text(text.replace("accelerators: 8, seconds: {4", "seconds: {4"))
    assert pw.solve(tmp_path / "plan.yaml", sandbox=False).plan is not None


def test_more_than_two_are_listed_once_each(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(THREE)
    (found,) = pw.solve(tmp_path / "plan.yaml", sandbox=False).findings
    assert found.message == "impossible: no single demand is the reason, 3 are together" and found.origin is None
    assert found.notes == ("line 6: the time that is allowed", "line 3: the memory of an accelerator", "line 4: `b` and `c` share none")
