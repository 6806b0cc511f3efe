"""Verb `placewright serve-verify`: verify, solve and explain over HTTP."""

from __future__ import annotations

import os
import secrets
import socket

import click

from ..models.findings.finding import UnusableInput, error
from .options.shared import Seconds

KEY = "PLACEWRIGHT_KEY"


@click.command("serve-verify")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; others than this machine need it.")
@click.option("--port", type=click.IntRange(0, 65535), default=8470, show_default=True, help="The port; 0 for any that is free.")
@click.option("--processes", type=click.IntRange(1, 256), help="Processes that read what is posted.  [default: one per CPU]")
@click.option(
    "--limit", type=Seconds(), default=10.0, show_default=True, help="Seconds for one answer; a process that takes longer is ended."
)
@click.option("--no-key", is_flag=True, help="Answer without a key, on this machine alone.")
def serve_verify(host: str, port: int, processes: int | None, limit: float, no_key: bool) -> int:
    """Answer POST /verify, POST /solve and GET /explain/CODE; /docs says what they take.

    The key is that of PLACEWRIGHT_KEY, or a new one that is printed. Only the posted text is read:
    no file of this machine. Needs the extra `serve`.

    \b
    placewright serve-verify
    curl http://127.0.0.1:8470/verify -H "Authorization: Bearer $KEY" \\
      -d '{"text": "...", "cluster": "2x8"}'
    """
    if no_key and host not in ("127.0.0.1", "::1", "localhost"):
        raise click.UsageError(f"without a key only this machine is answered: leave out --no-key or --host {host}")
    try:
        import uvicorn

        from .service.app import build_app
        from .service.workers import WorkerPool
    except ModuleNotFoundError as problem:
        add = '`pip install "placewright[serve]"`'
        raise UnusableInput([error("PW001", "", f"a service needs `{problem.name}`, which is not installed", help=add)]) from None
    key = "" if no_key else os.environ.get(KEY) or secrets.token_urlsafe(24)
    app = build_app(WorkerPool(processes or os.cpu_count() or 1, limit), key)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="error", access_log=False, proxy_headers=False, timeout_graceful_shutdown=2
    )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=config.backlog)  # who reads the line below may connect at once
    except OSError as problem:
        words = f"the service cannot listen on `{host}`, port {port}: {problem.strerror or problem}"
        raise UnusableInput([error("PW001", "", words, help="name another `--port` or `--host`")]) from None
    where = f"http://{host if ':' not in host else f'[{host}]'}:{bound.getsockname()[1]}"
    click.echo(f"serving on {where}, key {key}" if key and KEY not in os.environ else f"serving on {where}")
    uvicorn.Server(config).run(sockets=[bound])
    return 0
