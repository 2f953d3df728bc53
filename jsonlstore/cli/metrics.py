"""`metrics`, `metrics verify`: what happened, and whether the record of it is whole."""

from __future__ import annotations

import click

from jsonlstore.cli.app import Session, json_option, pass_session, print_json, say, with_example
from jsonlstore.store.metrics import METRIC_EVENTS


@with_example("jsonlstore metrics --event session_restored --json", "jsonlstore metrics verify")
@click.group("metrics", invoke_without_command=True)
@click.option("--event", type=click.Choice(list(METRIC_EVENTS)), help="Only this kind.")
@json_option
@pass_session
@click.pass_context
def metrics(ctx: click.Context, /, session: Session, event: str | None, as_json: bool) -> None:
    """What was captured, restored, decayed, surfaced and traversed."""
    if ctx.invoked_subcommand:
        return
    records = list(session.open_store().metrics.read(event))
    if as_json:
        print_json(records)
        return
    for record in records:
        rest = {key: value for key, value in record.items() if key not in ("seq", "at", "event", "prev", "hash")}
        say(f"{record.get('at')} {record.get('event')} " + " ".join(f"{k}={v}" for k, v in rest.items()))


@with_example("jsonlstore metrics verify --json")
@metrics.command("verify")
@json_option
@pass_session
@click.pass_context
def verify(ctx: click.Context, /, session: Session, as_json: bool) -> None:
    """Check the hash chain; exit 1 and name the line if it is broken."""
    verdict = session.open_store().metrics.verify()
    if as_json:
        print_json(verdict.to_dict())
    elif verdict.ok:
        click.echo(f"ok: {verdict.records} records, head {verdict.head}")
    else:
        click.echo(f"error: metrics.jsonl line {verdict.line}: {verdict.problem}", err=True)
    ctx.exit(0 if verdict.ok else 1)
