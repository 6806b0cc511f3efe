"""The front door: the verbs as functions. `import placewright as pw`, then `pw.load`, `pw.verify`, `pw.convert`, `pw.explain`; see solving.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence, Union

from .models.level import DEFAULT_LEVEL
from .models.machines.cluster import Cluster
from .models.machines.shorthand import AsDeclared, looks_like_shorthand, read_shorthand
from .models.reading import Reading
from .planner.verify import verify as _verify

if TYPE_CHECKING:
    from .models.converted import Converted
    from .models.placements.plan import Plan
    from .models.report import Report
    from .solver.explaining.explanation import Explanation

Machines = Union[str, Path, Cluster, AsDeclared, None]
Readable = Union[str, Path, Reading]


def cluster(text: str | Path) -> Cluster | AsDeclared:
    """The machines of a shorthand such as ``2x8xH100`` or of a cluster file.

    Raises ValueError for a shorthand that cannot be read, UnusableInput for a file that cannot.
    """
    if looks_like_shorthand(str(text)):
        return read_shorthand(str(text))
    from .models.machines.cluster_source import read_cluster

    return read_cluster(text)


def load(
    file: Readable,
    cluster: Machines = None,
    dialect: str = "auto",
    *,
    level: str = DEFAULT_LEVEL,
    set: Sequence[str] = (),
    roots: Sequence[str | Path] = (),
    allow_env: Sequence[str] = (),
    framework: str | Sequence[str] = (),
) -> Reading:
    """A configuration, read. What is wrong with it is in its `findings`; nothing is raised for a bad file.

    Parameters
    ----------
    file : a path, or a Reading, which is returned as it is.
    cluster : the machines, as an object, in one word or as the path of a cluster file; None where the file says all.
    dialect : ``auto``, ``native``, ``rlinf``, ``roll`` or ``verl``.
    level : ``training``, or ``placement``, which leaves out the batch arithmetic.
    set : what is changed, as on the command line of Hydra: ``cluster.num_nodes=4``.
    roots : folders to look in for the groups of `defaults`, besides that of the file.
    allow_env : environment variables that interpolations may read; their text is never shown.
    framework : the release that the file is for, such as ``verl==0.6.1``, or several of them. Raises ValueError for an unknown framework.
    """
    if isinstance(file, Reading):
        return file
    from .models.composition import Composer
    from .models.dialects.load import load as read
    from .models.dialects.released import known_framework

    stated = (framework,) if isinstance(framework, str) else tuple(framework)
    composer = Composer(tuple(map(str, roots)), tuple(set), tuple(allow_env), tuple(map(known_framework, stated)))
    return read(file, _machines(cluster), dialect, level, composer)


def verify(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Report:
    """The verdict on a configuration, with every Finding; options are those of `load`. Neither ortools nor ray is loaded."""
    return _verify(load(file, cluster, dialect, **options))


def convert(file: Readable, to: str, cluster: Machines = None, dialect: str = "auto", strict: bool = False, **options: Any) -> Converted:
    """The job of a configuration in the dialect `to`, with everything that was lost on the way, or the reasons why there is none.

    The new text was read again and verified, and every process is where it was. With `strict` a loss is a refusal. Other options
    are those of `load`. Raises ValueError if there is no such dialect.
    """
    from .solver.convert import convert as converted

    return converted(load(file, cluster, dialect, **options), to, strict)


def explain(file_or_code: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> str:
    """What a configuration comes to, or what a code such as ``PW102`` means and what mends it, as text.

    Of a configuration: what it needs, what shares with what, and how its numbers come about; options are those of `load`.
    `explanation` gives the same as an object. Raises ValueError for a code that does not exist.
    """
    from .report.page import means_code, read_page

    if isinstance(file_or_code, str) and means_code(file_or_code):
        from .report.explain import render
        from .solver.advice import ADVICE
        from .solver.rules import RULES

        return render(read_page(file_or_code, (*RULES, *ADVICE)))
    from .report.explanation.text import render as to_text

    return to_text(explanation(file_or_code, cluster, dialect, **options), level=options.get("level", DEFAULT_LEVEL))


def explanation(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Explanation:
    """What a configuration comes to: its needs, what is shared, the derivations. Options are those of `load`."""
    from .planner.explain import explain as explained

    def read(machines: Machines) -> Reading:
        return load(file, machines, dialect, **options)

    return explained(read(cluster), read)


def read_plan(path: str | Path) -> Plan:
    """The plan in a file. Raises UnusableInput."""
    from .models.placements.plan_file import read_plan as read

    return read(path)


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan to a file, whole or not at all. Raises OSError."""
    from .models.placements.plan_file import plan_to_json, write_whole

    write_whole(path, plan_to_json(plan))


def _machines(given: Machines) -> Cluster | AsDeclared | None:
    """The machines in any form. Raises TypeError for what is none."""
    if isinstance(given, (str, Path)):
        return cluster(given)
    if given is None or isinstance(given, (Cluster, AsDeclared)):
        return given
    raise TypeError(f"a cluster is a shorthand, the path of a cluster file or a Cluster, not {type(given).__name__}")
