"""`setup`: from a fresh installation to a remembering agent with one command."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import command, print_error, print_json, say, with_example
from jsonlstore.cli.formatting import ago, heading, plain, say_line
from jsonlstore.cli.openclaw import installation_of, installer_of, openclaw_option, print_install
from jsonlstore.cli.service import service_of
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable, UsageError
from jsonlstore.core.paths import shorten_home

if TYPE_CHECKING:
    from jsonlstore.bridges.openclaw import Installation
    from jsonlstore.cli.app import App
    from jsonlstore.cli.overview import Overview

_WATCHER_SECONDS = 10.0


@with_example("jsonlstore setup", "jsonlstore setup --yes --no-service")
@command("setup", "--dry-run", "--json")
@click.option("-y", "--yes", is_flag=True, help="Install plugin and service without asking.")
@click.option("--no-plugin", is_flag=True, help="Leave openclaw.json alone.")
@click.option("--no-service", is_flag=True, help="Do not run the watcher in the background.")
@openclaw_option
def setup(
    app: App, yes: bool, no_plugin: bool, no_service: bool, named: str | None, dry_run: bool, as_json: bool
) -> int:
    """Read all history, show what it was about, install plugin and watcher. Safe to run again at any time."""
    wanted = {"plugin": not no_plugin, "service": not no_service}
    if any(wanted.values()) and not (yes or dry_run) and (as_json or not sys.stdin.isatty()):
        raise UsageError(
            "there is nobody to ask: this is not a terminal",
            hint="`--yes` installs plugin and service; `--no-plugin --no-service` only reads history",
        )
    run = _Setup(app, as_json=as_json, dry_run=dry_run)
    found = run.detect(named)
    run.backfill()
    for part, install in (("plugin", lambda: run.plugin(found)), ("service", run.service)):
        agreed = wanted[part] and (yes or dry_run or click.confirm(_QUESTIONS[part], default=True))
        if agreed:
            run.attempt(part, install)
        else:
            run.document[part] = {"skipped": True}
    return run.finish()


_QUESTIONS = {
    "plugin": "\nAdd the plugin to openclaw.json (backed up first, `jsonlstore openclaw uninstall` undoes it)?",
    "service": "\nRun the watcher in the background, now and at every login?",
}


class _Setup:
    """One run: what it did, told as it goes or as one document in the end."""

    def __init__(self, app: App, *, as_json: bool, dry_run: bool) -> None:
        self._app = app
        self._as_json, self._dry_run = as_json, dry_run
        self._failed = False
        self.document: dict[str, Any] = {"state_dir": shorten_home(app.state_dir), "dry_run": dry_run}

    def detect(self, named: str | None) -> Installation:
        """What is on this machine; without any OpenClaw there is nothing to set up."""
        state_dir = self._app.state_dir
        if not state_dir.is_dir():
            hint = "name its directory with --state-dir, or see `jsonlstore demo` for what this would do"
            raise SourceUnreadable(f"no OpenClaw here: {state_dir} does not exist", hint=hint, path=state_dir)
        from jsonlstore.cli.watch import PastTranscripts

        found = installation_of(self._app, named)
        self._history = PastTranscripts(self._app, again=None)
        sources = [one.newest_source for one in self._history.sessions]
        media = {source.kind: source.medium for source in sources}
        agents = Counter((source.agent_id, source.kind) for source in sources)
        self.document["openclaw"] = found.to_dict()
        self.document["sources"] = [
            {"agent_id": agent, "kind": kind, "transcripts": count} for (agent, kind), count in sorted(agents.items())
        ]
        self._say(f"{found.describe()}, {self.document['state_dir']}")
        for row in self.document["sources"]:
            self._say(f"  {plain(row['agent_id'])}: {row['transcripts']} transcripts in {media[row['kind']]}")
        if not agents:
            self._say("  no transcripts yet: they are read as they come")
        return found

    def backfill(self) -> None:
        """Read what is not read yet, and show what it was about."""
        from jsonlstore.cli.overview import overview
        from jsonlstore.watch import attribute

        if self._dry_run:
            behind = len(self._history.behind())
            self.document["backfill"] = {"behind": behind}
            self._say(f"would read {behind} of {len(self._history.sessions)} transcripts")
            return
        summary, seconds = self._history.read("reading")
        self.document["backfill"] = {**asdict(summary), "seconds": round(seconds, 3)}
        self._failed |= bool(summary.failed)
        self._say(f"read {summary.transcripts} transcripts, {summary.bytes / 1e6:.1f} MB in {seconds:.1f} s")
        for name, problem in summary.failed.items():
            self._say(f"warning: {plain(name)}: {plain(problem)}")
        attributed = attribute(self._history.store)
        self.document["attribution"] = asdict(attributed)
        if attributed.unknown:
            self._say(f"{attributed.unknown} of no conversation that OpenClaw still knows: they come back only with")
            self._say("`scope` set to `agent`, which is for those who alone talk to their agent")
        seen = overview(self._history.store)
        self.document["overview"] = asdict(seen)
        if seen.sessions and not self._as_json:
            self._show(seen)

    def _show(self, seen: Overview) -> None:
        now = self._app.clock()
        say()
        heading("Here is what you were working on")
        if seen.projects:
            say_line(f"  projects  {', '.join(seen.projects)}")
        for task in seen.tasks:
            say_line(f"  open      {task.title} ({ago(task.at, now)})")
        for one in seen.last:
            say_line(f"  {ago(one.at, now):<9} {', '.join(one.topics) or one.channel}")

    def attempt(self, part: str, install: Any) -> None:
        """One part; one that cannot be done does not keep the others from being done."""
        try:
            install()
        except JsonlStoreError as problem:
            self._failed = True
            self.document[part] = {"error": problem.to_dict()}
            print_error(problem)

    def plugin(self, found: Installation) -> None:
        """OpenClaw's side."""
        outcome = installer_of(self._app).install(found, dry_run=self._dry_run)
        self.document["plugin"] = asdict(outcome)
        if not self._as_json:
            say()
            heading("Plugin")
            print_install(outcome, dry_run=self._dry_run)

    def service(self) -> None:
        """The watcher in the background; a machine without a service manager runs it in the foreground."""
        from jsonlstore.watch import NoServiceManager, running

        made = service_of(self._app)
        self._say("\nWatcher")
        if self._dry_run:
            self.document["service"] = {"path": str(made.path)}
            self._say(f"would write {made.path} and start it")
            return
        store = self._app.open_store()
        if running(store.paths) is not None and not made.path.exists():
            self.document["service"] = {"installed": False, "detail": "a watcher is already running"}
            self._say("already running, not as a service")
            return
        try:
            noted = made.install()
        except NoServiceManager as problem:
            self.document["service"] = {"installed": False, "detail": problem.message, "hint": problem.hint}
            self._say(f"not installed: {problem.message}")
            self._say(f"  {problem.hint}")
            return
        # a service manager says "started" before the watcher is: the status that follows must find it
        deadline = time.monotonic() + _WATCHER_SECONDS
        while running(store.paths) is None and time.monotonic() < deadline:
            time.sleep(0.1)
        self.document["service"] = {"installed": True, "path": str(made.path), "detail": "started", "warnings": noted}
        self._say(f"installed and started: {made.path}")
        for note in noted:
            self._say(f"  warning: {note}")

    def finish(self) -> int:
        """How things stand now."""
        from jsonlstore.cli.status import collect_status, status

        found = collect_status(self._app)
        self.document["status"] = found.document
        if self._as_json:
            print_json(self.document)
        else:
            say()
            heading("Status")
            click.get_current_context().invoke(status, expect_watcher=False, as_json=False)
        return 1 if self._failed or found.failed else 0

    def _say(self, text: str) -> None:
        if not self._as_json:
            say(text)
