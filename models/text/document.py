"""Document: a configuration as one tree, with sources, findings and the started program."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Callable, Mapping

from ..findings.finding import Finding, Unchecked
from ..findings.span import Span
from ..record import dataclass
from ..releases.choice import ReleaseChoice
from .environment import Environment
from .source import Source
from .tree import MapNode, Value


@dataclass(frozen=True, slots=True)
class ShellMachine:
    """Resources of the node that a script passes to Ray.

    Attributes
    ----------
    accelerators : number of accelerators of this node that Ray may use; None if unknown.
    accelerators_span : place of the number, such as ``--num-gpus=2`` or
        ``CUDA_VISIBLE_DEVICES=0,1``.
    cpus : number of CPUs for Ray, from ``ray start --num-cpus``; None if unknown.
    variable : variable that names the accelerators, such as ``ASCEND_RT_VISIBLE_DEVICES``; ""
        without a variable.
    for_ray : True if `ray start --num-gpus` states the number, which Ray alone reads.
    repeated : accelerator that the variable names twice; "" if none.
    own : number of accelerators that the program itself sees, beside one for Ray alone; None if unknown.
    numbers : accelerators that the variable names by number.
    may_join : True if the program joins a Ray that runs on this node already, if there is one.
    """

    accelerators: int | None = None
    accelerators_span: Span | None = None
    cpus: int | None = None
    cpus_span: Span | None = None
    variable: str = ""
    for_ray: bool = False
    repeated: str = ""
    own: int | None = None
    numbers: tuple[int, ...] = ()
    may_join: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """Program of a framework, with the facts of its command besides the settings.

    Attributes
    ----------
    name : module or file, such as ``verl.trainer.main_ppo`` or ``main_ppo_split.py``.
    launcher : starter other than Python itself, such as ``torchrun`` or ``ray job submit``.
    config_path, config_name : values of ``--config-path`` and ``--config-name``; "" if absent.
    options : other options of the program and its launcher, such as ``--nnodes`` -> ``2``; "" for
        an unknown value.
    command : the whole command; a further setting can be added at its end.
    number, count : number of the program in its script, from 1, and the number of programs.
    found : True if the initial configuration was found, so that the settings apply to it.
    complete : True if all settings are known. False if some are unknown, lost or refused; scripts
        are assumed to run without arguments.
    is_hydra : True if Hydra is known to read the configuration: a framework's own program, or
        ``hydra.main`` in its file.
    is_known : True for a program of the framework itself, False for one of an author.
    missing : missing part of the configuration, and help; ("", "") if complete.
    is_open : True if an argument of the script names the missing configuration.
    """

    name: str
    span: Span
    launcher: str = ""
    config_path: str = ""
    config_name: str = ""
    options: tuple[tuple[str, str], ...] = ()
    command: Span | None = None
    number: int = 1
    count: int = 1
    found: bool = False
    complete: bool = True
    is_hydra: bool = True
    is_known: bool = True
    machine: ShellMachine | None = None
    missing: tuple[str, str] = ("", "")
    is_open: bool = False


class SettingMark(Enum):
    """Mark before a setting, which says whether it changes, adds or deletes a key."""

    CHANGE, ADD, FORCE, DELETE = "", "+", "++", "~"


@dataclass(frozen=True, slots=True)
class Setting:
    """Setting of a command line; `value` is None if absent.

    Forms: `key=value`, `+key=value`, `++key=value`, `~key`, `group@package=option`.
    """

    text: str
    kind: SettingMark
    key: str
    package: str | None
    value: Value | None
    span: Span
    key_span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """Key as a path."""
        return tuple(self.key.split(".")) if self.key else ()


@dataclass(frozen=True)
class Document:
    """Input of a dialect; spans in `root` name the text of every value.

    Attributes
    ----------
    source : the file itself, into which an answer is written.
    root : the whole tree: the file with the parts from its `defaults` and the settings of the
        command line.
    others : further texts of the tree, by the name in their spans.
    partial : True if a part of the tree could not be read, so that it may hold a missing key.
    findings, unchecked : results of composing the tree.
    program : started program, for a command line or a script; None for a configuration file.
    reasons : why a value of tag UNRESOLVED is unknown, by its place.
    settings : settings of a command line, in order, before their application to the tree.
    assumed : names of the environment variables assumed unset for a value, by its place.
    release : release that the document is judged for; None until its dialect is known.
    compose : composes the document again for another text of the main file.
    """

    source: Source
    root: MapNode
    included: Mapping[str, Source] = field(default_factory=dict)
    partial: bool = False
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    environment: Environment = field(default_factory=Environment)
    compose: Callable[[Source], Document] = field(default=lambda source: Document.of(source), repr=False, compare=False)
    program: Program | None = None
    release: ReleaseChoice | None = None
    settings: tuple[Setting, ...] = ()
    reasons: Mapping[Span, str] = field(default_factory=dict)
    assumed: Mapping[Span, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(source: Source) -> Document:
        """Return the document of a file without its `defaults`. Raises UnusableInput."""
        return Document(source, source.root, partial=source.root.get("defaults") is not None)

    @staticmethod
    def unread(name: str) -> Document:
        """Return the document of an unusable file."""
        source = Source(name, "")
        return Document(source, MapNode((), source.whole()))

    @property
    def is_composed(self) -> bool:
        """True if all files of the program's configuration were read."""
        return self.program is not None and self.program.found and not self.partial

    @property
    def shared(self) -> tuple[Span, ...]:
        """Places of values with aliases, in all texts of the tree."""
        return tuple(span for source in (self.source, *self.included.values()) for span in source.shared)

    @property
    def texts(self) -> dict[str, str]:
        """Texts of the tree by the name in spans."""
        return {self.source.name: self.source.text, **{name: source.text for name, source in self.included.items()}}

    def text_of(self, name: str) -> str:
        """Return the text for a file name in spans; "" for an unknown file."""
        if name == self.source.name:
            return self.source.text
        return self.included[name].text if name in self.included else ""

    def excerpt(self, span: Span) -> str:
        """Return the text of a span, without surrounding blanks."""
        return self.text_of(span.file)[span.start : span.end].strip()
