"""Command lines of verl, changed at random: what real Hydra refuses is refused, and nothing else. Skipped where Hydra is not installed."""

from __future__ import annotations

import random
import shlex
import warnings
from pathlib import Path

import pytest
from placewright.cli.main import run
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.machines.shorthand import DeclaredNodes
from placewright.models.report import Report
from placewright.models.text.source import Source
from placewright.planner.verify import verify
from sampling import examples

hydra = pytest.importorskip("hydra", reason="hydra-core, the oracle, is not installed")
omegaconf = pytest.importorskip("omegaconf")

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl" / "yaml"
CONFIGURATIONS = CORPUS / "verl" / "trainer" / "config"
COMMIT, SEED = "b178a3cd", 27
KEYS = (
    "data.train_batch_size", "data.train_files", "trainer.logger", "trainer.n_gpus_per_node", "critic.enable", "algorithm.adv_estimator",
    "actor_rollout_ref.rollout.name", "actor_rollout_ref.rollout.log_prob_use_dynamic_bsz", "actor_rollout_ref.actor.strategy",
    "actor_rollout_ref.actor.optim.lr", "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", "ray_kwargs.ray_init.num_cpus",
)  # fmt: skip
VALUES = (
    "5", "0.5", "true", "null", "''", "'a,b'", "\"a=b\"", "'a", "[1,2]", "[a,[b,c]]", "[a,b", "{a:1,b:{c:2}}", "{a:1", "${data.seed}", "${no.x}", "${",
    "a b", "1,2", "choice(1,2)", "int(5)", "a:b", "~/x", "a=b", "a#b", "[", "x,", "a\\=b", "1_000", "é", "{}", "[${data.seed},1]", "x${data.seed}", "inf",
)  # fmt: skip
WHOLE = (
    "actor@actor_rollout_ref.actor=dp_actor", "actor@actor_rollout_ref.actor=nope", "critic=dp_critic", "critic=nope", "~critic", "~data@data",
    "~data=5", "data@data=legacy_data", "+critic@x.y=dp_critic", "data=5", "data={train_batch_size:5}", "data.seed.x=1", "+data.seed.x=1",
    "trainer.logger.0=x", "trainer.logger.7=x", "key", "=v", "data.=1", "data..x=1", "data.seed", "data.seed =4", "~data", "~nope", "+", "+a.b.c=1",
    "x@y=1", "+x@y=1", "data/x=1", "hydra.run.dir=/x", "hydra.nope=1", "+hydra.nope=1", "+1=2", "a-b=1", "++nope.deep=1", "+trainer.own={a:1}",
)  # fmt: skip


def mutant(dice: random.Random) -> str:
    key, value = dice.choice(KEYS), dice.choice(VALUES)
    place = dice.randrange(len(key))
    wrong = key[:place] + dice.choice("xyz_.") + key[place + dice.randrange(2) :]
    forms = (f"{wrong}={value}", f"+{key}={value}", f"+{wrong}={value}", f"++{dice.choice((key, wrong))}={value}", f"~{key}", f"~{key}={value}",
             f"~{wrong}", f"{key}={value}", dice.choice(WHOLE))  # fmt: skip
    return dice.choice(forms)


def is_refused_by_hydra(name: str, settings: list[str]) -> bool:
    from hydra.core.global_hydra import GlobalHydra

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with hydra.initialize_config_dir(config_dir=str(CONFIGURATIONS), version_base=None):
                hydra.compose(name, settings)
                return False
        except (hydra.errors.HydraException, omegaconf.errors.OmegaConfBaseException, ValueError):
            GlobalHydra.instance().clear()
            return True


def judged(name: str, settings: list[str], *roots: str) -> Report:
    text = f"python3 -m verl.trainer.main_ppo --config-name={name} {shlex.join(settings)}\n"
    composer = Composer(roots, frameworks=(f"verl=={COMMIT}",))
    return verify(read(Source("run.sh", text), DeclaredNodes(8), "auto", "training", composer))


def refuses(report: Report) -> bool:
    """True if the report says that Hydra refuses the command line, or that nobody can read it."""
    return report.verdict == "unusable" or any(finding.code == "PW012" for finding in report.errors)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")
def test_what_hydra_refuses_is_refused_and_nothing_else() -> None:
    dice, wrong, refused = random.Random(SEED), list[str](), 0
    for _ in range(examples(60)):
        name = dice.choice(("ppo_trainer", "ppo_megatron_trainer"))
        settings = ["trainer.nnodes=1", mutant(dice), "data.val_batch_size=null"]
        theirs = is_refused_by_hydra(name, settings)
        refused += theirs
        composed, by_data = judged(name, settings, str(CORPUS)), judged(name, settings)
        wrong += [f"{name} {settings[1]}: Hydra {'refuses' if theirs else 'accepts'}"] * (refuses(composed) is not theirs)
        wrong += [f"{name} {settings[1]}: accepted by Hydra, not by the release's data"] * (refuses(by_data) and not theirs)
        wrong += [f"{name} {settings[1]}: refused by Hydra, ok by the release's data"] * (theirs and by_data.verdict == "ok")
    assert wrong == []
    assert 10 < refused < examples(60) - 10


@pytest.mark.parametrize("model", ["Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen3-30B-A3B"])
def test_real_hydra_composes_what_plan_writes(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    words = ["--model", model, "--cluster", "4x8xH100", "--prompts", "512", "--response", "4096", "--framework", "verl", "-o", str(script)]
    assert run(["plan", *words]) == 0
    capsys.readouterr()
    _, _, command = script.read_text("utf-8").partition("python3 -m verl.trainer.main_ppo")
    words = [word for word in shlex.split(command.replace("\\\n", " ")) if word != "$@"]
    names = [word.removeprefix("--config-name=") for word in words if word.startswith("--config-name=")]
    settings = [f"{word.partition('=')[0]}=x" if "_files=" in word else word for word in words if not word.startswith("--")]
    assert len(settings) > 20
    assert not is_refused_by_hydra(names[0] if names else "ppo_trainer", settings)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")
@pytest.mark.parametrize("name", ["ppo_trainer", "ppo_megatron_trainer"])
@pytest.mark.parametrize(
    "setting",
    ["~critic", "~critic=null", "~critic=megatron_critic", "~critic=dp_critic", "~critic@critic=dp_critic", "~data=5", "~critic={a:1}"],
)
def test_an_entry_of_the_defaults_is_deleted_as_hydra_deletes_it(name: str, setting: str) -> None:
    theirs = is_refused_by_hydra(name, [setting])
    assert refuses(judged(name, [setting], str(CORPUS))) is theirs
    assert refuses(judged(name, [setting])) is theirs
