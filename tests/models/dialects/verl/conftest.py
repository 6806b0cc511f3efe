"""Short ways to read verl text in these tests."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.models.dialects import verl
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.reading import Reading
from placewright.models.releases.choice import state_release
from placewright.models.releases.release import read_releases
from placewright.models.text.document import Document, Program
from placewright.models.text.source import Source

Read = Callable[..., Reading]
Codes = Callable[..., list[str]]
RELEASE = "b178a3cd"
"""The release that settings are judged for where none is named."""
ENGINES = ("actor_rollout_ref.rollout.name=vllm", "reward_model.rollout.name=vllm")
"""What verl demands to be named."""


@pytest.fixture
def read() -> Read:
    """Read settings, `key=value` with spaces between; `program` is what they are given to, `options` what its launcher is told."""

    def reading(
        settings: str,
        machines: str = "",
        program: str = "verl.trainer.main_ppo",
        config_name: str = "",
        release: str = RELEASE,
        level: str = "placement",
        **options: str,
    ) -> Reading:
        lines = [f"{key}: {value}" for key, _, value in (word.partition("=") for word in (*ENGINES, *settings.split()))]
        source = Source("train.yaml", _nested(lines) or "{}\n")
        given = tuple((f"--{key}", value) for key, value in options.items())
        started = Program(program, source.whole(), "", "", config_name, given) if program else None
        table = read_releases(verl.RELEASES)
        named = table.find(release)
        assert named is not None
        document = Document(source, source.root, program=started, release=state_release(table, named))
        return verl.read(document, read_shorthand(machines) if machines else None, level)

    return reading


def _nested(lines: list[str]) -> str:
    """Dotted keys as maps in maps."""
    tree: dict[str, object] = {}
    for line in lines:
        key, _, value = line.partition(": ")
        owner = tree
        *path, last = key.split(".")
        for name in path:
            owner = owner.setdefault(name, {})  # type: ignore[assignment]
        owner[last] = value
    return _text(tree, 0)


def _text(tree: dict[str, object], depth: int) -> str:
    pad = "  " * depth
    return "".join(
        f"{pad}{key}:\n{_text(value, depth + 1)}" if isinstance(value, dict) else f"{pad}{key}: {value}\n" for key, value in tree.items()
    )


@pytest.fixture
def codes(read: Read) -> Codes:
    """The codes of what reading found; arguments as for `read`."""
    return lambda *arguments, **more: [finding.code for finding in read(*arguments, **more).findings]
