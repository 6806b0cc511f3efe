"""What is said of a `plan` that cannot be meant: each fault once, at the word that is wrong."""

from __future__ import annotations

from pathlib import Path

import placewright as pw
import pytest
from placewright.models.findings.finding import Finding

TIMED = "  rollout: {seconds: {8: 90, 16: 50}, phase: generate}\n  actor: {seconds: {8: 70, 16: 40}, phase: train}\n"
NONE = "the seconds of `reward` are unknown"


def told(folder: Path, plan: str, components: str = TIMED, cluster: str = "2x8xH100") -> list[tuple[Finding, str]]:
    """What is said of a file, each with the text that it points at."""
    file, text = folder / "job.yaml", f"cluster: {cluster}\ncomponents:\n{components}plan: {plan}\n"
    file.write_text(text, encoding="utf-8")
    found = [each for each in pw.verify(file).findings if each.code not in ("PW801", "PW601")]
    return [(each, text[each.span.start : each.span.end] if each.span else "") for each in found]


@pytest.mark.parametrize(
    ("chain", "message", "at"),
    [
        ("rollout -> rollout", "`plan.workflow` has `rollout` work on what it makes itself", "rollout"),
        ("rollout.generate -> rollout", "`plan.workflow` has `rollout.generate` work on what it makes itself", "rollout"),
        ("rollout -> nobody", "`plan.workflow` names `nobody`, which is not a component", "nobody"),
        ("'rollout=>nobody'", "`plan.workflow` names `nobody`, which is not a component", "nobody"),
        ("[rollout -> actor, actr -> rollout]", "`plan.workflow` names `actr`, which is not a component", "actr"),
        ("rollout -> actor.infer", "`plan.workflow` names `actor.infer`, and no time of `actor` is of a phase `infer`", "actor.infer"),
        ("rollout -> reward -> actor", f"`plan.workflow` names `reward`, but {NONE}", "reward"),
        ("rollout", "`rollout` is not a chain of components", "rollout"),
    ],
)
def test_a_chain_that_cannot_be_meant(chain: str, message: str, at: str, tmp_path: Path) -> None:
    ((finding, text),) = told(tmp_path, f"{{workflow: {chain}}}", TIMED + "  reward: {accelerators: 8}\n")
    assert (finding.severity.value, finding.message, text) == ("error", message, at)


def test_names_without_arrows_are_no_chain(tmp_path: Path) -> None:
    ((finding, _),) = told(tmp_path, "{workflow: [rollout]}")
    assert finding.help == "write `rollout -> actor`, or `rollout => actor`; or leave `workflow` out"


def test_the_nearest_name_is_an_edit_of_that_word(tmp_path: Path) -> None:
    ((finding, _),) = told(tmp_path, "{workflow: rollout -> actr}")
    assert finding.edit is not None and finding.edit.text == "actor" and finding.edit.span == finding.span


def test_where_a_name_has_no_place_of_its_own_nothing_is_replaced(tmp_path: Path) -> None:
    ((finding, text),) = told(tmp_path, "\n  workflow: >-\n    rollout -> actr")
    assert finding.help == "write `actor`" and finding.edit is None and "rollout -> actr" in text


@pytest.mark.parametrize("chain", ["rollout -> actor -> rollout", "rollout -> actor.train", "[rollout => actor]", "actor=>rollout"])
def test_these_are_chains(chain: str, tmp_path: Path) -> None:
    assert not told(tmp_path, f"{{workflow: {chain}}}")


@pytest.mark.parametrize(
    ("chains", "at"),
    [
        ("rollout => actor -> rollout", ["=>"]),
        ("[actor -> rollout, rollout=>actor]", ["=>"]),
        ("rollout => actor => rollout", ["=>", "=>"]),
        ("rollout => actor.train -> rollout.generate", ["=>"]),
        ("rollout -> actor -> rollout", []),
        ("[rollout -> judge -> rollout, judge => actor]", []),
        ("[judge -> rollout -> judge -> actor, actor => critic -> actor]", ["=>"]),
        ("[rollout -> judge -> actor => rollout]", ["=>"]),
        ("critic.infer => critic.train", []),
        ("critic => critic", ["=>"]),
        ("[critic.infer => critic, critic.train -> actor -> critic.train]", []),
    ],
)
def test_nobody_waits_for_all_that_comes_round_in_a_circle(chains: str, at: list[str], tmp_path: Path) -> None:
    others = "  judge: {seconds: {8: 30}, phase: infer}\n  critic: {seconds: {infer: {8: 10}, train: {8: 20}}}\n"
    found = told(tmp_path, f"{{workflow: {chains}}}", TIMED + others)
    assert [(finding.severity.value, finding.label, text) for finding, text in found] == [("error", "never all there", each) for each in at]


def test_who_is_in_the_circle_is_named_and_nobody_else(tmp_path: Path) -> None:
    ((finding, _),) = told(tmp_path, "{workflow: [judge -> rollout => actor -> rollout]}", TIMED + "  judge: {seconds: {8: 30}}\n")
    assert finding.message.startswith("`actor` waits for all of `rollout` inside a circle of")
    assert finding.notes == ("`rollout` and `actor` wait for each other",)


@pytest.mark.parametrize("fault", ["seconds: 0", "seconds: {8: abc}", "seconds: {8: 5}, memory: much", "sconds: {8: 5}"])
def test_of_a_component_with_a_fault_nothing_else_is_said(fault: str, tmp_path: Path) -> None:
    """Not that it is not a component, not that those that go along with it say no size."""
    components = f"  rollout: {{{fault}}}\n  judge: {{colocate_with: rollout}}\n  actor: {{seconds: {{8: 70}}}}\n"
    assert len(told(tmp_path, "{workflow: rollout => actor}", components)) == 1


@pytest.mark.parametrize(
    ("plan", "cluster", "code", "severity", "message", "at"),
    [
        ("{phases: [a, b]}", "2x8", "PW121", "note", "`plan.phases` changes nothing: the cost model `stream` does not look at it", "[a, b]"),
        ("{phases: []}", "2x8", "PW105", "error", "`phases` of `plan`: the list is empty", "[]"),
        (
            "{cost_model: steady, batches: 32}", "2x8", "PW121", "note",
            "`plan.batches` changes nothing: the cost model `steady` does not look at it", "32",
        ),
        (
            "{bandwidth: {rack: 5GiB}}", "2x8", "PW127", "warning",
            "no node names its rack: all are in one, so `plan.bandwidth.rack` changes nothing", "5GiB",
        ),
    ],
)  # fmt: skip
def test_what_a_plan_says_for_nothing(plan: str, cluster: str, code: str, severity: str, message: str, at: str, tmp_path: Path) -> None:
    ((finding, text),) = told(tmp_path, plan, cluster=cluster)
    assert (finding.code, finding.severity.value, finding.message, text) == (code, severity, message, at)


def test_a_stage_that_a_time_lacks_points_at_the_stages(tmp_path: Path) -> None:
    assert {at for _, at in told(tmp_path, "{cost_model: stages, phases: [infer]}")} == {"[infer]"}


def test_what_is_no_plan_is_told_its_keys(tmp_path: Path) -> None:
    ((finding, _),) = told(tmp_path, "5")
    assert finding.help.startswith("write a map; its keys are workflow, cost_model")


@pytest.mark.parametrize(("budget", "at"), [("{accelerators: 2}", "2"), ("{seconds: 60}", "60")])
def test_a_budget_that_is_too_small_is_pointed_at(budget: str, at: str, tmp_path: Path) -> None:
    parallel = TIMED.replace("{seconds", "{parallel: {tp: 4}, memory: 60GiB, disjoint_from: [], seconds")
    told(tmp_path, f"{{workflow: rollout => actor, budget: {budget}}}", parallel)
    file = tmp_path / "job.yaml"
    (finding,) = pw.solve(file).findings
    assert finding.span is not None and file.read_text(encoding="utf-8")[finding.span.start : finding.span.end] == at


@pytest.mark.parametrize("rate", ["0.0009", "0.5MiB"])
def test_less_than_a_mebibyte_a_second_is_no_bandwidth(rate: str, tmp_path: Path) -> None:
    ((finding, text),) = told(tmp_path, f"{{bandwidth: {{node: {rate}}}}}")
    assert finding.severity.value == "error" and text == rate
    assert finding.message == f"`bandwidth.node` of `plan`: `{rate}` is less than 1 MiB a second"


def test_a_phase_is_one_stage(tmp_path: Path) -> None:
    ((finding, text),) = told(tmp_path, "{cost_model: stages, phases: [generate, train, generate]}")
    assert (finding.message, text) == ("`phases` of `plan`: `generate` appears twice", "[generate, train, generate]")
    assert finding.help.startswith("write names such as")
