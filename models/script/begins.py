"""The program that a command starts: its file, whether Hydra reads its settings, and the configuration it begins with.

Sources: Hydra, hydra/_internal/utils.py (detect_calling_file_or_module); ROLL, examples/start_rlvr_pipeline.py:15-23.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import Mapping, Sequence

from ..composition.search_path import Folder, Located, SearchPath
from ..findings.finding import UnusableInput
from ..record import dataclass
from ..text.source import Source
from .launch import Launch
from .pieces import Text

_DECORATED = re.compile(r"^@hydra\.main\(([^()]*)\)", re.MULTILINE)
_ARGUMENT = re.compile(r"""\b(config_path|config_name)\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|None)""")
_COMPOSES = re.compile(r"\binitialize(?:_config_dir)?\(")
_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_PACKAGES = ("verl", "roll", "rlinf", "recipe")
MAX_UP = 6
_OF_VERL = re.compile(
    r"(?:.*\.)?verl\.(?:trainer|experimental|workers|recipe)\.[\w.]+|(?:main_ppo\w*|\w*sft_trainer\w*|main_generation\w*)"
)
_RECIPES = {
    "async_flow", "atropos", "char_count", "collabllm", "dance_grpo", "dapo", "deepeyes", "entropy", "fapo", "flowrl",
    "fully_async_policy", "genrm_remote", "gkd", "gvpo", "infigui-g1", "langgraph_agent", "minicpmo", "one_step_off_policy",
    "open_math_reasoning", "partial_rollout", "prime", "qat", "r1", "rep_exp", "retool", "specRL", "spin", "spo", "sppo",
    "transfer_queue", "vla",
}  # fmt: skip
"""Folders of verl's recipes, all of whose programs read their settings with Hydra."""


@dataclass(frozen=True)
class Beginning:
    """What is known of a program that a script starts.

    Attributes
    ----------
    script : the name of the script, as the command line has it.
    roots : folders of `--config-root`.
    path, config : what `--config-path` and `--config-name` say; None if they are not given.
    """

    script: str
    launch: Launch
    roots: Sequence[str]
    path: Text | None
    config: Text | None

    @cached_property
    def repository(self) -> str:
        """The folder of the repository that the script lies in; its own folder if none is found."""
        folder = start = os.path.dirname(os.path.abspath(self.script))
        for _ in range(MAX_UP):
            if any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS):
                return folder
            if any(os.path.isfile(os.path.join(folder, package, "__init__.py")) for package in _PACKAGES):
                return folder
            if os.path.dirname(folder) == folder:
                break
            folder = os.path.dirname(folder)
        return start

    @cached_property
    def _search(self) -> SearchPath:
        """The script's folder, its repository, the roots: nothing is read outside of them."""
        own = os.path.dirname(self.script)
        shown = self.repository if os.path.isabs(self.script) else os.path.relpath(self.repository)
        shown = "" if shown == "." else shown
        folders = [Folder(own, own), Folder(shown, shown), *(Folder(root, root) for root in self.roots)]
        real = tuple(dict.fromkeys(os.path.realpath(folder.path or ".") for folder in folders))
        return SearchPath(tuple(dict.fromkeys(folders)), real)

    @cached_property
    def name(self) -> str:
        """The module or file, without a folder of this machine."""
        name = self.launch.name
        for root in self._search.roots:
            if name.startswith(root + os.sep) and not self.launch.program.known:
                return name[len(root) + 1 :]
        return name

    @cached_property
    def _file(self) -> str:
        """The file of a module or a file, below the folder that programs are started from."""
        return self.name if self.name.endswith(".py") else self.name.replace(".", "/") + ".py"

    @cached_property
    def _text(self) -> str:
        """The text of the program, if it lies in a folder that may be read."""
        folder = self.launch.started.folder
        places = [os.path.join(each.path, self._file) for each in self._search.folders]
        for place in ([os.path.join(folder, self._file)] if folder else []) + places:
            if "\0" in place:
                continue
            real = os.path.realpath(place)
            if self._may_be_read(real) and os.path.isfile(real):
                try:
                    return Source.read(real).text
                except UnusableInput:
                    return ""
        return ""

    def _may_be_read(self, real: str) -> bool:
        return any(real.startswith(root.rstrip(os.sep) + os.sep) for root in self._search.roots)

    @cached_property
    def is_hydra(self) -> bool:
        """True if it is known that Hydra reads its settings."""
        module = self.name.removesuffix(".py").replace("/", ".").strip(".")
        words = module.split(".")
        if _OF_VERL.fullmatch(module) or words[0] == "verl":
            return True
        if words[0] == "recipe" and len(words) > 2 and words[1] in _RECIPES:
            return True
        return _DECORATED.search(self._text) is not None

    @cached_property
    def _of_program(self) -> Mapping[str, str]:
        """What `@hydra.main(...)` says in the text of the program; nothing if it is not in plain words."""
        match = _DECORATED.search(self._text)
        return {name: first or second for name, first, second in _ARGUMENT.findall(match[1])} if match else {}

    @cached_property
    def configuration(self) -> str:
        """The name of the configuration; "" if unknown."""
        if self.config is not None:
            return self.config.plain if _is_plain(self.config) else ""
        return self._of_program.get("config_name", "")

    @cached_property
    def found(self) -> Located | None:
        """The main file: what the options name, else what the program itself says.

        A relative path counts from the program's folder, which is looked for below the script's folder, its repository and the roots.
        """
        name, path = self.configuration, self.path
        if not name or os.path.isabs(name) or "\0" in name + self.name + (path.path if path else ""):
            return None
        written = self._of_program.get("config_path", "") if path is None else path.path
        if path is not None and (not written or path.secret):
            return None
        if os.path.isabs(written):
            return self._in_folder(written, name)
        base, folder = os.path.dirname(self._file), self.launch.started.folder
        known = path is not None or "config_path" in self._of_program or "config_name" in self._of_program
        for below in (f"{base}/{written}", written, "") if known else (f"{base}/config", "config", ""):
            if folder and (located := self._in_folder(os.path.join(folder, below.lstrip("/")), name)):
                return located
            searched = self._search.find(os.path.normpath(os.path.join(below.lstrip("/"), name)))
            if isinstance(searched, Located):
                return searched
        return None

    def _in_folder(self, folder: str, name: str) -> Located | None:
        """The file in a folder, if that lies in one that may be read; named as the script is."""
        real = os.path.realpath(folder)
        if not self._may_be_read(real + os.sep):
            return None
        shown = folder if os.path.isabs(self.script) else os.path.relpath(real)
        located = SearchPath((Folder(real, "" if shown == "." else shown),), (real,)).find(name)
        return located if isinstance(located, Located) else None

    @property
    def missing(self) -> tuple[str, str]:
        """What is missing of its configuration, and what helps; ("", "") if it needs none, or it is found."""
        if self.found is not None or (self.config is None and not self._of_program.get("config_name")):
            return "", ""
        if not self.configuration and self.config is not None:
            names = sorted(self.config.unset) or [self.config.plain or "an empty text"]
            why = self.config.why_unknown or "it is not set"
            argument = any(name[0] == "$" for name in self.config.unset) or "argument" in why
            who = "it depends on an argument of the script" if argument else why
            message = f"begins with a configuration that `{' '.join(names)[:40]}` names, which is not known: {who}"
            return message, "verify that configuration itself, or write its name in the script"
        folder = self.path.path if self.path is not None else self._of_program.get("config_path", "")
        for root in self._search.roots:
            folder = folder.removeprefix(root + os.sep)
        file = os.path.normpath(os.path.join(folder, self.configuration))
        file = file if file.endswith((".yaml", ".yml")) else f"{file}.yaml"
        return f"begins with `{file[-80:]}`, which is not found", "name the folder that holds it with `--config-root DIR`"


def _is_plain(text: Text) -> bool:
    return text.known and not text.secret and not text.unset
