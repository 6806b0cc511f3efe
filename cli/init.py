"""Verb `placewright init`: a native file from a model, a cluster and an algorithm."""

from __future__ import annotations

import click

from .options.job import DescribedJob, job_options
from .options.standard_input import DASH


@click.command()
@job_options
@click.option("-o", "--output", "output", metavar="FILE", help="Write the file; without it, to standard output.")
@click.option("--force", is_flag=True, help="Write over FILE if it is there already.")
def init(job: DescribedJob, output: str | None, force: bool) -> int:
    """Write the native file that `plan` would use, for you to change.

    \b
    placewright init --model Qwen/Qwen2.5-7B-Instruct --cluster 4x8xH100 \\
      --prompts 1024 --response 4096 -o job.yaml
    placewright solve job.yaml --write
    """
    from ..models.dialects.load import read
    from ..models.text.source import Source
    from .output.findings import echo_findings
    from .written import write_new

    reading = read(Source(output or "job.yaml", job.text), dialect="native")
    if reading.findings:
        echo_findings(reading.findings, err=True, texts=reading.document.texts)
    write_new(output or DASH, job.text, force)
    return 0
