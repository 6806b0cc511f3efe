"""What is installed is the package alone, and nobody's own `models/` or `solver/` gets in its way."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOMS = ("cli", "models", "planner", "report", "runtime", "solver", "tools")


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the checkout."""
    if int(version("setuptools").split(".")[0]) < 77:
        pytest.skip("building needs setuptools 77 or later, as pyproject.toml says")
    folder = tmp_path_factory.mktemp("build")
    copy = folder / "checkout"
    skipped = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "node_modules")
    shutil.copytree(root, copy, ignore=skipped)
    code = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / done.stdout.splitlines()[-1]


def test_the_wheel_holds_every_module_and_page_and_nothing_else(root: Path, wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    wanted = {f"placewright/{file.relative_to(root).as_posix()}" for room in ROOMS for file in (root / room).rglob("*.py")}
    wanted |= {f"placewright/{file.name}" for file in root.glob("*.py") if file.name != "setup.py"} | {"placewright/py.typed"}
    wanted |= {f"placewright/report/pages/{file.name}" for file in (root / "report" / "pages").iterdir()}
    wanted |= {f"placewright/report/picture/{file}" for file in ("page.html", "page.js")}
    facts = (root / "models").glob("**/facts/*")
    wanted |= {f"placewright/{file.relative_to(root).as_posix()}" for file in facts}
    assert sorted(names) == sorted(wanted)


def test_the_wheel_carries_the_licence_and_no_address_of_an_index(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert any(name.endswith("/LICENSE") for name in names)
    metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert "License-Expression: Apache-2.0" in metadata
    entry_points = archive.read(next(name for name in names if name.endswith("/entry_points.txt"))).decode()
    assert "placewright = placewright.cli.entry:main" in entry_points


def test_a_decoy_beside_a_script_does_not_shadow_ours(wheel: Path, tmp_path: Path) -> None:
    """A trainer has its own `models` and `solver`; both sides must get what they mean."""
    site, trainer = tmp_path / "site", tmp_path / "trainer"
    zipfile.ZipFile(wheel).extractall(site)
    for room in ROOMS:
        (trainer / room).mkdir(parents=True)
        (trainer / room / "__init__.py").write_text("MINE = True\n")
    (trainer / "train.py").write_text(
        "import sys\n"
        f"sys.path.insert(1, {str(site)!r})\n"
        "import cli, models, report, runtime, solver\n"
        "assert all(module.MINE for module in (cli, models, report, runtime, solver))\n"
        "import placewright\n"
        "from placewright.models.machines.cluster import Cluster\n"
        "from placewright.cli.main import run\n"
        f"assert placewright.__file__.startswith({str(site)!r}), placewright.__file__\n"
        "assert run(['verify', 'job.yaml', '--cluster', '1x2']) == 0\n"
    )
    (trainer / "job.yaml").write_text("cluster: {num_nodes: 1, component_placement: {actor: 0-1}}\n")
    done = subprocess.run([sys.executable, "train.py"], cwd=trainer, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_constraints_are_pins_without_addresses(root: Path) -> None:
    for line in (root / "constraints.txt").read_text().splitlines():
        assert line.startswith("#") or ("==" in line and "/" not in line and "@" not in line), line
