"""`jsonlstore redact`: the redactor as a filter."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from jsonlstore.cli.console import json_option, print_json, with_example
from jsonlstore.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.redact import LineFinding


@with_example(
    "cat notes.md | jsonlstore redact > shareable.md",
    "git diff --cached | jsonlstore redact --check",
    "jsonlstore redact --explain < notes.md > shareable.md",
)
@click.command("redact")
@click.option("--check", is_flag=True, help="Print nothing on stdout; exit 1 if anything would be hidden.")
@click.option("--explain", is_flag=True, help="Say on stderr which rule hid what in which line; never the value.")
@click.option("--stats", is_flag=True, help="Say on stderr how often each rule hid something.")
@click.option(
    "--rules", type=click.Path(exists=True, dir_okay=False), help="Your own rules, in addition to the built-in ones."
)
@json_option
def redact_command(check: bool, explain: bool, stats: bool, rules: str | None, as_json: bool) -> int:
    """Copy stdin to stdout with secrets hidden: the key stays, the value becomes [REDACTED].

    Text of any size is fine; JSON lines stay JSON. Text in <private>…</private> is dropped. With --check, the
    kinds and line numbers go to stderr (with --json: to stdout), never the secrets.

    A rules file has one rule a line: kind, shape (RE2), example and counter-example, joined by tabs; a line
    `leave<TAB>value` names a value that is no secret. The watcher and the hooks use the file that the setting
    `redact_rules` or the environment variable JSONLSTORE_REDACT_RULES names.
    """
    if as_json and not (check or stats):
        raise UsageError("redact --json needs --check", hint="without --check, stdout is the redacted text")
    _use(rules)
    from jsonlstore.redact import redact_stream

    findings: list[LineFinding] = []
    for piece in redact_stream(sys.stdin.buffer):
        findings += piece.findings if check or explain or stats else []
        if not check and not as_json:
            sys.stdout.buffer.write(piece.data)
    sys.stdout.buffer.flush()
    _tell(findings, listed=check or explain, counted=stats, as_json=as_json)
    return 1 if check and findings else 0


def _use(rules: str | None) -> None:
    """Take the user's rules, or say what is wrong with them."""
    import os

    from jsonlstore.redact import own_rules

    if rules is not None:
        os.environ["JSONLSTORE_REDACT_RULES"] = rules
        own_rules.cache_clear()
    problems = own_rules().problems
    if problems:
        raise UsageError(f"the rules file is wrong: {problems[0]}", hint="\n".join(problems[1:]) or None)


def _tell(findings: Iterable[LineFinding], *, listed: bool, counted: bool, as_json: bool) -> None:
    counts = Counter(found.kind for found in findings)
    if as_json:
        document: dict[str, object] = {}
        if listed:
            document["findings"] = [{"kind": found.kind, "line": found.line} for found in findings]
        if counted:
            document["counts"] = dict(counts.most_common())
        print_json(document)
        return
    if listed:
        for found in findings:
            click.echo(f"line {found.line}: {found.kind}", err=True)
    if counted:
        for kind, count in counts.most_common():
            click.echo(f"{count:6} {kind}", err=True)
