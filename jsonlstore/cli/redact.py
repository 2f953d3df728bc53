"""`jsonlstore redact`: the redactor as a filter."""

from __future__ import annotations

import sys

import click

from jsonlstore.cli.console import json_option, print_json, with_example
from jsonlstore.core.errors import UsageError


@with_example("cat notes.md | jsonlstore redact > shareable.md", "git diff --cached | jsonlstore redact --check")
@click.command("redact")
@click.option("--check", is_flag=True, help="Print nothing on stdout; exit 1 if anything would be hidden.")
@json_option
def command(check: bool, as_json: bool) -> int:
    """Copy stdin to stdout with secrets hidden: the key stays, the value becomes [REDACTED].

    Text of any size is fine; JSON lines stay JSON. What stands in <private>…</private> is dropped. With --check, the
    kinds and line numbers go to stderr (with --json: to stdout), never the secrets.
    """
    from jsonlstore.redact import redact_stream

    if as_json and not check:
        raise UsageError("redact --json needs --check", hint="without --check, stdout is the redacted text")
    findings = []
    for piece in redact_stream(sys.stdin.buffer):
        findings += piece.findings if check else []
        if not check:
            sys.stdout.buffer.write(piece.data)
    if not check:
        sys.stdout.buffer.flush()
        return 0
    if as_json:
        print_json({"findings": [{"kind": found.kind, "line": found.line} for found in findings]})
    else:
        for found in findings:
            click.echo(f"line {found.line}: {found.kind}", err=True)
    return 1 if findings else 0
