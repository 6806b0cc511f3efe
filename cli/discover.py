"""Verb `placewright discover`: the machines of a cluster, as a cluster file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..models.findings.finding import UnusableInput
from ..models.findings.wording import with_noun
from .exit_codes import OK
from .launching import print_failure
from .options.shared import echo_unusable, form_option
from .options.standard_input import DASH
from .output.findings import echo_findings
from .output.text import echo

if TYPE_CHECKING:
    from ..runtime.discover import Discovery


@click.command()
@click.option("--address", metavar="HOST:PORT", help="The nodes of the Ray cluster there, which this machine is part of.")
@click.option("--slurm", is_flag=True, help="The machines of the Slurm job that this shell is in.")
@click.option("--nvidia-smi", "texts", multiple=True, metavar="FILE...", help="What `nvidia-smi -L` printed, of one machine or more each.")
@click.option(
    "--topo", "matrices", multiple=True, metavar="FILE", help="What `nvidia-smi topo -m` printed: one for each machine, or for all."
)
@click.argument("more", nargs=-1, metavar="")
@click.option("-o", "--output", "output", metavar="OUT", help="Write the cluster file there; without it, to standard output.")
@click.option("--force", is_flag=True, help="Write over OUT if it is there already.")
@form_option
def discover(
    address: str | None, slurm: bool, texts: tuple[str, ...], matrices: tuple[str, ...], more: tuple[str, ...], output: str | None,
    force: bool, form: str,
) -> int:  # fmt: skip
    """List the machines, and write them as a cluster file.

    One process on each node of a Ray cluster reads the accelerators that the driver reports, their ids, NVLink and NUMA, and the
    accelerators that other jobs hold. Nodes are in the order of their ranks: by the label placewright.node-rank, else by
    RLINF_NODE_RANK or NODE_RANK, else by rack, address and name.

    \b
    placewright discover --address 10.0.0.1:6379 -o cluster.yaml
    placewright discover --nvidia-smi gpu-a.txt gpu-b.txt --topo topo.txt
    """
    from ..runtime.discover import from_files

    if more and not texts:
        raise click.UsageError(f"unexpected `{more[0]}`; texts of nvidia-smi follow --nvidia-smi")
    if (address is not None) + (slurm or bool(texts)) != 1:
        raise click.UsageError("name what is to be discovered, one of --address HOST:PORT, --slurm and --nvidia-smi FILE")
    if matrices and not texts:
        raise click.UsageError("--topo belongs to --nvidia-smi")
    outcome = _discover_ray(address, form) if address is not None else from_files(slurm, (*texts, *more), matrices)
    return outcome if isinstance(outcome, int) else _show(outcome, output, force, form)


def _discover_ray(address: str, form: str) -> Discovery | int:
    """Discover a Ray cluster; on failure print the reason and return the exit code."""
    from ..runtime.discover import at_address
    from ..runtime.failure import LaunchFailed

    try:
        return at_address(address)
    except LaunchFailed as problem:
        if form != "json":
            return print_failure(problem, "nothing was discovered")
        echo_unusable(UnusableInput(problem.findings), form)
        return problem.exit_code


def _show(discovery: Discovery, output: str | None, force: bool, form: str) -> int:
    """Write and print the cluster file and the table of nodes."""
    from ..report.discovered import nodes_table, to_cluster_file, to_json
    from ..report.text import render_unchecked
    from .written import write_new

    output = None if output == DASH else output
    if output:
        write_new(output, to_cluster_file(discovery.cluster), force)
    if form == "json":
        click.echo(to_json(discovery.cluster, discovery.notes, discovery.unchecked))
        return OK
    to_stderr = not output
    if to_stderr:
        click.echo(to_cluster_file(discovery.cluster), nl=False)
        sys.stdout.flush()
        click.echo(err=True)
    echo(nodes_table(discovery.cluster) + "\n", err=to_stderr)
    if discovery.notes:
        echo_findings(discovery.notes, err=to_stderr)
    if discovery.unchecked:
        echo(render_unchecked(discovery.unchecked) + "\n", err=to_stderr)
    count = f"{with_noun(len(discovery.cluster.nodes), 'node', ',')}, {with_noun(discovery.cluster.total(), 'accelerator', ',')}"
    echo(f"found {count}" + (f"; wrote {output}" if output else ""), err=to_stderr)
    return OK
