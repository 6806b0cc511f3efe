"""Random jobs: the components of each of RLinf's placement classes, on random nodes, with the settings that these read."""

from __future__ import annotations

from typing import Callable

from .configurations import ODD_NUMBERS, TYPOS, Dice, Question, Tree, node_groups, nodes, profiling, written

HYBRID = "HybridComponentPlacement"
MODEL_PARALLEL = "ModelParallelComponentPlacement"
EVAL = "ModelParallelEvalComponentPlacement"
MULTI_AGENT = "MultiAgentModelParallelComponentPlacement"
MULTI_AGENT_EVAL = "MultiAgentModelParallelEvalComponentPlacement"

Nodes = tuple[tuple[int, str], ...]


def section(dice: Dice, has: Nodes, placed: Tree, labels_of: Callable[[list[str]], Tree] | None = None) -> dict[str, Tree]:
    """A `cluster:` section around the components; `labels_of` makes them anew from the labels of node groups."""
    size = len(has)
    found: dict[str, Tree] = {"num_nodes": str(size)}
    if dice.chance(40):
        found["num_nodes"] = dice.choice((*ODD_NUMBERS, str(size + 1), str(max(size - 1, 1)), str(max(size - 1, 1))))
    labels: list[str] = []
    if labels_of and not dice.chance(3):
        found["node_groups"], labels = node_groups(dice, size)
    if dice.chance(25):
        found["profiling"] = profiling(dice)
    found["component_placement"] = labels_of(labels) if labels_of else placed
    if dice.chance(60):
        found.pop(dice.choice(("num_nodes", "component_placement")))
    if dice.chance(15):
        found[dice.choice(("net_emulation", "tracer", "nodes"))] = "{}"
    return found


def long_form(dice: Dice, text: str, labels: list[str], group: str | None = None) -> Tree:
    """A placement with its node group; now and then with a mistake of the long form."""
    found: dict[str, Tree] = {}
    known = [*labels, "cluster", "node"]
    if not dice.chance(15):
        names = [dice.choice(known) for _ in range(dice.choice((1, 1, 1, 1, 2, 3)))]
        if group is not None:
            names = [group]
        found["node_group"] = f'"{dice.choice((",", ",", ", ")).join(names)}"' if len(names) > 1 or dice.chance(4) else names[0]
        if dice.chance(15):
            odd = (
                "none_such",
                f"[{', '.join(names)}]",
                "null",
                f'"{names[0]},"',
                f'" {names[0]}"',
                '""',
                f'"{names[0]} "',
                "{}",
                names[0].upper(),
            )
            found["node_group"] = dice.choice(odd)
    found["placement"] = text
    if dice.chance(20):
        found[dice.choice(TYPOS)] = dice.choice(("0", "node", *known))
    if dice.chance(30):
        found.pop("placement")
    return found


def hybrid(dice: Dice) -> Question:
    """An embodied job: anything anywhere."""
    dice.author()
    has = nodes(dice)
    total = sum(count for count, _ in has) or len(has)

    task = dice.choice(("embodied", "sft"))
    started = "env" if task == "embodied" else "actor"

    def components(labels: list[str]) -> Tree:
        names = dice.sample(("actor", "rollout", "env", "reward", "agent", "tool"), dice.choice((1, 2, 2, 3, 3, 4)))
        if started not in names and not dice.chance(20):
            names[0] = started
        if dice.chance(4) and len(names) > 1:
            names = [dice.choice((",", ", ", " ,")).join(names[:2]), *names[2:]]
        if dice.chance(40):
            names[0] = dice.choice(("actor,", "actor,actor", '" actor"', "1", "null", "true", "actor , rollout", ",", '""'))
        found: dict[str, Tree] = {}
        for name in names:
            if labels and not dice.chance(3):
                size = dice.choice((total, len(has), max(total // max(len(labels), 1), 1), 1, 2))
                found[name] = long_form(dice, dice.placement(size), labels)
            else:
                found[name] = dice.placement(total, 20)
        return found if not dice.chance(60) else dice.choice(("{}", "[]", "null", "all"))

    tree = {"runner": {"task_type": task}, "cluster": section(dice, has, None, components)}
    return Question(written(tree), has, HYBRID, (started,))


def cluster_alone(dice: Dice) -> Question:
    """Node groups, their software and hardware, and profiling, around a component that can always be placed."""
    has = nodes(dice)
    dice.care = dice.choice((0.5, 1.0, 2.0, 4.0))
    found: dict[str, Tree] = {"num_nodes": str(len(has)), "component_placement": {"actor": "0"}}
    if dice.chance(3):
        found["profiling"] = profiling(dice)
    else:
        found["node_groups"], _ = node_groups(dice, len(has))
    return Question(written({"runner": {"task_type": "sft"}, "cluster": found}), has, HYBRID)


def one_placement(dice: Dice) -> Question:
    """One component, in the short or the long form."""
    has = nodes(dice)
    dice.care = dice.choice((0.3, 0.5, 1.0, 3.0))
    total = sum(count for count, _ in has) or len(has)
    text = dice.placement(dice.choice((total, total, len(has))), 12)
    placed = {"actor": long_form(dice, text, []) if dice.chance(3) else text}
    found: dict[str, Tree] = {"num_nodes": str(len(has)), "component_placement": placed}
    return Question(written({"runner": {"task_type": "sft"}, "cluster": found}), has, HYBRID)


def _tp(dice: Dice) -> str:
    return (
        dice.choice(("1", "1", "2", "2", "4", "8", "3"))
        if not dice.chance(40)
        else dice.choice(("0", "-1", "null", '"2"', "2.0", "16", "1.5", "true"))
    )


def _degrees(dice: Dice, keys: tuple[str, ...]) -> dict[str, Tree]:
    found: dict[str, Tree] = {key: _tp(dice) for key in keys if not dice.chance(2.5)}
    return found


def _shared(dice: Dice, pieces: list[tuple[str, int, int]], labels: list[str] | None = None) -> dict[str, Tree]:
    """Components from (name, first, last), now and then in other words or shifted."""
    found: dict[str, Tree] = {}
    for name, first, last in pieces:
        if dice.chance(25):
            first, last = max(first + dice.choice((-1, 0, 1)), 0), max(last + dice.choice((-1, 0, 1)), 0)
        text = f"{first}-{last}" if last != first else str(first)
        if dice.chance(25) and last > first + 2:
            text = f'"{first}-{first + 1},{first + 3}-{max(last, first + 3)}"'
        elif dice.chance(15):
            text = f'"{text}:0-{dice.choice((last - first, 2 * (last - first) + 1, 0))}"'
        found[name] = text if not dice.chance(60) else dice.placement(last + 1, 5)
        if dice.chance(30):
            found[name] = long_form(
                dice, found[name] if isinstance(found[name], str) else text, [], dice.choice(("cluster", "cluster", "node"))
            )
    if dice.chance(25) and found:
        found.pop(dice.choice(list(found)))
    return found


def _model(dice: Dice) -> dict[str, Tree]:
    return _degrees(dice, ("tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size")) or {"precision": "bf16"}


def _rollout(dice: Dice) -> dict[str, Tree]:
    return _degrees(dice, ("tensor_parallel_size", "pipeline_parallel_size")) or {"seed": "1"}


def model_parallel(dice: Dice) -> Question:
    """A reasoning job: collocated, disaggregated or in auto mode."""
    dice.author()
    has = nodes(dice)
    total = sum(count for count, _ in has) or 8
    way = dice.choice(("collocated", "disaggregated", "disaggregated", "auto", "overlapping"))
    cuts = sorted(dice.sample(range(1, total), min(3, total - 1))) if total > 1 else []
    names = [
        "actor",
        "rollout",
        *dice.choice(((), ("inference",), ("inference",), ("actor_inference",), ("inference", "critic_inference", "critic"))),
    ]
    if way == "collocated":
        last = dice.choice((total, total, max(total // 2, 1))) - 1
        pieces = [(name, 0, last) for name in ("actor", "rollout")] + ([("critic", 0, last)] if dice.chance(4) else [])
        pieces += [("inference", 0, last)] if dice.chance(15) else []
    else:
        if way == "auto":
            names = names[:3] if "critic" not in names else names[:2]
        parts = min(len(names), len(cuts) + 1)
        bounds = [0, *cuts[: parts - 1], total]
        if dice.chance(2) and total % parts == 0:
            bounds = [total // parts * number for number in range(parts + 1)]
        pieces = [(name, bounds[i], max(bounds[i + 1] - 1, bounds[i])) for i, name in enumerate(names[:parts])]
        if way == "overlapping":
            pieces = [(name, first, min(last + dice.choice((0, 1)), total - 1)) for name, first, last in pieces]
        if way != "auto" and dice.chance(4):
            dice.shuffle(pieces)
    pieces.append(("reward", 0, dice.choice((total - 1, 0, pieces[0][2]))))
    if dice.chance(20):
        pieces.append((dice.choice(("tool", "rollout_judge", "agent")), 0, total - 1))
    placed = _shared(dice, pieces)
    cluster = section(dice, has, placed)
    if way == "auto" or dice.chance(30):
        cluster["auto_scheduler"] = dice.choice(("true", "true", "true", "false", "null", "0"))
        if dice.chance(2):
            cluster["use_pre_process_policy"] = dice.choice(("true", "false"))
    tree: dict[str, Tree] = {"runner": {"task_type": "reasoning"}, "cluster": cluster, "algorithm": {"recompute_logprobs": "true"}}
    tree["actor"] = {"model": _model(dice)}
    tree["rollout"] = _rollout(dice)
    for name in ("inference", "actor_inference", "critic_inference"):
        if dice.chance(4):
            tree[name] = {"model": _model(dice)}
    tree["critic"] = {"model": _model(dice), "use_critic_model": "true" if "critic" in placed else "false"}
    if dice.chance(30):
        target = dice.choice(("actor", "rollout", "critic", "algorithm"))
        if dice.chance(2):
            tree.pop(target)
        else:
            tree[target] = dice.choice(("null", "{}", {"model": "null"}, {"model": "{}"}))
    return Question(written(tree), has, MODEL_PARALLEL)


def evaluation(dice: Dice) -> Question:
    """A reasoning job that only evaluates."""
    dice.author()
    has = nodes(dice)
    total = sum(count for count, _ in has) or 8
    first = dice.choice((0, 0, total // 2))
    pieces = [("rollout", first, max(total - 1, first)), ("reward", 0, dice.choice((0, total - 1)))]
    tree = {"runner": {"task_type": "reasoning_eval"}, "cluster": section(dice, has, _shared(dice, pieces)), "rollout": _rollout(dice)}
    return Question(written(tree), has, EVAL)


def multi_agent(dice: Dice) -> Question:
    """A job of several agents, trained or only evaluated."""
    dice.author()
    has = nodes(dice)
    total = sum(count for count, _ in has) or 8
    last, half = total - 1, total // 2
    evaluates, judge = dice.chance(3), dice.chance(2)
    split = judge and half > 0
    pieces = [("rollout", 0, half - 1 if split else last), ("reward", 0, last)]
    if not evaluates:
        pieces.append(("actor", 0, last))
    if judge:
        pieces.append(("rollout_judge", half, last))
    if dice.chance(10):
        pieces.append((dice.choice(("planner", "rollout_2", "inference", "tool")), 0, last))
    dice.shuffle(pieces)
    placed = _shared(dice, pieces)
    tree: dict[str, Tree] = {
        "runner": {"task_type": "reasoning_eval" if evaluates else "reasoning"},
        "cluster": section(dice, has, placed),
        "data": {"type": "wideseek_r1"},
        "algorithm": {"recompute_logprobs": "true"},
        "actor": {"model": _model(dice)},
        "rollout": _rollout(dice),
        "agentloop": {"use_local_judge": "true" if judge else "false"},
    }
    if judge:
        tree["rollout_judge"] = {**_rollout(dice), **({"dp_size": _tp(dice)} if dice.chance(4) else {})}
    return Question(written(tree), has, MULTI_AGENT_EVAL if evaluates else MULTI_AGENT, ("rollout_judge",) if judge else ())


JOBS = {
    "hybrid": hybrid,
    "cluster alone": cluster_alone,
    "one placement": one_placement,
    "model parallel": model_parallel,
    "evaluation": evaluation,
    "multi-agent": multi_agent,
}
