"""Texts are looked for where Hydra looks, and read nowhere outside of the folders that are allowed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable

import pytest
from placewright.models.composition import Composer
from placewright.models.text.document import Document
from placewright.models.text.source import Source
from placewright.models.text.tree import find, plain

Compose = Callable[..., Document]

SECRET = "found: outside\n"


def test_a_group_is_found_in_a_given_root_when_the_folder_of_the_file_has_none(compose: Compose) -> None:
    texts = {
        "job/main.yaml": "defaults: [env/a, env/b]\n",
        "job/env/a.yaml": "x: own\n",
        "conf/env/a.yaml": "x: root\n",
        "conf/env/b.yaml": "y: 1\n",
    }
    document = compose(texts, "job/main.yaml", roots=("conf",))
    assert plain(document.root) == {"env": {"x": "own", "y": 1}}
    assert set(document.included) == {"job/env/a.yaml", "conf/env/b.yaml"}


def test_a_group_that_is_nowhere_is_unchecked_with_where_it_was_looked_for(compose: Compose) -> None:
    document = compose({"job/main.yaml": "defaults: [env/a@env.train]\nx: 1\n", "conf/other.yaml": "{}"}, "job/main.yaml", roots=("conf",))
    assert (document.partial, document.findings) == (True, ())
    assert [(each.rule, each.subject, each.why) for each in document.unchecked] == [
        ("PW013", "env/a", "it is not in `job`, `conf`; `--config-root DIR` names another folder")
    ]


def test_what_stands_before_a_group_that_is_nowhere_is_unknown(compose: Compose) -> None:
    from placewright.models.text.tree import UNRESOLVED, Scalar, find

    document = compose({"main.yaml": "defaults: [part, nowhere, _self_]\nb: 2\n", "part.yaml": "a: 1\nb: 1\nc: [1]\n"})
    tags = {key: value.tag for key in "abc" if isinstance(value := find(document.root, key), Scalar)}
    assert (tags["a"], tags["b"], tags["c"]) == (UNRESOLVED, "tag:yaml.org,2002:int", UNRESOLVED)


@pytest.mark.parametrize("path", ["file://conf", "conf", "file://${oc.env:CONF}/", "${oc.env:HERE}/conf"])
def test_a_folder_of_the_search_path_is_read_if_it_lies_inside_a_root(
    compose: Compose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("CONF", str(tmp_path / "conf"))
    monkeypatch.setenv("HERE", str(tmp_path))
    texts = {"job/main.yaml": f"hydra: {{searchpath: ['{path}']}}\ndefaults: [env/a]\n", "conf/env/a.yaml": "x: 1\n"}
    assert plain(compose(texts, "job/main.yaml", roots=(".",), allowed=("CONF", "HERE")).root) == {"env": {"x": 1}}
    outside = compose(texts, "job/main.yaml", allowed=("CONF", "HERE"))
    assert outside.partial
    assert "is outside of what may be read" in outside.unchecked[0].why


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (
            "file://${oc.env:EMBODIED_PATH}/config/",
            "`file://${oc.env:EMBODIED_PATH}/config/` depends on the environment variable `EMBODIED_PATH`, which is not read",
        ),
        ("conf://rlinf.config", "`conf://rlinf.config` is not a folder"),
        ("${a.b}", "`${a.b}` cannot be resolved here"),
    ],
)
def test_a_folder_that_is_not_known_is_said(compose: Compose, monkeypatch: pytest.MonkeyPatch, path: str, why: str) -> None:
    monkeypatch.setenv("EMBODIED_PATH", "/nowhere")  # set, but not allowed
    document = compose({"main.yaml": f"hydra: {{searchpath: ['{path}']}}\ndefaults: [env/a, optional env/b]\n"})
    assert document.unchecked[0].why == f"it is not in `.`; {why}; `--config-root DIR` names another folder"
    assert document.partial


@pytest.mark.parametrize(("folder", "is_found"), [("evaluations/libero", True), ("examples/sft/config", False)])
@pytest.mark.parametrize("path", ["${oc.env:EMBODIED_PATH}/config/", "${oc.env:REPO_PATH}/examples/embodiment/config"])
def test_variables_of_launchers_are_folders_of_the_repository(
    compose: Compose, tmp_path: Path, path: str, folder: str, is_found: bool
) -> None:
    """As run_eval.sh of RLinf's evaluations; run_vla_sft.sh of its examples sets EMBODIED_PATH to its own folder."""
    main = f"{folder}/main.yaml"
    texts = {
        main: f"hydra: {{searchpath: ['file://{path}']}}\ndefaults: [env/a]\n",
        "examples/embodiment/config/env/a.yaml": "x: 1\n",
        "rlinf/__init__.py": "",
    }
    assert compose(texts, main).partial == (not is_found and "EMBODIED" in path)


@pytest.mark.parametrize("name", ["../outside", "env/../../outside", "//etc/passwd", "/../outside", '"a\\0b"', "../job/../outside"])
def test_nothing_outside_is_read(compose: Compose, name: str) -> None:
    document = compose({"outside.yaml": SECRET, "job/main.yaml": f"defaults: [{name}]\nx: 1\n"}, "job/main.yaml")
    (finding,) = document.findings
    assert (finding.code, finding.severity.value) == ("PW122", "warning")
    assert finding.span is not None
    assert (finding.span.file, finding.span.line) == ("job/main.yaml", 1)
    assert document.partial
    assert plain(document.root)["x"] == 1  # type: ignore[index]
    assert "outside.yaml" not in str(document.included)


def test_a_name_that_leads_up_is_read_inside_a_root_and_the_help_says_which(compose: Compose) -> None:
    texts = {"conf/math/main.yaml": "defaults: [../engine/fsdp@actor]\n", "conf/engine/fsdp.yaml": "x: 1\n"}
    (finding,) = compose(texts, "conf/math/main.yaml").findings
    assert finding.help == "allow its folder: `--config-root conf`"
    document = compose(texts, "conf/math/main.yaml", roots=("conf",))
    assert plain(document.root) == {"actor": {"x": 1}}
    assert document.findings == ()


@pytest.mark.parametrize(("mark", "home", "is_read"), [("work/.git", "home", True), (".git", "home", True), ("setup.py", ".", False)])
def test_a_repository_is_read_unless_it_is_the_home_of_the_user(
    compose: Compose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, home: str, is_read: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / home))
    document = compose(
        {mark: "", "work/outside.yaml": SECRET, "work/job/main.yaml": "defaults: [../outside@_here_]\n"}, "work/job/main.yaml"
    )
    assert (plain(document.root) == {"found": "outside"}) is is_read and document.partial is not is_read


def test_a_link_that_leads_out_of_the_repository_is_not_followed(compose: Compose, tmp_path: Path) -> None:
    (tmp_path / "work" / "job").mkdir(parents=True)
    os.symlink(tmp_path / "outside.yaml", tmp_path / "work" / "link.yaml")
    texts = {"work/.git": "", "outside.yaml": SECRET, "work/job/main.yaml": "defaults: [../link@_here_, ../../outside@_here_]\n"}
    document = compose(texts, "work/job/main.yaml")
    assert plain(document.root) == {} and [finding.code for finding in document.findings] == ["PW122", "PW122"]


@pytest.mark.parametrize("kind", ["file", "folder", "chain"])
def test_a_link_that_leads_out_is_not_followed(compose: Compose, tmp_path: Path, kind: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.yaml").write_text(SECRET)
    (tmp_path / "job").mkdir()
    if kind == "folder":
        os.symlink(tmp_path / "out", tmp_path / "job" / "env")
    else:
        (tmp_path / "job" / "env").mkdir()
        target = tmp_path / "out" / "x.yaml"
        if kind == "chain":
            os.symlink(target, tmp_path / "job" / "env" / "between")
            target = tmp_path / "job" / "env" / "between"
        os.symlink(target, tmp_path / "job" / "env" / "x.yaml")
    document = compose({"job/main.yaml": "defaults: [env/x]\n"}, "job/main.yaml")
    assert [finding.code for finding in document.findings] == ["PW122"]
    assert "is a link that leads out of it" in document.findings[0].message
    assert plain(document.root) == {}
    allowed = compose({}, "job/main.yaml", roots=("out",))
    assert plain(allowed.root) == {"env": {"found": "outside"}}


def test_a_link_in_a_circle_is_not_there(compose: Compose, tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    os.symlink(tmp_path / "env" / "x.yaml", tmp_path / "env" / "x.yaml")
    assert compose({"main.yaml": "defaults: [env/x]\n"}).partial


def test_only_the_first_file_says_where_to_search(compose: Compose) -> None:
    document = compose({"main.yaml": "defaults: [part]\n", "part.yaml": "hydra: {searchpath: [conf]}\n"})
    assert [finding.message for finding in document.findings] == [
        "`hydra.searchpath` is in `part.yaml`, but Hydra takes it from the first file alone"
    ]


@pytest.mark.timeout(30)
def test_a_configuration_that_grows_without_end_is_given_up(compose: Compose) -> None:
    texts = {"main.yaml": "defaults: [p0@a, p0@b]\n"}
    texts.update({f"p{i}.yaml": f"defaults: [p{i + 1}@a, p{i + 1}@b]\n" for i in range(40)})
    document = compose({**texts, "p40.yaml": "x: 1\n"})
    assert {finding.code for finding in document.findings} == {"PW002"}
    many = compose(
        {"main.yaml": "defaults: [" + ", ".join(f"m{i}" for i in range(300)) + "]\n", **{f"m{i}.yaml": "x: 1\n" for i in range(300)}}
    )
    assert [finding.code for finding in many.findings][:1] == ["PW002"]


def test_the_folder_of_a_module_is_found_below_a_root(tmp_path: Path) -> None:
    (tmp_path / "rlinf" / "config" / "env").mkdir(parents=True)
    (tmp_path / "rlinf" / "config" / "env" / "a.yaml").write_text("size: 3\n")
    main = tmp_path / "own" / "main.yaml"
    main.parent.mkdir()
    main.write_text("hydra: {searchpath: ['pkg://rlinf.config']}\ndefaults: [env/a, _self_]\n")
    document = Composer((str(tmp_path),)).compose(Source.read(main))
    assert not document.unchecked
    assert find(document.root, "env.size") is not None


@pytest.mark.parametrize("path", ["verl/trainer/config", "../../verl/trainer/config"])
@pytest.mark.parametrize("folder", [".", "repository", "repository/examples/chat", "repository/examples/chat/config", "elsewhere"])
def test_a_relative_folder_is_the_repository_s_wherever_the_command_runs(
    compose: Compose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, folder: str
) -> None:
    main = "repository/examples/chat/config/main.yaml"
    texts = {
        main: f"hydra: {{searchpath: ['file://{path}']}}\ndefaults: [base]\n",
        "repository/setup.py": "",
        "repository/verl/trainer/config/base.yaml": "x: 1\n",
        "elsewhere/verl/trainer/config/base.yaml": "x: 2\n",
    }
    compose(texts, main)
    monkeypatch.chdir(tmp_path / folder)
    document = Composer().compose(Source.read(os.path.relpath(tmp_path / main)))
    assert (plain(document.root), document.partial) == ({"x": 1}, False)


def test_a_folder_that_exists_but_may_not_be_read_is_named_by_the_verdict(compose: Compose, tmp_path: Path) -> None:
    texts = {"job/main.yaml": f"hydra: {{searchpath: ['file://{tmp_path}/conf']}}\ndefaults: [base]\n", "conf/base.yaml": "x: 1\n"}
    reason = compose(texts, "job/main.yaml").unchecked[0]
    assert (reason.decides, reason.add) == (True, f"Pass `--config-root {tmp_path}/conf`")
    missing = compose({"job/main.yaml": texts["job/main.yaml"].replace("/conf", "/none")}, "job/main.yaml").unchecked[0]
    assert (missing.decides, missing.add) == (False, "")
