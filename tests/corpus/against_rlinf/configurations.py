"""Random configurations as people write them: mostly right, each with a few of the mistakes that are made with them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Sequence

Tree = Any
"""A map or a list of trees, or the YAML text of a scalar."""

MODELS = ("NV_GPU:H100", "NV_GPU:A100", "NV_GPU:4090", "AMD_GPU:MI300X", "NPU:910B")
LABELS = ("a800", "4090", "h100", "cpu", "train", "sim", "franka", "arms")
ODD_LABELS = ("cluster", "node", "Node", '"a,b"', '" a800"', "null", "true", "1.5", "[a800]", '""', "012", "a800")
ODD_RANKS = (
    '""', "null", "~", '" "', '","', "-1", "1-0", "0-", "-3", "0-1-2", "a", "0..3", "1.0", "true", "[0, 1]", "[0]", "[]", "{}", '"all,0"', "1e1",
    "0x1", "010", "0_1", '"+1"', '"0 - 1"', '" 0-1 "', '"0,,1"', '"0-0"', '"1,0"', '"0-1,1-2"', "0:1", "1:30", '"0:0:0"', '"\N{ARABIC-INDIC DIGIT ZERO}"', '" all"', "ALL",
    "All", '"all:all"', '"all:ALL"', '"0:"', '":0"', '"0-1:0-2"', '"0-99"', "99", "${cluster.num_nodes}", "0-${oc.decode:1}", "on", "1_0",
)  # fmt: skip
ODD_NUMBERS = ("0", "-1", "1.0", '"1"', "true", "null", "2.5", "a", "[1]", "{}", "0x2", "1e0", "1_0")
TYPOS = ("placments", "node_grop", "node_group ", "placement ", "noderanks", "ignore_hardwares", "env_config", "notes", "hardwares")


@dataclass(frozen=True)
class Question:
    """One configuration on these nodes, and the class of RLinf that is to place its components.

    `custom`: components that the program of the job asks for in any case, in the multi-agent programs in a way of their own.
    """

    text: str
    nodes: tuple[tuple[int, str], ...]
    placer: str
    custom: tuple[str, ...] = ()

    @property
    def asked(self) -> dict[str, Any]:
        """What the oracle is asked."""
        nodes = [{"accelerators": count, "model": model} for count, model in self.nodes]
        return {"text": self.text, "nodes": nodes, "placer": self.placer, "custom": self.custom}


def written(tree: Tree, indent: int = 0) -> str:
    """The tree as block YAML."""
    pad = "  " * indent
    if isinstance(tree, dict):
        return "".join(f"{pad}{key}:{_value(value, indent)}" for key, value in tree.items())
    return "".join(f"{pad}-{_item(value, indent)}" for value in tree)


def _value(value: Tree, indent: int) -> str:
    if isinstance(value, str):
        return f" {value}\n"
    return f" {'{}' if isinstance(value, dict) else '[]'}\n" if not value else "\n" + written(value, indent + 1)


def _item(value: Tree, indent: int) -> str:
    return f" {value}\n" if isinstance(value, str) else " " + written(value, indent + 1)[2 * (indent + 1) :] if value else " {}\n"


MISTAKE = 12
"""What happens once in so many times or more rarely is taken for a mistake."""


class Dice(random.Random):
    """Chances. `care` is how careful the author of a configuration is: mistakes are so many times rarer."""

    care = 1.0

    def author(self) -> None:
        """Another author."""
        self.care = self.choice((1.0, 2.0, 5.0, 20.0, 1e9))

    def chance(self, one_in: float) -> bool:
        """Does something happen that happens once in so many times?"""
        return self.random() < 1 / (one_in * self.care if one_in >= MISTAKE else one_in)

    def ranks(self, size: int, odd: float = 30) -> str:
        """A rank expression over so many things, now and then an odd one."""
        if self.chance(odd):
            return self.choice(ODD_RANKS)
        way = self.randrange(6)
        first = self.randrange(max(size, 1))
        last = self.randint(first, max(size - 1, first)) + self.chance(40)
        if way == 0 or size < 1:
            return "all"
        if way == 1:
            return str(first)
        if way == 2:
            return f"0-{max(size - 1, 0)}"
        if way == 3 and first < last:
            return f"{first},{last}"
        return f"{first}-{last}"

    def placement(self, size: int, odd: float = 30) -> str:
        """The text of a placement: segments in order, some with process ranks, some of which do not fit."""
        if size < 1 or self.chance(4):
            return self.ranks(size, odd)
        segments, at, process = [], 0, 0
        for _ in range(self.choice((1, 1, 1, 2, 2, 3))):
            if at >= size:
                break
            first = at + (self.randint(0, 2) if self.chance(4) else 0)
            last = min(first + self.choice((0, 0, 1, 1, 3, 3, 7, 7, 15)), size - 1 + self.chance(25))
            if last < first:
                break
            count = last - first + 1
            segment = f"{first}-{last}" if last > first or self.chance(20) else str(first)
            given = self.chance(2)
            processes = self.choice((count, count, count * 2, max(count // 2, 1), max(count // 4, 1), 1, 3)) if given else count
            start = process + (self.choice((-1, 1)) if self.chance(25) and process else 0)
            if given:
                segment += f":{start}-{start + processes - 1}" if processes > 1 else f":{start}"
            segments.append(segment)
            process += processes
            at = last + 1 - (self.chance(25) and 1)
        text = self.choice((",", ",", ", ", " , ")).join(segments)
        if self.chance(20):
            text = text.replace("-", " - ").replace(":", " : ", 1)
        if self.chance(25):
            text += self.choice((",", " ", "-", ":", ",0"))
        plain = text == text.strip() and ": " not in text and not text.endswith(":")
        return text if plain and self.chance(3) else f'"{text}"'


def nodes(dice: Dice) -> tuple[tuple[int, str], ...]:
    """(accelerators, model) of each node."""
    count = dice.choice((1, 1, 2, 2, 2, 3, 4, 4, 6))
    each, model = dice.choice((8, 8, 8, 4, 4, 2, 1, 3)), dice.choice(MODELS)
    found = [(each, model)] * count
    if dice.chance(2):
        found = [(dice.choice((each, each, 0, 0, 1, 2, 3, 5, 8)), dice.choice((model, dice.choice(MODELS)))) for _ in range(count)]
    return tuple((number, name if number else "") for number, name in found)


def env_configs(dice: Dice, ranks: Sequence[int], size: int) -> Tree:
    """The software of a group."""
    if dice.chance(15):
        return dice.choice(("[]", "null", "0", {"node_ranks": "0"}, ["0"], [{}]))
    found = []
    left = list(ranks)
    for _ in range(dice.choice((1, 1, 2))):
        mine = left[: dice.randint(1, max(len(left), 1))] if not dice.chance(15) else list(ranks)
        left = left[len(mine) :]
        if not mine:
            break
        item: dict[str, Tree] = {"node_ranks": ",".join(map(str, mine)) if len(mine) > 1 else str(mine[0])}
        if dice.chance(12):
            item["node_ranks"] = dice.ranks(size, 3)
        if dice.chance(1.5):
            names = [dice.choice(("GLOO_SOCKET_IFNAME", "A", "B", "C", "1", "true")) for _ in range(dice.choice((1, 1, 2)))]
            values: Tree = [{name: dice.choice(("eth0", "1", "true", "null", '"x y"', "1.50"))} for name in names]
            if dice.chance(12):
                values = dice.choice(({"A": "1"}, ["A"], [{"A": "1", "B": "2"}], [{}], "null", "[]", "A", [{"A": ["1"]}]))
            item["env_vars"] = values
        if dice.chance(2):
            item["python_interpreter_path"] = dice.choice(("/usr/bin/env", "/usr/bin/env", "null", "/bin/sh"))
        if dice.chance(20):
            item[dice.choice(("env_var", "path", "python"))] = "1"
        if dice.chance(25):
            item.pop("node_ranks")
        found.append(item)
    return found


def robots(dice: Dice, ranks: Sequence[int]) -> Tree:
    """The hardware of a group."""
    kind = dice.choice(("Franka", "Franka", "Turtle2", "DOSW1", "GimArm", "DualFranka"))
    configs: list[Tree] = []
    for rank in ranks:
        for number in range(dice.choice((1, 1, 2, 0))):
            config: dict[str, Tree] = {"node_rank": str(rank)}
            if kind in ("Franka", "DualFranka"):
                key = "robot_ip" if kind == "Franka" else "left_robot_ip"
                config[key] = dice.choice(
                    (f"10.0.{rank}.{number}", f"10.0.{rank}.{number}", "ROBOT_IP", "null", "1.5", "7", '"::1"', "1.2.3")
                )[:40]
                if dice.chance(2):
                    config["camera_serials"] = [f'"{rank}{number}"']
                if dice.chance(8):
                    config["controller_node_rank"] = dice.choice(("0", "9", "null", "a"))
            if kind == "GimArm" and dice.chance(2):
                config["arm_variant"] = dice.choice(("gim_arm", "gim_arm_xl", "gim", "null"))
            if kind == "GimArm":
                config["can_interface"] = f"can{rank}{number}"
            if kind == "DOSW1":
                config["robot_url"] = f"host{rank}{number}"
            if dice.chance(12):
                config["node_rank"] = dice.choice(('"0"', "true", "1.0", "null", "99", "-1", "0"))
            if dice.chance(20):
                config[dice.choice(("robot_ips", "camera", "port"))] = "1"
            if dice.chance(30):
                config.pop("node_rank")
            configs.append(config)
    if dice.chance(20):
        configs.append(dice.choice((configs[0] if configs else {}, "0", {})))
    found: dict[str, Tree] = {"type": kind, "configs": configs or "[]"}
    if dice.chance(25):
        found["type"] = dice.choice(("franka", "Accelerator", "GPU", "null", "1", '""'))
    if dice.chance(30):
        found[dice.choice(("config", "model"))] = "[]"
    if dice.chance(30):
        found.pop(dice.choice(("type", "configs")))
    return found if not dice.chance(40) else dice.choice(("Franka", "[]", "null", "0", "{}"))


def node_groups(dice: Dice, size: int) -> tuple[Tree, list[str]]:
    """(the groups, their labels)."""
    if dice.chance(40):
        return dice.choice(("[]", "null", "{}", "a800", {"label": "a800", "node_ranks": "0"}, ["a800"], [[]], ["null"])), ["a800"]
    groups: list[Tree] = []
    labels = dice.sample(LABELS, dice.choice((1, 2, 2, 3)))
    start = 0
    for label in labels:
        stop = min(size, start + dice.randint(1, max(1, size // len(labels))))
        ranks = list(range(start, stop)) or [dice.randrange(size)]
        start = stop if stop < size else 0
        group: dict[str, Tree] = {
            "label": label if not dice.chance(25) else dice.choice(ODD_LABELS),
            "node_ranks": (f"{ranks[0]}-{ranks[-1]}" if len(ranks) > 1 else str(ranks[0])) if not dice.chance(12) else dice.ranks(size, 2),
        }
        if label in ("franka", "arms"):
            group["hardware"] = robots(dice, ranks)
        elif label == "cpu" or dice.chance(12):
            group["ignore_hardware"] = dice.choice(("true", "true", "false", "null", "0", "1", "'false'", "[]", "yes"))
        if dice.chance(3):
            group["env_configs"] = env_configs(dice, ranks, size)
        if dice.chance(30):
            group["hardware_type"] = dice.choice(("Franka", "Accelerator", "null", "node", "GPU"))
        if dice.chance(30):
            group["hardware"] = robots(dice, ranks)
        if dice.chance(30):
            group[dice.choice(TYPOS)] = dice.choice(("1", "null"))
        if dice.chance(40):
            group.pop(dice.choice(("label", "node_ranks")))
        groups.append(group)
    return groups, labels


def profiling(dice: Dice) -> Tree:
    """A profiling section."""
    found: dict[str, Tree] = {"backend": dice.choice(("nsight", "nsight", "rocprof_sys", "nsys", "null", '""', "Nsight"))}
    extras: dict[str, Sequence[Tree]] = {
        "enabled": ("true", "false", "null", "1"),
        "worker_groups": ("[ActorGroup]", "all", "null", "1", "{}", "[]", "[1]", "true"),
        "steps": ("[0, 1]", "[]", "null", "3", "[-1]", '["1"]', "[a]", "[1.5]", "[true]", '"1"', "[null]"),
        "output_dir": ("profiles", "null", "1"),
        "options": (
            "{t: cuda}",
            "{o: x, output: y}",
            "{stop-on-range-end: 1, capture-range-end: stop}",
            "null",
            "[]",
            "a",
            "{capture-range: null}",
        ),
        "flags": ("[x]", "x", "null", "[t]", "1", "{}", "[1]", "t"),
        "args": ("{a: 1}", "null", "[]", "x"),
        "env": ("{A: 1}", "null", "[]"),
        "rules": ("1",),
    }
    for key in dice.sample(list(extras), dice.choice((0, 1, 1, 2, 3))):
        found[key] = dice.choice(extras[key])
    if dice.chance(12):
        found.pop("backend")
    return found if not dice.chance(15) else dice.choice(("null", "[]", "nsight", "{}", "true"))
