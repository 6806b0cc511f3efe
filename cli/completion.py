"""Verb `placewright completion`: completion of a shell."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print what makes a shell complete verbs, options, codes, dialects and names of nodes.

    \b
    eval "$(placewright completion bash)"      # in ~/.bashrc; bash 4.4 and newer
    eval "$(placewright completion zsh)"       # in ~/.zshrc
    placewright completion fish > ~/.config/fish/completions/placewright.fish
    """
    from click.shell_completion import shell_complete

    verbs = click.get_current_context().find_root().command
    return shell_complete(verbs, {}, "placewright", "_PLACEWRIGHT_COMPLETE", f"{shell}_source")
