"""`mcp`: what is kept, for programs that speak the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.console import command, with_example

if TYPE_CHECKING:
    from jsonlstore.cli.app import App


@with_example(
    "jsonlstore mcp --session-key agent:main:main",
    "jsonlstore mcp --agent main --session-key agent:main:main --project lbf-ham-radio",
)
@command("mcp", "--now")
@click.option("--agent", metavar="A", help="The agent whose sessions may be seen (default: what the key names).")
@click.option("--session-key", metavar="KEY", help="The conversation whose sessions may be seen.")
@click.option("--channel", metavar="C", help="The channel, where no key is known.")
@click.option("--project", metavar="P", help="Only sessions that worked on this project.")
def mcp(app: App, agent: str | None, session_key: str | None, channel: str | None, project: str | None) -> None:
    """Serve tools, resources and a prompt over stdin and stdout, for one conversation.

    The setting `scope` and these options decide which sessions a client may see; nothing that it asks for widens that.
    No port is opened.
    """
    from jsonlstore import __version__
    from jsonlstore.bridges.mcp import McpServer, MemoryTools
    from jsonlstore.restore import Scope

    config = app.config
    scope = Scope.of(config.scope, agent, session_key, channel)
    tools = MemoryTools(app.open_store(live=False), config, scope, project=project)
    McpServer(tools, __version__).serve(sys.stdin.buffer, sys.stdout.buffer)
