"""Options that say a job by its model: those of `plan` and `init`."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from ...models.dialects.native.job_sizes import ALGORITHMS, JobRequest, JobSizes
from ...models.findings.finding import Severity, UnusableInput
from ...models.findings.wording import with_noun
from ...models.machines.cluster import Cluster
from ...models.machines.reading import read_machines
from ...models.machines.shorthand import DeclaredNodes
from ...models.model_cards.card import ModelCard
from ...models.placements.assignment import Assignment
from ...models.text.values import LARGEST
from ...models.training_job import ANY_FILE, FileLimits
from .completion_words import models
from .shared import Verb, with_options

_COUNT = click.IntRange(1, LARGEST)
IDLE = "PW801"


class DescribedJob(NamedTuple):
    """Native file that the options mean, their request, and the framework to write for."""

    text: str
    request: JobRequest
    cluster: Cluster
    framework: str = ""
    limits: FileLimits = ANY_FILE

    def file_of(self, text: str) -> str:
        """Return the framework's file for the native text with ranks; that text without a framework.

        Raises UnusableInput if the framework cannot express it, or refuses it at its newest release.
        """
        if not self.framework:
            return text
        from ...models.dialects.load import read
        from ...models.dialects.recognition import dialect_named
        from ...models.text.source import Source
        from ...models.training_job import training_job, with_backends
        from ...solver.verify import verify

        problem, request = read(Source("plan.yaml", text), dialect="native").problem, self.request
        if problem is None:
            raise ValueError("the native file of a plan cannot be read")
        problem = with_backends(problem)
        batch = (request.prompts, request.samples, request.prompt, request.response)
        title = f"{request.algorithm.upper()} of {request.model} on {with_noun(len(self.cluster.nodes), 'node')}, by `placewright plan`"
        configuration = dialect_named(self.framework).training_file(
            problem, training_job(problem, request.model, request.algorithm, *batch), title
        )
        name = "plan.sh" if configuration.startswith("#!") else "plan.yaml"
        report = verify(read(Source(name, configuration), self.cluster, self.framework))
        if report.errors:
            raise UnusableInput(report.errors)
        idle = self.idle_accelerators(Assignment({component.name: component.runs or () for component in problem.components}))
        is_warned = any(finding.code == IDLE and finding.severity is Severity.WARNING for finding in report.findings)
        reason = f"# placewright: ignore[{IDLE}] {idle}\n" if is_warned else f"# {idle}\n" if idle else ""
        return configuration.replace(f"# {title}", f"{reason}# {title}", 1)

    def idle_accelerators(self, assignment: Assignment) -> str:
        """Return a clause on idle accelerators, and if the batch is why; "" without any."""
        total, held_count, even = self.cluster.total(), assignment.count_held_together(assignment.runs), self.sizes.even_total
        by_batch = f", as {self.request.sequences} sequences divide among {even}" if held_count <= even < self.sizes.trainer[1] else ""
        return f"{total - held_count} of {total} accelerators are idle{by_batch}" if held_count < total else ""

    @property
    def sizes(self) -> JobSizes:
        """Sizes of the job on its machines."""
        from ...models.dialects.native.from_model import card_of_request

        return JobSizes(self.request, card_of_request(self.request), self.cluster, self.limits)

    def change(self, cluster: Cluster | None = None, prompts: int = 0) -> DescribedJob:
        """Return the same job on other machines, or with another number of prompts."""
        from ...models.dialects.native.from_model import native_file

        request, machines = replace(self.request, prompts=prompts or self.request.prompts), cluster or self.cluster
        return self._replace(text=native_file(request, machines, self.limits), request=request, cluster=machines)

    def command_of(self, file: str) -> str:
        """Return the command that runs a written file, of ROLL and RLinf in their checkout."""
        from ...models.dialects.recognition import dialect_named

        path = Path(file).resolve()
        return dialect_named(self.framework or "native").RUN.format(file=file, folder=path.parent, stem=path.stem)


def _model_of(name: str) -> tuple[str, ModelCard | None]:
    """Return the id of a model; else the folder of its `config.json` and numbers."""
    path = Path(name)
    config = path / "config.json" if path.is_dir() else path
    if not (path.is_dir() or path.suffix == ".json"):
        return name, None
    from ...models.model_cards.card import read_model_config

    return str(config.resolve().parent), read_model_config(config)


def _question(question: str) -> str | bool:
    """Return the question on a terminal; else a missing option is a usage error."""
    return question if sys.stdin is not None and sys.stdin.isatty() else False


def job_options(verb: Verb) -> Verb:
    """Add the options of a job to a verb, as the argument `job`.

    On a terminal it asks for what is missing. Raises UnusableInput for an unknown model.
    """

    @wraps(verb)
    def with_job(*arguments: Any, cluster: str, **options: Any) -> Any:
        from ...models.dialects.native.from_model import native_file
        from ...models.dialects.recognition import dialect_named

        request = {name: options.pop(name) for name in ("model", "algorithm", "prompts", "samples", "prompt", "response", "mean_response")}
        try:
            machines = read_machines(cluster)
        except ValueError as problem:
            raise click.BadParameter(str(problem), click.get_current_context(), param_hint="'--cluster'") from None
        if isinstance(machines, DeclaredNodes):
            raise click.BadParameter("it does not say how many nodes there are", click.get_current_context(), param_hint="'--cluster'")
        if request["mean_response"] > request["response"]:
            raise click.UsageError("--mean-response is larger than --response, the longest answer")
        model, card = _model_of(request["model"])
        job, framework = JobRequest(**request | {"model": model, "card": card}), options.pop("framework", None) or ""
        limits = dialect_named(framework).LIMITS if framework else ANY_FILE
        return verb(*arguments, job=DescribedJob(native_file(job, machines, limits), job, machines, framework, limits), **options)

    return with_options(
        with_job,
        click.option("--mean-response", type=click.IntRange(0, LARGEST), default=0, help="Tokens of an answer on average; unless said, a quarter to all of --response."),
        click.option("--response", type=_COUNT, required=True, prompt=_question("tokens of the longest answer"), help="Tokens of the longest answer."),
        click.option("--prompt", type=_COUNT, default=512, show_default=True, help="Tokens of a prompt."),
        click.option("--samples", type=_COUNT, default=8, show_default=True, help="Answers to each prompt."),
        click.option("--prompts", type=_COUNT, required=True, prompt=_question("prompts of an iteration"), help="Prompts of an iteration."),
        click.option("--algorithm", type=click.Choice(list(ALGORITHMS)), default="grpo", show_default=True, help="Decides which components there are."),
        click.option("--cluster", metavar="SHORTHAND|FILE", required=True, prompt=_question("cluster, such as 4x8xH100"), help="The machines."),
        click.option("--model", metavar="ID", required=True, prompt=_question("model, such as Qwen/Qwen2.5-7B-Instruct"), shell_complete=models, help="Id of a known model, or the `config.json` of any other."),
    )  # fmt: skip
