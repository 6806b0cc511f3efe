"""Program started by a command: file, use of Hydra, configuration.

Sources: Hydra, hydra/_internal/utils.py (detect_calling_file_or_module); ROLL,
examples/start_rlvr_pipeline.py:15-23.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import Iterator, Mapping

from ..composition import Composer
from ..composition.places import AddedFolders, NamedPath, SearchPath, repository_of
from ..record import dataclass
from ..text.environment import Environment
from ..text.files import is_below, text_of
from ..text.nearest import nearest
from ..text.source import Source
from . import facts
from .arguments import Arguments, show_text
from .launch import LaunchCommand
from .pieces import WordText

_DECORATED = re.compile(r"^@hydra\.main\(([^()]*)\)", re.MULTILINE)
_ARGUMENT = re.compile(r"""\b(config_path|config_name)\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)'|None)""")
_NAME_FOLDER = "name the folder that holds it with `--config-root DIR`"
TWO_OPTIONS = ("--config_path", "--config_name")
_OPTION = re.compile(r"""\badd_argument\(\s*["']([\w-]+)""")
_FACTS = facts("programs")
_ARGPARSE = re.compile(_FACTS["argparse"])
"""Launchers of ROLL, which read two options with argparse."""
_HYDRA = re.compile("|".join(_FACTS["hydra"]))
"""Programs of RLinf, verl and its recipes that begin with `@hydra.main`."""


def readable_folders(source: Source, composer: Composer) -> SearchPath:
    """Return the folders that may be read: the script's own, its repository, the roots."""
    repository = repository_of(source.name)
    repository = repository if os.path.isabs(source.name) else os.path.relpath(repository)
    names = dict.fromkeys((os.path.dirname(source.name), "" if repository == "." else repository, *composer.roots))
    real = tuple(dict.fromkeys(os.path.realpath(name or ".") for name in names))
    return SearchPath(tuple(NamedPath(name, name) for name in names), real)


@dataclass(frozen=True)
class StartedProgram:
    """Known facts of a program that a script starts.

    `edits` maps the paths of files that the script edits before to the command that does.
    """

    source: Source
    launch: LaunchCommand
    composer: Composer
    edits: Mapping[str, str]

    # -- the file of the program

    @cached_property
    def _search(self) -> SearchPath:
        return readable_folders(self.source, self.composer)

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        """Folders that may hold the program: the one that the script went to, and the readable ones."""
        went, readable = self.launch.started.folder, [folder.path for folder in self._search.folders]
        return tuple(dict.fromkeys([*([went, *(os.path.join(folder, went) for folder in readable)] if went else ()), *readable]))

    @cached_property
    def name(self) -> str:
        """Module or file, without a folder of this machine."""
        return self.launch.name if self.launch.program.known else self._below_roots(self.launch.name)

    def _below_roots(self, path: str) -> str:
        for root in self._search.roots:
            path = path.removeprefix(root + os.sep)
        return path

    @cached_property
    def file(self) -> str:
        """Path of the module or file below the folder that programs are started from."""
        return self.name if self.name.endswith(".py") else self.name.replace(".", "/") + ".py"

    @cached_property
    def _text(self) -> str:
        """Text of the program; "" outside of the readable folders."""
        for folder in self._folders if "\0" not in self.launch.started.folder + self.file else ():
            real = os.path.realpath(os.path.join(folder, self.file))
            if is_below(real, self._search.roots) and os.path.isfile(real):
                return text_of(real)
        return ""

    # -- its arguments

    @property
    def _module(self) -> str:
        return self.name.removesuffix(".py").replace("/", ".").strip(".")

    @cached_property
    def is_hydra(self) -> bool:
        """True if Hydra is known to read the settings."""
        return bool(_HYDRA.fullmatch(self._module) or _DECORATED.search(self._text))

    @property
    def is_known(self) -> bool:
        """True for a program of a framework, without resolvers of an author."""
        is_named = _ARGPARSE.fullmatch(self.name) or ("." in self._module and _HYDRA.fullmatch(self._module))
        return bool(is_named) and "register_" not in self._text

    @cached_property
    def arguments(self) -> Arguments:
        """Parsed arguments, with findings about those that the program refuses.

        Launchers of ROLL take a folder and a name, and refuse all else; launchers of forks may take
        more.
        """
        exact = set(_OPTION.findall(self._text)) == set(TWO_OPTIONS) and "parse_known_args" not in self._text
        names = TWO_OPTIONS if (exact or not self._text) and _ARGPARSE.fullmatch(self.name) else ()
        arguments = Arguments(self.source, Environment.of(self.composer.allowed), hydra=self.is_hydra, known_options=names)
        arguments.read(self.launch.arguments)
        if names:
            certain = bool(self._text) or any(name.startswith("roll") for name in self.composer.frameworks)
            arguments.refuse_all_but_known(self.name, certain)
        return arguments

    @property
    def is_configured(self) -> bool:
        """True if the command has settings or names a configuration."""
        return bool(self.arguments.settings or self.arguments.findings) or self._option("name") is not None

    def _option(self, name: str) -> WordText | None:
        return self.arguments.options.get(f"config-{name}")

    # -- its configuration

    @cached_property
    def added(self) -> AddedFolders:
        """Configuration folders of `--config-dir`, and folders that may contain relative ones."""
        folder = self._option("dir")
        if folder is None:
            return AddedFolders((), self._folders)
        path = folder.path
        return AddedFolders((NamedPath(path, path) if path else "what `--config-dir` names is not known",), self._folders)

    @cached_property
    def _hydra_arguments(self) -> Mapping[str, str]:
        match = _DECORATED.search(self._text)
        arguments = _ARGUMENT.findall(match[1]) if match else ()
        return {name: first or second for name, first, second in arguments}

    @cached_property
    def configuration(self) -> str:
        """Name of the configuration; "" if unknown."""
        name = self._option("name")
        return self._hydra_arguments.get("config_name", "") if name is None else show_text(name)

    @cached_property
    def _path(self) -> str:
        """Folder of the configuration, as the command or the program names it."""
        path = self._option("path")
        return self._hydra_arguments.get("config_path", "") if path is None else path.path

    @cached_property
    def written(self) -> Source | None:
        """Main file that the script writes before, without unknown parts; else None."""
        end = "/".join(["", *os.path.normpath(os.path.join(self._path, self._named)).split("/")[-2:]])
        texts = self.launch.started.written.items() if self.configuration else ()
        return next((Source(path[1:], text) for path, text in texts if path.endswith(end) and not self._editor_of(path)), None)

    @cached_property
    def found(self) -> NamedPath | None:
        """Main file, named by the options or else by the program itself."""
        if self.written is not None:
            return NamedPath(self.written.name, self.written.name)
        name, path, option = self.configuration, self._path, self._option("path")
        if not name or os.path.isabs(name) or "\0" in name + self.name or (option is not None and (not path or option.secret)):
            return None
        is_named = option is not None or bool(self._hydra_arguments)
        folders = [*self._places(path if is_named else "config", "")]
        if (directory := self._option("dir")) is not None and directory.path:
            folders += self._places(directory.path)
        path_found = SearchPath(tuple(folders), self._search.roots).find(name) if folders else None
        return path_found if isinstance(path_found, NamedPath) and not self._editor_of(path_found.path) else None

    def _editor_of(self, path: str) -> str:
        """Return the command that edits a file before; "" without any. Only the nearest folder is compared."""
        end = "/".join(["", *os.path.normpath(path).split("/")[-2:]])
        edits = ((f"/{path_edited.lstrip('./')}", command) for path_edited, command in self.edits.items())
        return next((command for path_edited, command in edits if end.endswith(path_edited) or path_edited.endswith(end)), "")

    def _places(self, path: str, *further: str) -> Iterator[NamedPath]:
        """Yield the readable folders that a path, or one of `further`, may name.

        A relative path counts from the program's folder, which is looked up below the folder that
        the script went to, its own folder, its repository and the roots.
        """
        below = (path,) if os.path.isabs(path) else (f"{os.path.dirname(self.file)}/{path}".lstrip("/"), path, *further)
        for place in (os.path.join(folder, name) for name in below for folder in self._folders):
            real = os.path.realpath(place) if "\0" not in place else ""
            if real and is_below(real, self._search.roots):
                visible = os.path.normpath(place) if os.path.isabs(self.source.name) else os.path.relpath(real)
                yield NamedPath(real, "" if visible == "." else visible)

    @property
    def misplaced_folder(self) -> str:
        """Relative `--config-path` that only the folder of the script has; "" if none."""
        folder, option = os.path.dirname(self.file), self._option("path")
        if self.found is None or option is None or not (option.certain and folder and self.is_hydra) or os.path.isabs(option.plain):
            return ""
        is_right = os.path.normpath(f"/{folder}/{option.plain}/") + os.sep in self.found.path
        roots = map(os.path.realpath, self.composer.roots)
        return "" if is_right or is_below(self.found.path, tuple(roots)) else os.path.normpath(option.plain)

    @property
    def missing(self) -> tuple[str, str]:
        """Missing part of the configuration, and help; ("", "") if complete."""
        name = self._option("name")
        if self.found is not None or (name is None and not self.configuration):
            return "", ""
        if not self.configuration and name is not None:
            names = " ".join(sorted(name.unset)) or name.plain or "an empty text"
            why = "it depends on an argument of the script" if self.is_open else name.why_unknown or "it is not set"
            message = f"begins with a configuration that `{names[:40]}` names, which is not known: {why}"
            return message, self._one_beside or "verify that configuration itself, or write its name in the script"
        file = os.path.normpath(os.path.join(self._below_roots(self._path), self._named))
        message = f"begins with `{file[-80:]}`, which is not found"
        if self._how_written:
            part = "run that part, then verify the configuration itself"
            help_ = part if self.edits else "run the part that writes it, then verify again"
            return f"begins with `{file[-80:]}`, which {self._how_written}", help_
        if self.is_open:
            return f"{message}, unless an argument of the script names another one", self._one_beside or _NAME_FOLDER
        present = nearest(os.path.basename(file), map(os.path.basename, self._beside)) or os.path.basename(next(iter(self._beside), ""))
        return message, f"write a name that its folder has, such as `{present}`, or {_NAME_FOLDER}" if present else _NAME_FOLDER

    @property
    def is_open(self) -> bool:
        """True if an argument names the missing configuration, or the script writes it."""
        name = self._option("name")
        if name is None or self.found is not None:
            return False
        by_argument = any(variable[0] == "$" for variable in name.unset | name.assumed) or "argument" in name.why_unknown
        return by_argument or bool(self._how_written)

    @property
    def _named(self) -> str:
        return self.configuration if self.configuration.endswith((".yaml", ".yml")) else f"{self.configuration}.yaml"

    @cached_property
    def _how_written(self) -> str:
        """Return how the script makes the configuration; "" if it does not."""
        file = os.path.basename(self._named)
        is_written = self.configuration and re.search(rf"(?:>|\btee\b)[^\n|;&]*?[\s\"'/>]{re.escape(file)}(?![\w.])", self.source.text)
        command = self._editor_of(os.path.join(self._path, self._named))
        return f"{command} changes" if command else "the script itself writes" if is_written else ""

    @property
    def _one_beside(self) -> str:
        """Help that names a configuration in the folder of the command; "" without any."""
        more = f", one of {len(self._beside)}" if len(self._beside) > 1 else ""
        return f"verify that configuration itself, such as `{self._beside[0]}`{more}" if self._beside else ""

    @cached_property
    def _beside(self) -> list[str]:
        """Configurations in the folder that the command names."""
        for folder in self._places(self._path or "config"):
            names = sorted(os.listdir(folder.path)) if os.path.isdir(folder.path) else []
            if files := [os.path.join(folder.name, name) for name in names if name.endswith((".yaml", ".yml"))]:
                return files
        return []
