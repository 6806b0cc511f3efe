"""verl's configurations as data: the same as its own, composed by real Hydra at every release and by us at one.

The first runs where the environment variable PLACEWRIGHT_VERL_RELEASES names a folder with a checkout for each release, with hydra.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

import pytest
from placewright.models.dialects import verl
from placewright.models.releases.configurations import Configurations
from placewright.models.releases.release import UNSTORED_VALUE, Releases, read_releases, same
from placewright.tools.flattened import configurations, is_unsaid

CHECKOUTS = os.environ.get("PLACEWRIGHT_VERL_RELEASES", "")
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "verl" / "yaml"
TABLE = read_releases(verl.RELEASES)
NAMES = [release.name for release in TABLE]
CHOICES = ("", "model_engine=megatron", "model_engine=veomni", "engine=megatron", "optim=megatron", "critic=critic")
COMPARED = (
    "ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine", "generation", "ppo_trainer_split", "one_step_off_ppo_trainer",
    "fully_async_ppo_megatron_trainer", "gsm8k_multiturn_grpo", "prime_trainer",
)  # fmt: skip
CHOOSING = ("ppo_trainer", "ppo_megatron_trainer", "sft_trainer", "sft_trainer_engine", "fully_async_ppo_megatron_trainer")


@pytest.fixture
def known() -> Configurations:
    return Configurations(verl.RELEASES.parent, Releases(NAMES))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}".lstrip("."))
    else:
        unsaid = isinstance(value, list) or (isinstance(value, str) and is_unsaid(value))
        yield path, UNSTORED_VALUE if unsaid else value


def of_hydra(checkout: Path, path: str, choice: str) -> dict[str, Any] | None:
    """The tree that Hydra makes; None where it refuses."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf

    file = checkout / path
    try:
        with initialize_config_dir(str(file.parent), version_base=None):
            given = [choice] if choice else []
            return dict(leaves(OmegaConf.to_container(compose(file.stem, given), resolve=False)))
    except HydraException:
        return None


def differing(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    return [key for key in ours.keys() | theirs.keys() if key not in ours or key not in theirs or not same(ours[key], theirs[key])]


@pytest.mark.skipif(not CHECKOUTS, reason="PLACEWRIGHT_VERL_RELEASES names no folder of checkouts")
@pytest.mark.parametrize("release", NAMES)
def test_the_data_are_what_hydra_composes(release: str, known: Configurations, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hydra")
    checkout, index, compared = Path(CHECKOUTS) / release, NAMES.index(release), 0
    monkeypatch.chdir(checkout)
    monkeypatch.syspath_prepend(str(checkout))
    for name in COMPARED:
        for choice in CHOICES:
            group, _, option = choice.partition("=")
            if choice and name not in CHOOSING:
                continue
            if not known.releases.has(known.index[name]["releases"], index) or (
                choice and not known.groups(name).get(group, 0) >> index & 1
            ):
                continue
            path = known.path(name, index)
            theirs = of_hydra(checkout, path, choice) if (checkout / path).is_file() else None
            composed = known.compose(name, index, {group: option} if choice else {})
            if composed is None or composed.open or theirs is None:
                continue
            assert differing(composed.keys, theirs) == [], f"{name} {choice}"
            compared += 1
    print(f"{release}: {compared} compared")
    assert compared >= 4


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the repository")
def test_the_data_of_one_release_are_what_its_files_say(known: Configurations) -> None:
    index = NAMES.index("b178a3cd")
    patterns = ("verl/trainer/config/*.yaml", "verl/experimental/*/config/*.yaml", "examples/*/config/*.yaml")
    found = configurations(patterns, (str(CORPUS),), ("ppo_trainer",))
    for name, flat in found.items():
        composed = known.compose(name, index)
        assert composed is not None
        assert differing(composed.keys, flat.keys) == [], name
        for choice, other in flat.options.items():
            group, _, option = choice.partition("=")
            chosen = known.compose(name, index, {group: option})
            assert chosen is not None
            assert differing(chosen.keys, other.keys) == [], (name, choice)
    assert len(found) > 12
