"""Which release keys show, and versions between the known ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewright.models.composition import Composer
from placewright.models.dialects.load import read
from placewright.models.releases.choice import ReleaseChoice
from placewright.models.releases.evidence import choose_by_masks, digest_of, find_installed, mask_of, of_version
from placewright.models.releases.release import Range, ReleaseTable, read_releases
from placewright.models.text.source import Source

FACTS = Path(__file__).parents[3] / "models" / "dialects" / "verl" / "facts" / "releases.json"
RANGES = {"old": Range("", "0.5.0"), "new": Range("0.8.0"), "middle": Range("0.5.0", "0.7.0"), "always": Range()}


@pytest.fixture
def table() -> ReleaseTable:
    return read_releases(FACTS)


def choose_by_names(table: ReleaseTable, *names: str) -> ReleaseChoice:
    return choose_by_masks(table, {name: mask_of(table, [RANGES[name]]) for name in names})


def test_without_what_excludes_the_newest_is_assumed(table: ReleaseTable) -> None:
    choice = choose_by_names(table, "always")
    assert (choice.release, choice.reason, len(choice.possible)) == (table.newest, "newest, assumed", len(table.releases))


def test_a_key_that_the_newest_lacks_excludes_it(table: ReleaseTable) -> None:
    choice = choose_by_names(table, "always", "middle")
    assert (choice.release.name, choice.reason) == ("0.6.1", "newest that has `middle`")
    assert [release.name for release in choice.possible] == ["0.5.0", "0.6.0", "0.6.1"]


def test_a_key_that_old_ones_lack_excludes_those(table: ReleaseTable) -> None:
    choice = choose_by_names(table, "new")
    assert choice.reason == "newest, assumed"
    assert choice.possible[0].name == "0.8.0"


def test_where_nothing_is_left_the_fewest_refusals_count(table: ReleaseTable) -> None:
    choice = choose_by_names(table, "new", "old", "always")
    assert choice.reason == "no release takes all keys; it refuses `old`"
    assert choice.release == table.newest
    assert table.find("0.6.0") not in choice.possible


@pytest.mark.parametrize(
    ("version", "name"),
    [("0.6.1", "0.6.1"), ("0.7.0.dev", "0.7.0"), ("0.6.5", "0.6.1"), ("0.3.0.post1", "0.3.0"), ("v0.9.0+cu12", "0.9.0"), ("1.0", "0.9.0")],
)
def test_a_version_between_two_is_the_older(table: ReleaseTable, version: str, name: str) -> None:
    release = of_version(table, version)
    assert release is not None
    assert release.name == name


def test_a_version_older_than_all_is_none(table: ReleaseTable) -> None:
    assert of_version(table, "0.1") is None


@pytest.mark.parametrize("code", ["", "changed = True"])
def test_the_installed_package_is_found_without_importing_it(
    table: ReleaseTable, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "verl-0.6.1.dist-info").mkdir()
    (tmp_path / "verl" / "trainer").mkdir(parents=True)
    (tmp_path / table.code[0]).write_text(code, "utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    choice = find_installed(table)
    assert choice is not None
    assert (choice.release.name, choice.reason) == ("0.6.1", "installed package")
    doubt = f"an error in verl 0.6.1, but the installed package has another `{table.code[0]}`"
    assert choice.doubt == (doubt if code else "")


def test_ends_of_lines_are_no_other_code(tmp_path: Path) -> None:
    for name, text in (("unix.py", b"a = 1\nb = 2\n"), ("windows.py", b"a = 1\r\nb = 2\r\n"), ("other.py", b"a = 1\nb = 3\n")):
        (tmp_path / name).write_bytes(text)
    unix, windows, other = (digest_of(str(tmp_path), f"{name}.py") for name in ("unix", "windows", "other"))
    assert unix == windows != other


@pytest.mark.parametrize("framework", ["rlinf", "roll"])
def test_code_that_lists_the_words_of_a_demand_is_compared(framework: str) -> None:
    """Owners add environments, schedules, templates and variants in these files alone."""
    code = read_releases(FACTS.parents[2] / framework / "facts" / "releases.json").code
    named = {"rlinf": ("rlinf/envs/__init__.py", "rlinf/utils/metric_logger.py"), "roll": ("roll/datasets/chat_template.py",)}
    assert set(named[framework]) <= set(code)


@pytest.mark.parametrize(("asked", "close"), [("1.2.3", "0.9.0"), ("0.9.5", "0.9.0"), ("0.2.0", "0.3.0"), ("0.6.7", "0.6.1")])
def test_an_unknown_release_is_answered_with_the_nearest(asked: str, close: str) -> None:
    source = Source("run.sh", "python3 -m verl.trainer.main_ppo trainer.nnodes=1")
    (finding,) = read(source, composer=Composer(frameworks=(f"verl=={asked}",))).findings
    assert finding.code == "PW015" and finding.help.startswith(f"write `verl=={close}`")
