"""Every script of verl with the configuration that its program begins with: the same tree as Hydra's, and refused where Hydra refuses.

Runs where the environment variable PLACEWRIGHT_VERL names a checkout of verl with its recipes, with hydra.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

import pytest
from placewright.models.composition import Composer
from placewright.models.findings.finding import Severity, UnusableInput
from placewright.models.script.document import documents_of, read_script
from placewright.models.script.launch import launch_of
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.models.text.tree import UNRESOLVED, ListNode, MapNode, Scalar, Value, plain

CHECKOUT = os.environ.get("PLACEWRIGHT_VERL", "")
pytestmark = pytest.mark.skipif(not CHECKOUT, reason="PLACEWRIGHT_VERL names no checkout of verl")

PASSED_ON = "a blank after a backslash is an argument that Hydra's command line refuses; it is not passed on here"
DIFFERENT = {"examples/ppo_trainer/run_deepseek7b_llm_pfppo.sh": PASSED_ON}
OPEN = "not-known"


def scripts() -> Iterator[str]:
    for folder in ("examples", "recipe", "tests", "verl"):
        for here, _, files in os.walk(folder, followlinks=True):
            yield from (os.path.join(here, name) for name in sorted(files) if name.endswith((".sh", ".slurm")))


def leaves(value: Value, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value by its path; OPEN where it is not known, or holds what is not."""
    if isinstance(value, MapNode) and value.entries:
        for entry in value:
            yield from leaves(entry.value, (*path, entry.key.text))
    elif isinstance(value, Scalar):
        yield path, OPEN if value.tag == UNRESOLVED else value.value
    else:
        open_ = isinstance(value, ListNode) and any(isinstance(each, Scalar) and each.tag == UNRESOLVED for each in value.items)
        yield path, OPEN if open_ else plain(value)


def leaves_of_hydra(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves_of_hydra(inner, (*path, str(key)))
    else:
        yield path, value


def overrides(file: str, document: Document) -> list[str]:
    """What its program is given; a value that is not known is some text."""
    script = read_script(Source.read(file))
    (launch,) = [
        each
        for started in script.started
        if (each := launch_of(started)) and document.program and each.program.plain == document.program.name
    ]
    given = [word for word in launch.arguments if "=" in word.plain and not word.plain.startswith("-")]
    known = [word.known and not word.unset and "<" not in word.plain for word in given]
    return [word.plain if sure else f"{word.plain.partition('=')[0]}={OPEN}" for word, sure in zip(given, known)]


def composed(file: str, document: Document) -> dict[tuple[str, ...], Any] | None:
    """The tree that Hydra makes; None where it refuses."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    main = Path(document.root.span.file)
    try:
        with initialize_config_dir(os.path.abspath(main.parent), version_base=None):
            return dict(leaves_of_hydra(OmegaConf.to_container(compose(main.name, overrides(file, document)), resolve=False)))
    except (HydraException, OmegaConfBaseException):
        return None


@pytest.mark.timeout(600)
def test_every_tree_is_the_one_that_hydra_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hydra")
    monkeypatch.chdir(CHECKOUT)
    equal, refused, wrong = 0, list[str](), list[str]()
    for file in scripts():
        try:
            documents = documents_of(Source.read(file), Composer((".",)))
        except UnusableInput:
            continue
        document = documents[0]
        if len(documents) > 1 or document.partial or document.program is None or not document.program.found:
            continue
        theirs = composed(file, document)
        ours = None if any(each.severity is Severity.ERROR for each in document.findings) else dict(leaves(document.root))
        if theirs is None and ours is None:
            refused.append(file)
        elif ours is None or theirs is None:
            wrong += [file] * (file not in DIFFERENT)
        else:
            differing = [key for key in ours.keys() | theirs.keys() if ours.get(key) != OPEN and ours.get(key) != theirs.get(key)]
            wrong += [f"{file}: {differing[:4]}"] * bool(differing)
            equal += not differing
    print(f"trees: {equal} equal, {len(refused)} refused by both, {len(DIFFERENT)} deliberate, {len(wrong)} wrong")
    assert not wrong
    assert equal > 240
    assert len(refused) == 7
