"""Random native files with times: components, relations and plans of every documented kind."""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any, Sequence

import yaml

Keys = dict[Any, Any]

PHASES = {
    "rollout": ("generate",), "actor": ("train",), "reward": ("infer",), "reference": ("infer",),
    "critic": ("infer", "train"), "env": ("generate",), "judge": ("infer",),
}  # fmt: skip
SHAPES = {(1, 4): 12, (1, 8): 20, (2, 4): 15, (2, 8): 20, (3, 4): 6, (2, 6): 4, (4, 4): 4, (4, 8): 8, (8, 8): 3, (16, 8): 2}
"""(nodes, accelerators of each) -> weight."""
SIZES = {1: 5, 2: 24, 3: 38, 4: 22, 5: 7, 6: 3, 7: 1}
"""Number of components -> weight."""
MOST = {"of two models": 3, "nested or large": 4, "traffic": 4}
"""Components at most, where a question with more of them takes many seconds."""
COST_MODELS = {"stream": 50, "stages": 22, "steady": 12, "rlinf": 8, "rlinf-embodied": 8}


def native_file(seed: int) -> str:
    """Text of the native file of a seed."""
    data = Generator(Random(f"planner {seed}")).file()
    return str(yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=160))


class Generator:
    """One random file: machines, then components, then relations, then the plan."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.nodes, self.size = self.weighted(SHAPES)
        self.total = self.nodes * self.size
        self.models: tuple[str, ...] = ("H100",)
        self.has_racks = False
        self.groups: tuple[str, ...] = ()
        self.components: dict[str, Keys] = {}
        self.model = self.weighted(COST_MODELS)
        self.nested: bool | None = None
        self.gives = self.weighted({0: 86, 1: 11, len(PHASES): 3})
        """Components whose ranks are given, at most."""
        self.given = 0
        """Accelerators that are given, the first ones."""
        self.first_given: str | None = None

    def file(self) -> Keys:
        """The whole file as data."""
        file: Keys = {"cluster": self._cluster(), "components": self.components}
        size = self.weighted(SIZES)
        self.nested = self.pick((True, True, True, False)) if self.chance(0.2) else None
        if len(self.models) > 1 and self.chance(0.95):
            size = min(size, MOST["of two models"])
        elif (self.nested or self.total > 16) and self.chance(0.95):
            size = min(size, MOST["nested or large"])
        names = self.random.sample(list(PHASES), size)
        for number, name in enumerate(names):
            untimed = number > 0 and self.chance(0.1)
            self.components[name] = self._untimed() if untimed else self._timed(name, len(names))
            if number < self.gives and not untimed:
                self._give_ranks(name)
        timed = [name for name in names if "seconds" in self.components[name]]
        relations = self._relations(names) if len(names) > 1 and self.chance(0.35) else []
        if relations:
            file["relations"] = relations
        if self.chance(0.08) and len(names) <= MOST["traffic"]:
            self._add_traffic(file, names)
        file["plan"] = {**self._plan(timed), **file.pop("plan", {})}
        return file

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random.random() < probability

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def weighted(self, weights: dict[Any, int]) -> Any:
        """One key, by its weight."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    # -- machines

    def _cluster(self) -> Any:
        if self.chance(0.68):
            return f"{self.nodes}x{self.size}xH100"
        if self.nodes > 1 and self.chance(0.4):
            self.models = ("H100", "A100")
        self.has_racks = self.nodes > 1 and self.chance(0.5)
        nodes: list[Keys] = []
        for rank in range(self.nodes):
            model = self.models[rank * len(self.models) // self.nodes]
            accelerators: Keys = {"count": self.size, "model": model, "memory": "80GiB" if model == "H100" else "40GiB"}
            if self.chance(0.1) and not self.gives:
                accelerators["taken"] = [self.random.randrange(self.size)]
            nodes.append({"accelerators": accelerators})
            if self.has_racks:
                nodes[-1]["topology"] = {"rack": f"r{2 * rank // self.nodes}"}
        cluster: Keys = {"nodes": nodes}
        if self.nodes > 1 and self.chance(0.4):
            cut = self.random.randint(1, self.nodes - 1)
            self.groups = ("left", "right")
            ranks = (f"0-{cut - 1}", f"{cut}-{self.nodes - 1}")
            cluster["node_groups"] = [{"label": label, "node_ranks": text} for label, text in zip(self.groups, ranks)]
        return cluster

    # -- components

    def _untimed(self) -> Keys:
        if self.chance(0.25):
            return {"node_group": "node", "processes": self.random.randint(1, 4)}
        most = self.random.randint(1, max(1, self.total // 4))
        return {"accelerators": f"1-{most}" if most > 1 and self.chance(0.4) else most}

    def _timed(self, name: str, size: int) -> Keys:
        keys: Keys = {}
        unit = self._degrees(keys, size)
        self._count(keys, unit)
        if self.groups and self.chance(0.4):
            keys["node_group"] = self.pick((*self.groups, "left,right"))
        if len(self.models) > 1 and self.chance(0.3):
            keys["accelerator"] = self.pick(self.models)
        self._seconds(name, keys, unit)
        self._memory(keys)
        self._where(keys)
        return keys

    def _degrees(self, keys: Keys, size: int) -> int:
        """Add degrees; return what counts are a multiple of."""
        if self.chance(0.45):
            return 1
        parallel: Keys = {"tp": self.pick([each for each in (1, 2, 2, 4, 8) if each <= self.size])}
        if size < 6 and self.chance(0.35):
            parallel["tp"] = self.pick(([1, 2], [2, 1], [2, 4], [1, 2, 4]))
        most = max(parallel["tp"]) if isinstance(parallel["tp"], list) else parallel["tp"]
        if 2 * most <= self.size and self.chance(0.2):
            parallel[self.pick(("pp", "cp", "dp"))] = 2
        if self.chance(0.05):
            parallel["ep"] = 2
        keys["parallel"] = parallel
        if self.chance(0.06):
            keys["accelerators_per_process"] = min(self.size, 2)
        sizes: list[int] = [max(value) if isinstance(value, list) else value for degree, value in parallel.items() if degree != "ep"]
        return int(max(prod(sizes), parallel.get("ep", 1), keys.get("accelerators_per_process", 1)))

    def _count(self, keys: Keys, unit: int) -> None:
        most = max(1, self.total // unit)
        first, last = sorted(self.random.randint(1, most) for _ in range(2))
        form = self.random.random() + (0.45 if self.model.startswith("rlinf") else 0.0)
        if form < 0.4:
            keys["accelerators"] = f"{unit}-{unit * last}" if last > 1 else unit
        elif form < 0.5:
            keys["accelerators"] = sorted({unit * self.random.randint(1, most) for _ in range(3)})
        elif form < 0.6:
            keys["accelerators"] = unit * min(first, max(1, most // 2))

    def _seconds(self, name: str, keys: Keys, unit: int) -> None:
        """Add times; measured counts are powers of two times the unit."""
        counts = [unit << shift for shift in range(6) if unit << shift <= self.total] or [unit]
        phases = PHASES[name] if self.chance(0.8) or self.model == "stages" else ("",)
        phases = phases[:1] if self.model.startswith("rlinf") else phases
        power = self.random.uniform(0.4, 1.0)

        def measured(slower: float = 1.0) -> Keys:
            work = self.random.uniform(10, 200)
            chosen = sorted(self.random.sample(counts, min(len(counts), self.pick((1, 2, 2, 3)))))
            return {count: round(slower * work * (8 / count) ** power * self.random.uniform(0.95, 1.05), 1) for count in chosen}

        def of_models() -> Keys:
            if len(self.models) == 1 or self.chance(0.4) or "accelerator" in keys:
                return measured()
            return {model: measured(1.0 if model == "H100" else 1.6) for model in self.models}

        seconds = {phase: of_models() for phase in phases}
        tp = keys.get("parallel", {}).get("tp", 1)
        if len(phases) == 1:
            keys["seconds"] = seconds[phases[0]]
            if phases[0]:
                keys["phase"] = phases[0]
            if isinstance(tp, list) and self.chance(0.5) and not set(self.models) & keys["seconds"].keys():
                keys["seconds"] = [
                    {"accelerators": count, "seconds": round(value * (1 + 0.06 * (size - 1)), 1), "tp": size}
                    for count, value in keys["seconds"].items()
                    for size in tp
                ]
        else:
            keys["seconds"] = seconds
        if self.chance(0.12):
            keys["scaling"] = self.pick(("linear", "table")) if "accelerators" not in keys else "linear"
        if self.chance(0.05):
            keys["samples"] = self.pick((32, 48, 96))

    def _memory(self, keys: Keys) -> None:
        has_phase = "phase" in keys or "infer" in keys["seconds"]
        if has_phase and self.chance(0.04) and keys.get("parallel", {}).get("tp", 1) in (1, 2, 4, [1, 2], [2, 4]):
            keys["estimate"] = {"model": "Qwen/Qwen2.5-7B-Instruct", "sequence": 4096, "offload": self.chance(0.6)}
        elif self.chance(0.6):
            memory = self.pick((8, 12, 20, 30, 50, 70) if has_phase else (8, 12, 20))
            keys["memory"] = f"{memory}GiB"
            if has_phase and ((memory > 20 and self.chance(0.85)) or self.chance(0.3)):
                keys["offloaded"] = f"{self.pick((0, 1, 2, 4))}GiB"

    def _where(self, keys: Keys) -> None:
        """Add demands on nodes and domains, rarely."""
        if self.chance(0.04):
            keys["pin"] = [{"ranks": "0", "nodes": self.random.randrange(self.nodes)}]
        if self.nodes > 1 and self.chance(0.04):
            keys["exclude"] = self.random.randrange(self.nodes)
        if self.chance(0.06):
            choices: list[Keys] = [{"replica": "node"}, {"component": "node"}, {"tp": {"level": "node", "required": False}}]
            keys["keep"] = self.pick([*choices, {"component": "rack"}] if self.has_racks else choices)
        if self.has_racks and self.chance(0.06):
            keys["spread"] = "rack"
        if self.chance(0.05):
            keys["contiguous"] = True
            keys.update({"any_order": True} if self.chance(0.3) else {})

    def _give_ranks(self, name: str) -> None:
        """Fix the ranks of a component: a range behind those that are given, or that of the first one."""
        keys = self.components[name]
        for key in ("pin", "exclude", "keep", "spread", "contiguous", "any_order", "node_group", "accelerator", "accelerators"):
            keys.pop(key, None)
        keys.pop("accelerators_per_process", None)
        sizes = keys.get("parallel", {})
        tp = sizes.pop("tp", 1)
        tp = tp[0] if isinstance(tp, list) else tp
        unit = prod([tp, *sizes.values()])
        if "parallel" in keys:
            keys["parallel"] = {"tp": tp, **sizes}
        start = -(-self.given // unit) * unit
        left = (self.total - start) // (2 * unit)
        if left < 1:
            return
        self.given = start + unit * self.random.randint(1, left)
        keys["placement"] = f"{start}-{self.given - 1}" if self.given > start + 1 else str(start)
        if self.first_given is None:
            self.first_given = name
        elif self.chance(0.3):
            keys.update({"placement": self.components[self.first_given]["placement"], "colocate_with": self.first_given})

    # -- relations, traffic, plan

    def _relations(self, names: Sequence[str]) -> list[Keys]:
        names = [name for name in names if self.components[name].get("node_group") != "node"]
        if len(names) < 2:
            return []
        first, second = self.random.sample(names, 2)
        if self.first_given is not None and first != self.first_given and self.chance(0.6):
            second = self.first_given
        keys = self.components[first]
        kinds = ["colocate_with", "colocate_with", "disjoint_from", "disjoint_from", "within", "within", "either", "either", "not fewer"]
        kinds += ["rank_aligned_with", "zero_copy_with", "in order"]
        kinds += 2 * ["apart_from", "near"] if self.has_racks else []
        kind = self.pick(kinds)
        if kind == "either":
            return [{"kind": "colocated or disjoint", "components": [first, second]}]
        if kind == "not fewer":
            return [{"kind": kind, "components": [first, second]}]
        if kind == "in order":
            for name in (first, second):
                self.components[name]["contiguous"] = True
            return [{"kind": kind, "components": [first, second]}]
        if kind in ("colocate_with", "within", "rank_aligned_with", "zero_copy_with") and self.chance(0.7):
            for each in (keys, self.components[second]):
                each.pop("accelerators" if "seconds" in each else "", None)
        keys[kind] = second
        return []

    def _add_traffic(self, file: Keys, names: Sequence[str]) -> None:
        """Links and collectives whose crossing of nodes counts as time."""
        pair = self.random.sample(list(names), 2) if len(names) > 1 else []
        if pair:
            amount = {"weights": f"{self.random.randint(1, 20)}GiB"} if self.chance(0.7) else {"stream": "256MiB"}
            file["links"] = [{"from": pair[0], "to": pair[1], **amount}]
        if not pair or self.chance(0.3):
            self.components[names[0]]["traffic"] = f"{self.random.randint(1, 8)}GiB"
        file["plan"] = {"bandwidth": {"node": self.pick(("1GiB", "10GiB", "50GiB"))}}

    def _plan(self, timed: Sequence[str]) -> Keys:
        plan: Keys = {}
        if len(timed) > 1 and self.model not in ("stages", "steady") and (chains := self._workflow(timed)):
            plan["workflow"] = chains
        if self.model != "stream" or self.chance(0.2):
            plan["cost_model"] = self.model
        if self.model not in ("stages", "steady"):
            plan["batches"] = self.pick((1, 2, 4, 8, 16, 32))
        if self.nested is not None:
            plan["nested"] = self.nested
        if self.chance(0.14):
            plan["minimise"] = "accelerators"
            plan["budget"] = {"seconds": self.pick((400, 1000, 2000))}
        elif self.chance(0.15):
            plan["budget"] = {"accelerators": self.random.randint(max(1, self.total // 2), self.total)}
            plan["budget"].update({"seconds": self.pick((600, 1500))} if self.chance(0.3) else {})
        return plan

    def _workflow(self, timed: Sequence[str]) -> list[str]:
        """A chain, branches from the first to the last, or a circle."""
        arrows = [self.pick(("->", "->", "=>")) for _ in timed]
        form = self.random.random() if not self.model.startswith("rlinf") else 0.1
        if form < 0.6:
            return ["".join(f"{name} {arrow} " for name, arrow in zip(timed, arrows[1:])) + timed[-1]]
        if form < 0.8 and len(timed) > 2:
            return [f"{timed[0]} -> {name} {arrow} {timed[-1]}" for name, arrow in zip(timed[1:-1], arrows)]
        if form < 0.9:
            circle = [f"{timed[0]} -> {timed[1]}", f"{timed[1]} -> {timed[0]}"]
            return circle + [f"{timed[1]} {arrow} {name}" for name, arrow in zip(timed[2:], arrows)]
        return []
