"""The inputs of the oracle, part by part: texts of files with the options of the command line, or cases of benchmarks."""

from __future__ import annotations

import argparse
import hashlib
import random
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

from placewright.models.planning.problem import PlanningProblem

from .generator import native_file

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "tests" / "corpus")]

Ask = dict[str, Any]
"""JSON data of one input: `seed` and `sum` of a random file; `files` with `file`, `cluster` and other options; or a `case`."""

RANDOM_FILES, FRAMEWORK_FILES = 2000, 60
_TIMED = re.compile(r"seconds\b|profile_data")
_OF_VALUE = (
    "cluster", "dialect", "level", "model-config", "previous", "output", "progress", "format", "limit", "seed", "why", "top",
    "nodes", "drop", "change", "to",
)  # fmt: skip
_OF_VALUES = {"set": "set", "config-root": "roots", "allow-env": "allow_env", "framework": "framework", "lose": "lose"}
_VERBS = ("solve", "whatif", "verify", "explain")


def files_of(ask: Ask) -> Mapping[str, str]:
    """Names and texts of the files of an input. Raises ValueError where the generator no longer makes the file of a seed."""
    if "seed" not in ask:
        files: Mapping[str, str] = ask["files"]
        return files
    text = native_file(ask["seed"])
    if checksum(text) != ask["sum"]:
        raise ValueError(f"the generator makes another file of seed {ask['seed']} than was recorded")
    return {"job.yaml": text}


def checksum(text: str) -> str:
    """Eight hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# -- random native files


def random_files() -> Iterator[tuple[str, Ask]]:
    """Native files of seeds."""
    for seed in range(RANDOM_FILES):
        yield str(seed), {"seed": seed, "sum": checksum(native_file(seed))}


# -- scenarios and pages


def scenarios() -> Iterator[tuple[str, Ask]]:
    """Every file that a scenario with times asks about, with each set of options once."""
    from tests.scenarios.scenario import Scenario

    folder = ROOT / "tests" / "scenarios"
    for path in sorted(folder.rglob("*.scenario")):
        text = path.read_text("utf-8")
        if not _TIMED.search(text) or " times " in re.sub(r"(?m)^(?!=== file).*$", "", text):
            continue
        scenario = Scenario.parse(text)
        files = {section.rest.split(" ")[0]: section.body for section in scenario.sections if section.word == "file"}
        commands = [section.rest for section in scenario.sections if section.word == "run"]
        environment = {"env": dict(scenario.environment)} if scenario.environment else {}
        for number, ask in enumerate(_asks(commands, files)):
            yield f"{path.relative_to(folder).with_suffix('')} {number}", {**ask, **environment}


def pages() -> Iterator[tuple[str, Ask]]:
    """Every example with times as it is, and as the commands of README.md and docs/ ask about it."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("*")) if path.is_file()
    }
    timed = {name: text for name, text in texts.items() if _TIMED.search(text) and name.endswith((".yaml", ".sh"))}
    commands = [f"solve {name}" for name in timed]
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        found = re.findall(r"(?m)^\$ placewright (.*)$", page.read_text("utf-8"))
        commands += [command for command in found if any(name in command.split() for name in timed)]
    for number, ask in enumerate(_asks(commands, texts)):
        names = {ask["file"], ask.get("cluster"), ask.get("model_config")}
        yield f"{ask['file']} {number}", {**ask, "files": {name: texts[name] for name in sorted(names & texts.keys())}}


def _asks(commands: list[str], files: Mapping[str, str]) -> Iterator[Ask]:
    """Each question of command lines once: of `whatif` and `--previous` those that it asks one after the other."""
    from .answered import plan_text

    seen: list[Ask] = []
    plans: dict[str, Ask] = {}
    for command in commands:
        verb, *rest = shlex.split(command)
        if verb not in _VERBS:
            continue
        options, names = _parsed(rest)
        for name in (name for name in names if name in files and _TIMED.search("\n".join(files.values()))):
            ask: Ask = {"files": files, "file": name, **options}
            if (output := ask.pop("output", None)) is not None:
                plans[output] = ask
            if (previous := ask.get("previous")) in plans:
                ask["files"] = {**files, previous: plan_text(plans[previous])}
            lost = ask.pop("lose", [])
            asks = [{**ask, "lose": each} for each in lost]
            if verb == "whatif" or not lost:
                asks.insert(0, ask)
            for each in asks:
                if each not in seen:
                    seen.append(each)
                    yield each


def _parsed(words: list[str]) -> tuple[Ask, list[str]]:
    """Options of `load` and `solve` on a command line, and names of files."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("names", nargs="*")
    for name in _OF_VALUE:
        parser.add_argument(f"--{name}", *(["-o"] if name == "output" else []))
    for name, key in _OF_VALUES.items():
        parser.add_argument(f"--{name}", dest=key, action="append")
    for flag in ("write", "trade", "placements", "force", "strict"):
        parser.add_argument(f"--{flag}", action="store_true")
    found = vars(parser.parse_intermixed_args(words))
    keys = ("cluster", "dialect", "level", "model_config", "previous", "output", *_OF_VALUES.values())
    options = {key: found[key] for key in keys if found[key] is not None}
    if "lose" in options:
        options["lose"] = [text.split(",") for text in options["lose"]]
    return options, found["names"]


# -- cases of benchmarks, and what RLinf's own tool was asked


def cases() -> Iterator[tuple[str, Ask]]:
    """The jobs of benchmarks/auto_rlinf.py and benchmarks/auto_hybrid.py."""
    for study, every in (("rlinf", _rlinf_cases()), ("hybrid", _hybrid_cases())):
        for number in range(len(every)):
            yield f"{study} {number}", {"case": [study, number]}


def records() -> Iterator[tuple[str, Ask]]:
    """Records of RLinf's placement tool, as questions and, where it knows all components, as files."""
    import rlinf_records

    folder = next(each for parent in ROOT.parents if (each := parent / "shared/corpus/rlinf/golden").is_dir())
    rlinf_records.GOLDEN = folder
    rlinf_records.ALL.update(rlinf_records.records("auto_placement.jsonl.gz"))
    rlinf_records.EXACT.update(rlinf_records.records("auto_placement_exact.jsonl.gz"))
    import test_rlinf_optima
    import test_rlinf_plans

    for name, record in rlinf_records.ALL.items():
        yield f"question {name}", {"case": ["record", name], "record": {"input": record["input"]}}
        total = record["input"]["total_gpus"]
        if record["output"]["ok"] and not record["input"].get("extended") and total <= 256:
            nodes = test_rlinf_plans.nodes(total)
            ask = {"files": {"run.yaml": test_rlinf_plans.text(record)}, "file": "run.yaml", "dialect": "rlinf"}
            yield f"file {name}", {**ask, "cluster": f"{nodes}x{total // nodes}", "level": "placement"}
    for name, every in test_rlinf_optima.OF_EXACT.items():
        for number, record in enumerate(every):
            yield f"optimum {name} {number}", {"case": ["record", name], "record": record}


def case_of(ask: Ask) -> tuple[PlanningProblem, str]:
    """The question and the cost model of a case; the one place that builds questions as benchmarks do."""
    study, number = ask["case"]
    if study == "record":
        import rlinf_records

        return rlinf_records.question(ask["record"]), "rlinf-embodied" if rlinf_records.is_embodied(ask["record"]) else "rlinf"
    if study == "rlinf":
        from auto.ours import question as of_rlinf

        case = _rlinf_cases()[number]
        return of_rlinf(case), "rlinf-embodied" if case.task == "embodied" else "rlinf"
    from hybrid.models import question as of_hybrid

    its = _hybrid_cases()[number]
    return of_hybrid(its.models, its.accelerators, its.unit, its.seed), "stages"


@cache
def _rlinf_cases() -> tuple[Any, ...]:
    from auto.cases import cases as every

    return tuple(every(True))


@cache
def _hybrid_cases() -> tuple[Any, ...]:
    from auto_hybrid import cases as every

    return tuple(every(True))


# -- random files of frameworks


def framework_files() -> Iterator[tuple[str, Ask]]:
    """Random files of RLinf, verl and ROLL with times, by the generators of tests/corpus."""
    import test_planned_twice as twice
    import test_roll_planned as roll
    import test_verl_planned as verl
    from against_roll import configurations as roll_dice
    from against_verl import configurations as verl_dice

    from tests import test_rlinf_profiles as estimates

    for make in (twice.rlinf, twice.verl):
        chance = random.Random(f"oracle {make.__name__}")
        for number in range(2 * FRAMEWORK_FILES):
            nodes, each = chance.choice(twice.CLUSTERS)
            yield f"twice {make.__name__} {number}", _file("train.yaml", make(chance, nodes, each), make.__name__, f"{nodes}x{each}xH100")
    for of_task in (estimates.a_reasoning_file, estimates.an_embodied_file):
        for seed in range(FRAMEWORK_FILES):
            source = random.Random(seed)
            machines = source.choice(estimates.MACHINES)
            ask = _file("run.yaml", of_task(source, machines), "rlinf", machines)
            yield f"{of_task.__name__} {seed}", {**ask, "level": "placement"}
    dice = verl_dice.Dice(verl.SEED)
    for number in range(FRAMEWORK_FILES):
        command = dice.question(verl.PROGRAMS[number % len(verl.PROGRAMS)])
        machines = "+".join(f"1x{count}" for count in command.nodes[:4])
        ask = _file("run.sh", verl.build_times(command, dice), "verl", machines)
        yield f"verl {number}", {**ask, "framework": ["verl==b178a3cd"]}
    chance = random.Random(roll.SEED)
    for number, job in enumerate(roll_dice.Dice(roll.SEED).questions(FRAMEWORK_FILES, *roll.PIPELINES)):
        yield f"roll {number}", _file("train.yaml", roll.build_times(job.written, chance), "roll", chance.choice(["1x8", "2x8", "4x8"]))


def _file(name: str, text: str, dialect: str, cluster: str) -> Ask:
    return {"files": {name: text}, "file": name, "dialect": dialect, "cluster": cluster}


PARTS: Mapping[str, Callable[[], Iterator[tuple[str, Ask]]]] = {
    "scenarios": scenarios, "pages": pages, "cases": cases, "records": records, "frameworks": framework_files, "random": random_files,
}  # fmt: skip
