"""Program started by a command: file, use of Hydra, configuration.

Sources: Hydra, hydra/_internal/utils.py (detect_calling_file_or_module); ROLL,
examples/start_rlvr_pipeline.py:15-23.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import Mapping, Sequence

from ..composition.places import Added, Folder, Located, SearchPath
from ..dialect_names import DIALECTS
from ..findings.finding import UnusableInput
from ..record import dataclass
from ..text.source import Source
from .launch import LaunchCommand
from .pieces import WordText

_DECORATED = re.compile(r"^@hydra\.main\(([^()]*)\)", re.MULTILINE)
_ARGUMENT = re.compile(r"""\b(config_path|config_name)\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|None)""")
_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
_PACKAGES = tuple(package for dialect in DIALECTS.values() for package in dialect.packages)
MAX_UP = 6
TWO_OPTIONS = ("--config_path", "--config_name")
_OPTION = re.compile(r"""\badd_argument\(\s*["']([\w-]+)""")
_ROLL_NAMES = re.compile(
    r"(?:.*/)?start_(?:agentic|agentic_rollout|distill|distill_vl|dpo|onpolicy_distill|reward_fl|rlvr|rlvr_rollout"
    r"|rlvr_vl|rlvr_vlmath|sft)_pipeline\.py"
)
"""Launchers of ROLL, which read two options with argparse. Source: ROLL, examples/."""
_RLINF_NAMES = re.compile(
    r"(?:.*\.)?(?:examples\.(?:agent|coding_online_rl|embodiment|multiturn_demo|offline_rl|reasoning|recap|reward|sft)"
    r"\.(?:[\w-]+\.)*(?:main|train|eval|collect)\w*|evaluations\.eval_embodied_agent)"
)
"""Programs of RLinf that begin with `@hydra.main`."""
_VERL_NAMES = re.compile(
    r"(?:.*\.)?verl\.(?:trainer|experimental|workers|recipe)\.[\w.]+"
    r"|verl|verl\..*|main_ppo\w*|\w*sft_trainer\w*|main_generation\w*"
)
_RECIPES = re.compile(
    r"recipe\.(?:async_flow|atropos|char_count|collabllm|dance_grpo|dapo|deepeyes|entropy|fapo|flowrl"
    r"|fully_async_policy|genrm_remote|gkd|gvpo|infigui-g1|langgraph_agent|minicpmo"
    r"|one_step_off_policy|open_math_reasoning|partial_rollout|prime|qat|r1|rep_exp|retool|specRL"
    r"|spin|spo|sppo|transfer_queue|vla)\..+"
)
"""Programs of verl's recipes, which read their settings with Hydra."""


@dataclass(frozen=True)
class StartedProgram:
    """Known facts of a program that a script starts.

    Attributes
    ----------
    script : name of the script, as on the command line.
    roots : folders of `--config-root`.
    path, config, folder : values of `--config-path`, `--config-name` and `--config-dir`; None if
        absent.
    """

    script: str
    launch: LaunchCommand
    roots: Sequence[str]
    path: WordText | None = None
    config: WordText | None = None
    folder: WordText | None = None

    @cached_property
    def repository(self) -> str:
        """Folder of the script's repository, or of the script if no repository is found."""
        folder = start = os.path.dirname(os.path.abspath(self.script))
        signs = (*_MARKS, *(os.path.join(package, "__init__.py") for package in _PACKAGES))
        for _ in range(MAX_UP):
            if any(os.path.exists(os.path.join(folder, sign)) for sign in signs):
                return folder
            folder = os.path.dirname(folder)
        return start

    @cached_property
    def _search(self) -> SearchPath:
        """Readable folders: the script's own, its repository, the roots."""
        folder = os.path.dirname(self.script)
        absolute = os.path.isabs(self.script)
        shown = self.repository if absolute else os.path.relpath(self.repository)
        names = dict.fromkeys((folder, "" if shown == "." else shown, *self.roots))
        real = tuple(dict.fromkeys(os.path.realpath(name or ".") for name in names))
        return SearchPath(tuple(Folder(name, name) for name in names), real)

    @cached_property
    def added(self) -> Added:
        """Configuration folders of `--config-dir`, and folders that may contain relative ones."""
        folder, folders = self.launch.started.folder, [entry.path for entry in self._search.folders]
        below = tuple(dict.fromkeys([folder, *folders] if folder else folders))
        if self.folder is None:
            return Added((), below)
        path = self.folder.path
        return Added((Folder(path, path) if path else "what `--config-dir` names is not known",), below)

    @cached_property
    def name(self) -> str:
        """Module or file, without a folder of this machine."""
        name = self.launch.name
        return name if self.launch.program.known else self._below_roots(name)

    def _below_roots(self, path: str) -> str:
        """Remove a readable folder from the front of a path."""
        for root in self._search.roots:
            path = path.removeprefix(root + os.sep)
        return path

    @cached_property
    def _file(self) -> str:
        """Path of the module or file below the folder that programs are started from."""
        return self.name if self.name.endswith(".py") else self.name.replace(".", "/") + ".py"

    @cached_property
    def _text(self) -> str:
        """Text of the program; "" outside of the readable folders."""
        folder = self.launch.started.folder
        folders = [*([folder] if folder else ()), *(entry.path for entry in self._search.folders)]
        for place in folders if "\0" not in folder + self._file else ():
            real = os.path.realpath(os.path.join(place, self._file))
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
        """True if Hydra is known to read the settings."""
        module = self.name.removesuffix(".py").replace("/", ".").strip(".")
        known = any(names.fullmatch(module) for names in (_VERL_NAMES, _RECIPES, _RLINF_NAMES))
        return bool(known) or _DECORATED.search(self._text) is not None

    @cached_property
    def takes_two_options(self) -> bool:
        """True for ROLL's launchers, which take a folder and a name, and refuse all else.

        Launchers of forks may take more.
        """
        exact = set(_OPTION.findall(self._text)) == set(TWO_OPTIONS) and "parse_known_args" not in self._text
        return (exact or not self.is_seen) and _ROLL_NAMES.fullmatch(self.name) is not None

    @property
    def is_seen(self) -> bool:
        """True if the program lies in a readable folder."""
        return bool(self._text)

    @cached_property
    def _hydra_arguments(self) -> Mapping[str, str]:
        """Literal arguments of `@hydra.main(...)` in the program."""
        match = _DECORATED.search(self._text)
        arguments = _ARGUMENT.findall(match[1]) if match else ()
        return {name: first or second for name, first, second in arguments}

    @cached_property
    def configuration(self) -> str:
        """Name of the configuration; "" if unknown."""
        if self.config is None:
            return self._hydra_arguments.get("config_name", "")
        known = self.config.known and not self.config.secret and not self.config.unset
        return self.config.plain if known else ""

    @cached_property
    def found(self) -> Located | None:
        """Main file, named by the options or else by the program itself.

        A relative path counts from the program's folder, which is looked up below the folder that
        the script went to, its own folder, its repository and the roots.
        """
        name, path = self.configuration, self.path
        if not name or os.path.isabs(name) or "\0" in name + self.name + (path.path if path else ""):
            return None
        written = self._hydra_arguments.get("config_path", "") if path is None else path.path
        if path is not None and (not written or path.secret):
            return None
        if os.path.isabs(written):
            return self._in_folder(written, name)
        base, folder = os.path.dirname(self._file), self.launch.started.folder
        known = path is not None or bool(self._hydra_arguments)
        for below in (f"{base}/{written}", written, "") if known else (f"{base}/config", "config", ""):
            below = below.lstrip("/")
            if folder and (located := self._in_folder(os.path.join(folder, below), name)):
                return located
            searched = self._search.find(os.path.normpath(os.path.join(below, name)))
            if isinstance(searched, Located):
                return searched
        added = self.folder.path if self.folder is not None else ""
        places = (self._in_folder(os.path.join(place, added), name) for place in self.added.below if added)
        return next(filter(None, places), None)

    def _in_folder(self, folder: str, name: str) -> Located | None:
        """Find the file in a readable folder; its name is relative if the script's is."""
        real = os.path.realpath(folder)
        if not self._may_be_read(real + os.sep):
            return None
        shown = folder if os.path.isabs(self.script) else os.path.relpath(real)
        located = SearchPath((Folder(real, "" if shown == "." else shown),), (real,)).find(name)
        return located if isinstance(located, Located) else None

    @property
    def missing(self) -> tuple[str, str]:
        """Missing part of the configuration, and help; ("", "") if complete."""
        if self.found is not None or (self.config is None and not self.configuration):
            return "", ""
        if not self.configuration and self.config is not None:
            names = " ".join(sorted(self.config.unset)) or self.config.plain or "an empty text"
            why = self.config.why_unknown or "it is not set"
            if any(name[0] == "$" for name in self.config.unset) or "argument" in why:
                why = "it depends on an argument of the script"
            message = f"begins with a configuration that `{names[:40]}` names, which is not known: {why}"
            return message, "verify that configuration itself, or write its name in the script"
        folder = self.path.path if self.path is not None else self._hydra_arguments.get("config_path", "")
        file = os.path.normpath(os.path.join(self._below_roots(folder), self.configuration))
        file = file if file.endswith((".yaml", ".yml")) else f"{file}.yaml"
        help_ = "name the folder that holds it with `--config-root DIR`"
        return f"begins with `{file[-80:]}`, which is not found", help_
