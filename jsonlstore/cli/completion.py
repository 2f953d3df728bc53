"""`completion`: tab completion for bash, zsh and fish."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from jsonlstore.cli.app import with_example


@with_example('eval "$(jsonlstore completion bash)"', "jsonlstore completion fish | source")
@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from jsonlstore.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "jsonlstore", "_JSONLSTORE_COMPLETE").source_vars()
    click.echo(found.source_template % script)
