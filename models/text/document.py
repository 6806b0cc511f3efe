"""Document: a configuration as one tree, and the program that a command starts."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Callable, Mapping

from ..findings.finding import Finding, Unchecked
from ..findings.span import Span
from ..record import dataclass
from ..releases.choice import Choice
from .environment import Environment
from .source import Source
from .tree import MapNode, Value


@dataclass(frozen=True, slots=True)
class Machine:
    """What a script tells Ray of the node that it runs on.

    Attributes
    ----------
    accelerators : how many accelerators of this node Ray may use; None if unknown.
    accelerators_span : where that is written, such as ``--num-gpus=2`` or ``CUDA_VISIBLE_DEVICES=0,1``.
    cpus : how many CPUs Ray counts, as ``ray start --num-cpus`` says; None if unknown.
    cpus_span : where that is written.
    variable : the variable that names the accelerators, such as ``ASCEND_RT_VISIBLE_DEVICES``; "" if none does.
    """

    accelerators: int | None = None
    accelerators_span: Span | None = None
    cpus: int | None = None
    cpus_span: Span | None = None
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a framework and what it was told besides the settings.

    Attributes
    ----------
    name : the module or file that is run, such as ``verl.trainer.main_ppo`` or ``main_ppo_split.py``.
    span : where it is named.
    launcher : what starts it if it is not Python itself, such as ``torchrun`` or ``ray job submit``.
    config_path, config_name : what ``--config-path`` and ``--config-name`` say; "" if they are not given.
    options : its other options and those of its launcher, such as ``--nnodes`` -> ``2``; "" where the value is not known.
    command : the whole command; another setting can be added where it ends.
    number, count : which program of its script it is, from 1, and of how many.
    found : True if the configuration that it begins with was found, so that the settings are made in it.
    complete : True if these are all of its settings. False where some are unknown, lost or refused; a script is taken to be run without arguments.
    is_hydra : True if it is known to read its configuration with Hydra: a framework's own program, or ``hydra.main`` is in its file.
    machine : what its script tells Ray of the machine; None if nothing.
    missing : what is missing of its configuration, and what helps; ("", "") if nothing is.
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
    machine: Machine | None = None
    missing: tuple[str, str] = ("", "")


class Kind(Enum):
    """What a setting does, by its mark."""

    CHANGE, ADD, FORCE, DELETE = "", "+", "++", "~"


@dataclass(frozen=True, slots=True)
class Setting:
    """`key=value`, `+key=value`, `++key=value`, `~key` or `group@package=option`; `value` is None where none is written."""

    text: str
    kind: Kind
    key: str
    package: str | None
    value: Value | None
    span: Span
    key_span: Span

    @property
    def names(self) -> tuple[str, ...]:
        """The key as a path."""
        return tuple(self.key.split(".")) if self.key else ()


@dataclass(frozen=True)
class Document:
    """What a dialect reads. The spans in `root` name the text that each value comes from.

    Attributes
    ----------
    source : the file itself, the one that an answer is written into.
    root : the whole tree: the file, with what its `defaults` bring in and what the command line sets.
    others : the other texts of the tree, by the name that spans carry.
    partial : something that belongs to the tree could not be read, so a missing key may stand there.
    findings, unchecked : what putting the tree together found out.
    program : what the file starts, where it is a command line or a script; None for a configuration file.
    environment : the variables that its interpolations may read.
    reasons : why a value of tag UNRESOLVED is not known, by its place.
    settings : what a command line sets, in its order, before it was put into the tree.
    assumed : for a value that holds where variables of the environment are not set, their names, by its place.
    release : the release that it is judged for; None until its dialect is known.
    compose : puts the document of another text of the main file together, as this one was.
    """

    source: Source
    root: MapNode
    others: Mapping[str, Source] = field(default_factory=dict)
    partial: bool = False
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    environment: Environment = field(default_factory=Environment)
    compose: Callable[[Source], Document] = field(default=lambda source: Document.of(source), repr=False, compare=False)
    program: Program | None = None
    release: Choice | None = None
    settings: tuple[Setting, ...] = ()
    reasons: Mapping[Span, str] = field(default_factory=dict)
    assumed: Mapping[Span, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(source: Source) -> Document:
        """A file alone; its `defaults`, if it has any, are not followed. Raises UnusableInput if it is not one YAML map."""
        return Document(source, source.root, partial=source.root.get("defaults") is not None)

    @staticmethod
    def unread(name: str) -> Document:
        """A file of which nothing can be used."""
        source = Source(name, "")
        return Document(source, MapNode((), source.whole()))

    @property
    def shared(self) -> tuple[Span, ...]:
        """Places of values that aliases use too, in every text of the tree."""
        return tuple(span for source in (self.source, *self.others.values()) for span in source.shared)

    @property
    def texts(self) -> dict[str, str]:
        """Every text of the tree by the name that spans carry."""
        return {self.source.name: self.source.text, **{name: source.text for name, source in self.others.items()}}

    def text_of(self, name: str) -> str:
        """The text that spans with this file name point into; "" for one that is not part of the tree."""
        if name == self.source.name:
            return self.source.text
        return self.others[name].text if name in self.others else ""

    def excerpt(self, span: Span) -> str:
        """What stands at a place, without the blanks around it."""
        return self.text_of(span.file)[span.start : span.end].strip()
