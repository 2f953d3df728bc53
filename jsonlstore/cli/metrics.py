"""`metrics`: what was captured, restored, told and delivered, as a summary with bars or as the raw records."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import answer, command, json_option, now_option, print_json, say, with_example
from jsonlstore.cli.formatting import ago, bar, counted, heading, local, say_folded, say_line, say_value
from jsonlstore.cli.listing import Span, span_options
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import JsonlStoreError
from jsonlstore.store import METRIC_EVENTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from jsonlstore.cli.app import App
    from jsonlstore.store import SessionStore

Record = dict[str, Any]
_DAYS = 14
_SEALS = ("seq", "at", "event", "prev", "hash")


@with_example(
    "jsonlstore metrics",
    "jsonlstore metrics --since 7d --event session_restored",
    "jsonlstore metrics --json | jq '.[-1]'",
    "jsonlstore metrics verify",
)
@click.group("metrics", invoke_without_command=True)
@click.option("--event", type=click.Choice(list(METRIC_EVENTS)), metavar="NAME", help="List the records of this kind.")
@span_options(100_000)
@now_option
@json_option
@click.pass_obj
def metrics(app: App, /, event: str | None, as_json: bool, **span: Any) -> None:
    """Summarise what was captured, restored, told and delivered; --json gives the raw records.

    \b
    Kinds of records: session_captured, session_restored, pending_task_surfaced,
    confidence_decay_applied, session_chain_traversal, handoff_captured,
    handoff_offered, handoff_claimed, flush_offered, flush_actioned.
    """
    if click.get_current_context().invoked_subcommand:
        return
    store = app.open_store()
    records = Span(**span).pick(store.metrics.read(event), lambda one: one.get("at"), app.clock(), "record")
    if as_json:
        print_json(records)
    elif event is not None:
        for record in records:
            _print_record(record)
    elif not records:
        say("no metrics yet: they begin with the first session that is captured or restored", err=True)
    else:
        _print_summary(app, store, records)


def _print_record(record: Record) -> None:
    rest = "; ".join(f"{key} {_shown(value)}" for key, value in record.items() if key not in _SEALS)
    say_folded(f"{local(record.get('at'))}  {rest}", indent="    ")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "-"
    if value is None or isinstance(value, bool):
        return "-" if value is None else "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _print_summary(app: App, store: SessionStore, records: Sequence[Record]) -> None:
    now = app.clock()
    of: dict[str, list[Record]] = {name: [] for name in METRIC_EVENTS}
    for record in records:
        of.setdefault(str(record.get("event")), []).append(record)
    first = records[0].get("at")
    say_line(f"{counted(len(records), 'record')} since {local(first)} ({ago(first, now)})", dim=True)
    _print_sessions(of, now)
    _print_tasks(of, _closed(store, str(first or "")))
    _print_delivery(store, now)
    _print_decay(of["confidence_decay_applied"])
    _print_handoffs(of)
    if of["session_chain_traversal"]:
        heading("Chains")
        say_value("followed", counted(len(of["session_chain_traversal"]), "time"), columns=11)


def _bars(rows: Sequence[tuple[str, int, str]]) -> None:
    most = max((number for _, number, _ in rows), default=0)
    for label, number, remark in rows:
        say_line(f"  {label:<11}{number:>6,}  {bar(number, most):<20}  {remark}".rstrip())


def _print_sessions(of: dict[str, list[Record]], now: datetime) -> None:
    captured, restored = of["session_captured"], of["session_restored"]
    crashed = sum(bool(one.get("crash_recovered")) for one in captured)
    cold = sum(bool(one.get("cold_start")) for one in restored)
    heading("Sessions")
    _bars(
        [
            ("captured", len(captured), f"{crashed:,} ended by a crash" if crashed else ""),
            ("restored", len(restored) - cold, f"and {cold:,} began with nothing to restore" if cold else ""),
        ]
    )
    days = Counter(str(one.get("at"))[:10] for one in captured)
    span = [format_time(now - timedelta(days=ahead))[:10] for ahead in reversed(range(_DAYS))]
    if any(days[day] for day in span):
        most = max(days[day] for day in span)
        row = "".join(_SPARKS[-(-8 * days[day] // most)] for day in span)
        say_value("by day", f"|{row}|  the last {_DAYS} days, {most:,} at most", columns=11)


_SPARKS = " ▁▂▃▄▅▆▇█"


def _print_tasks(of: dict[str, list[Record]], closed: int) -> None:
    surfaced = of["pending_task_surfaced"]
    if not surfaced and not closed:
        return
    different = len({one.get("task_id") for one in surfaced})
    heading("Tasks")
    _bars([("surfaced", len(surfaced), f"{counted(different, 'task')}" if surfaced else ""), ("closed", closed, "")])


def _closed(store: SessionStore, since: str) -> int:
    """How many tasks and other open points sessions closed since then."""
    found = 0
    for entry in store.entries():
        if (entry.end_time or entry.updated_at or "") < since:
            continue
        try:
            found += len(store.get(entry.session_id).closed)
        except JsonlStoreError:
            continue  # removed since the index was read: the doctor's to tell
    return found


def _print_delivery(store: SessionStore, now: datetime) -> None:
    from jsonlstore.bridges.openclaw import plugin_status
    from jsonlstore.cli.status import delivered

    found = plugin_status(store.paths)
    if found.installed:
        heading("Delivery")
        say_value("last", delivered(found.to_dict(), now) if found.delivery else "nothing was given yet", columns=11)


def _print_decay(decayed: Sequence[Record]) -> None:
    if not decayed:
        return
    heading("Confidence")
    before = sum(float(one.get("original_confidence") or 0) for one in decayed) / len(decayed)
    after = sum(float(one.get("decayed_confidence") or 0) for one in decayed) / len(decayed)
    left = sum(bool(one.get("excluded")) for one in decayed)
    say_value("decayed", f"{counted(len(decayed), 'time')}, {counted(left, 'memory', 'memories')} left out", columns=11)
    for label, value in (("before", before), ("after", after)):
        say_line(f"  {label:<11}{value:>6.2f}  {bar(value, 1.0)}".rstrip())


def _print_handoffs(of: dict[str, list[Record]]) -> None:
    rows = [(name, len(of[f"handoff_{name}"]), "") for name in ("captured", "offered", "claimed")]
    if any(number for _, number, _ in rows):
        heading("Handoffs")
        _bars(rows)


@with_example("jsonlstore metrics verify --json")
@command("verify", "--json", group=metrics)
def verify(app: App, as_json: bool) -> int:
    """Check the hash chain. Exit 1 and name the line if it is broken."""
    verdict = app.open_store().metrics.verify()

    def tell() -> None:
        if verdict.ok:
            say(f"ok: {counted(verdict.records, 'record')}, the last one's hash is {verdict.head}")
        else:
            say(f"error: metrics.jsonl line {verdict.line}: {verdict.problem}", err=True)

    answer(as_json, verdict.to_dict(), tell)
    return 0 if verdict.ok else 1
