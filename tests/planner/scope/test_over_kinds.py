"""Plans with a component on several models of accelerators at once, where the scope has them."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.planning.workload import SECOND
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render

SMALL = "nodes: [{accelerators: {count: 3, model: H100}}, {accelerators: {count: 3, model: H100, memory: 24GiB}}]"
BOTH = "nodes: [{accelerators: {count: 4, model: H100}}, {accelerators: {count: 4, model: A100}}]"
NAMED = "[{accelerators: 1, seconds: 1, accelerator: H100}, {accelerators: 1, seconds: 2, accelerator: A100}]"


def written(folder: Path, cluster: str, parts: str, plan: str) -> str:
    file = folder / "job.yaml"
    lines = "\n".join(f"  {each.strip()}" for each in parts.strip().splitlines())
    file.write_text(
        f"cluster: {{{cluster}}}\ncomponents:\n{lines}\nplan: {plan.replace('{', '{scope: heterogeneous, ', 1)}\n", encoding="utf-8"
    )
    return str(file)


@pytest.mark.parametrize("aim", ["seconds", "accelerators"])
def test_what_is_quicker_on_several_kinds_is_the_plan(aim: str, tmp_path: Path) -> None:
    """Both are on one kind of 4: 0.25 and 25 seconds; on 8 of both they take half as long, by the slower of both models."""
    plan = "{workflow: named => any}" if aim == "seconds" else "{workflow: named => any, minimise: accelerators, budget: {seconds: 30}}"
    parts = f"named: {{accelerators: 1-8, seconds: {NAMED}}}\nany: {{accelerators: 1-8, seconds: {{1: 100}}}}"
    file = written(tmp_path, BOTH, parts, plan)
    account = pw.account(file)
    assert account is not None and account.planned.proved
    assert "each component" not in "\n".join(render(account))
    assert account.planned.price == ((12_750_000_000, 8) if aim == "seconds" else (4, 25_250_000_000))


@pytest.mark.parametrize("takes", ["", ", utilization: 60"])
def test_what_is_estimated_is_on_several_sizes_also_where_an_engine_takes_a_part_of_each(takes: str, tmp_path: Path) -> None:
    """With each component on one kind it takes 25.25 seconds."""
    account = pw.account(estimated(tmp_path, takes))
    assert account is not None and account.planned.proved
    assert account.planned.best.nanoseconds == 12_750_000_000
    needs = {bill.capacity: entry.mebibytes for bill in account.bills for entry in bill.peak.entries if entry.component == "any"}
    assert needs == ({size: size * 60 // 100 + 512 for size in (40 << 10, 80 << 10)} if takes else dict.fromkeys(needs, needs[40 << 10]))


def estimated(tmp_path: Path, takes: str) -> str:
    """A job on 4 accelerators of 80 GiB and 4 of 40."""
    estimate = f"estimate: {{model: Qwen/Qwen2.5-0.5B-Instruct{takes}}}"
    parts = f"named: {{accelerators: 1-8, seconds: {NAMED}}}\nany: {{accelerators: 1-8, seconds: {{1: 100}}, phase: generate, {estimate}}}"
    both = BOTH.replace("model: A100", "model: A100, memory: 40GiB")
    return written(tmp_path, both, parts, "{workflow: named => any}")


def test_without_estimates_on_one_kind_beside_a_plan_on_several(tmp_path: Path) -> None:
    """By the estimates `a` and `b` have no room together on four A100; without them that takes 3 seconds less than on one of them and five of both."""
    estimate = "model: Qwen/Qwen2.5-1.5B-Instruct, optimizer: none, sequence: 8192, utilization:"
    parts = f"""
        a: {{accelerators: 4, estimate: {{{estimate} 80}}, seconds: {{H100: {{4: 7}}, A100: {{4: 8}}}}}}
        b: {{accelerators: 1-4, scaling: table, estimate: {{{estimate} 60}}, seconds: {{A100: {{1: 23, 4: 12}}}}}}"""
    cluster = "nodes: [{accelerators: {count: 1, model: H100, memory: 12GiB}}, {accelerators: {count: 4, model: A100, memory: 32GiB}}]"
    file = written(tmp_path, cluster, parts, "{cost_model: steady}")
    answer, account = pw.solve(file, sandbox=False), pw.account(file)
    assert answer.planned is not None and answer.planned.proved and answer.planned.price == (23 * SECOND, 5)
    assert "a on 4 and b on 4 would take 20 s and not 23 s" in answer.findings[0].message
    assert account is not None and "without the estimates of memory: 20 seconds (13.0 % less): a and b on 4 A100" in "\n".join(
        render(account)
    )
    assert to_data(account)["without_estimates"]["blocks"][0]["accelerators"] == 4


def test_what_is_estimated_is_on_several_kinds_with_as_much_memory(tmp_path: Path) -> None:
    estimate = "estimate: {model: Qwen/Qwen2.5-0.5B-Instruct}"
    parts = f"named: {{accelerators: 1-8, seconds: {NAMED}}}\nany: {{accelerators: 1-8, seconds: {{1: 100}}, phase: generate, {estimate}}}"
    account = pw.account(written(tmp_path, BOTH, parts, "{workflow: named => any}"))
    assert account is not None and account.planned.proved
    assert account.planned.price == (12_750_000_000, 8) and account.planned.question.scope.on_models["named"] == ("H100", "A100")
    assert "any" in [entry.component for bill in account.bills for entry in bill.peak.entries if entry.mebibytes]


def test_memory_alone_tells_accelerators_of_one_model_apart(tmp_path: Path) -> None:
    """On one kind of them it takes 87.5 seconds; four of both take 55.9."""
    parts = """
        a: {accelerators: 1-6, seconds: {train: {3: 49, 5: 31}}, memory: 16GiB, offloaded: 2GiB, colocate_with: b}
        b: {accelerators: 1-6, parallel: {tp: 2}, seconds: {2: 17, 4: 10}}
        c: {accelerators: 1-6, parallel: {tp: 2}, seconds: {4: 8, 6: 8}, memory: 28GiB}"""
    file = written(tmp_path, SMALL, parts, "{cost_model: steady, nested: true, budget: {accelerators: 4}}")
    planned = pw.solve(file, sandbox=False).planned
    assert planned is not None and planned.proved and round(planned.best.nanoseconds / 1e9, 1) == 55.9


def test_what_only_several_kinds_allow_is_planned(tmp_path: Path) -> None:
    """`a` has designs on one kind, and no placement there: it is to be on two nodes. On both kinds it has one, without `c` beside it."""
    cluster = "nodes: [{accelerators: {count: 4, model: H100}}, {accelerators: {count: 2, model: H100, memory: 24GiB}}]"
    parts = """
        a: {accelerators: 1-6, seconds: {2: 79, 4: 56}, spread: {level: node, domains: 2}}
        b: {accelerators: 1-6, seconds: {2: 94, 4: 70}, memory: 23GiB}
        c: {accelerators: 2, seconds: {generate: {2: 67}}, memory: 37GiB}"""
    planned = pw.solve(written(tmp_path, cluster, parts, "{cost_model: steady}"), sandbox=False).planned
    assert planned is not None and planned.proved and planned.price[0] == 94 * SECOND
    room = (
        parts.replace("b: {", "b: {accelerator: H100, ")
        .replace("c: {", "c: {accelerator: H100, ")
        .replace("a: {", "a: {accelerator: A100, ")
    )
    assert (
        pw.solve(written(tmp_path, cluster.replace("H100, memory: 24GiB", "A100"), room, "{cost_model: steady}"), sandbox=False).verdict
        == IMPOSSIBLE
    )


UNEVEN = "nodes: [{accelerators: {count: 1, model: H100, memory: 24GiB}}, {accelerators: {count: 3, model: H100}}]"


def test_a_kind_with_too_few_accelerators_alone_counts_too(tmp_path: Path) -> None:
    """Groups of two on one kind of three take 5 seconds on two; on both kinds there are two groups, which take 3."""
    parts = "one: {accelerators: 1-4, accelerator: H100, parallel: {pp: 2}, scaling: table, seconds: {2: 5, 4: 3}}"
    planned = pw.solve(written(tmp_path, UNEVEN, parts, "{}"), sandbox=False).planned
    assert planned is not None and planned.proved and planned.price[0] == 3 * SECOND
    only = pw.solve(written(tmp_path, UNEVEN, parts.replace("2: 5, ", ""), "{}"), sandbox=False).planned
    assert only is not None and only.price[0] == 3 * SECOND
    one = pw.solve(written(tmp_path, UNEVEN, parts.replace("2: 5, ", "").replace("1-4,", "1-4, exclude: [0],"), "{}"), sandbox=False)
    assert one.verdict == IMPOSSIBLE


def test_times_of_several_models_are_not_taken_together(tmp_path: Path) -> None:
    """`far` is on A100 alone, where nothing named is known of it: 15 seconds on two, by those on four; `wide` is on six of both."""
    far = "[{accelerators: 4, seconds: 7.5}, {accelerators: 2, seconds: 50, accelerator: H100}]"
    parts = f"""
        wide: {{accelerators: 1-8, seconds: {{1: 80}}}}
        far: {{accelerators: 2, exclude: [0], scaling: linear, seconds: {far}}}"""
    cluster = "nodes: [{accelerators: {count: 4, model: H100}}, {accelerators: {count: 4, model: A100}}]"
    planned = pw.solve(written(tmp_path, cluster, parts, "{cost_model: steady}"), sandbox=False).planned
    assert planned is not None and planned.proved and planned.price[0] == 15 * SECOND


def test_a_model_of_two_memories_is_of_two_kinds_also_beside_one_like_the_smaller(tmp_path: Path) -> None:
    """`small` takes 2 seconds on six of three kinds of nodes, and `large` fits three of these alone."""
    cluster = "nodes: [{accelerators: {count: 1, model: A100, memory: 40GiB}}, {accelerators: {count: 3, model: A100}}, {accelerators: {count: 2, model: H100, memory: 40GiB}}]"
    parts = """
        small: {accelerators: 1-6, phase: infer, scaling: table, seconds: {2: 7, 3: 4, 6: 2}}
        large: {accelerators: 2, phase: train, memory: 41GiB, within: small, seconds: {2: 20}}"""
    planned = pw.solve(written(tmp_path, cluster, parts, "{workflow: small => large}"), sandbox=False).planned
    assert planned is not None and planned.proved and planned.price[0] == 22 * SECOND


def test_what_is_estimated_is_on_accelerators_of_its_own_size_beside_others_of_that_model(tmp_path: Path) -> None:
    """The smaller A100 are of one kind with an H100 as small, and not of that of the larger A100."""
    cluster = "nodes: [{accelerators: {count: 2, model: A100, memory: 16GiB}}, {accelerators: {count: 1, model: H100, memory: 16GiB}}, {accelerators: {count: 2, model: A100, memory: 40GiB}}]"
    estimate = "{model: Qwen/Qwen2.5-1.5B-Instruct, sequence: 4096, optimizer: adam, sharding: fsdp}"
    answer = pw.solve(written(tmp_path, cluster, f"one: {{accelerators: 1, seconds: {{2: 5}}, estimate: {estimate}}}", "{}"), sandbox=False)
    assert answer.plan is not None and not answer.findings
    assert {node for node, _ in answer.plan.assignment.accelerators("one")} == {2}
