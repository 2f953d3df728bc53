"""`setup`: from a fresh installation to a remembering agent with one command."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jsonlstore.cli.console import command, print_error, print_json, say, with_example
from jsonlstore.cli.formatting import ago, counted, heading, megabytes, plain, say_folded, say_line
from jsonlstore.cli.openclaw import installation_of, installer_of, openclaw_option, print_install
from jsonlstore.cli.service import LINGERS, STOPS_AT_LOGOUT, service_of
from jsonlstore.core.errors import JsonlStoreError, SourceUnreadable, UsageError
from jsonlstore.core.paths import shorten_home

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.bridges.openclaw import Installation
    from jsonlstore.cli.app import App
    from jsonlstore.cli.overview import Overview
    from jsonlstore.watch import Service

_WATCHER_SECONDS = 10.0


@with_example("jsonlstore setup", "jsonlstore setup --yes --no-service")
@command("setup", "--dry-run", "--json")
@click.option("-y", "--yes", is_flag=True, help="Do all of it without asking.")
@click.option("--no-plugin", is_flag=True, help="Leave openclaw.json alone.")
@click.option("--no-service", is_flag=True, help="Do not run the watcher in the background.")
@click.option("--linger", is_flag=True, help="Keep the watcher running after you log out, too (systemd).")
@openclaw_option
def setup(app: App, named: str | None, dry_run: bool, as_json: bool, **wanted: bool) -> int:
    """Read all history, show what it was about, install plugin and watcher.

    Asks before each step. Safe to run again at any time.
    """
    parts = {"backfill": True, "plugin": not wanted["no_plugin"], "service": not wanted["no_service"]}
    ask = not (wanted["yes"] or dry_run)
    if ask and (as_json or not sys.stdin.isatty()):
        if parts["plugin"] or parts["service"]:
            raise UsageError(
                "there is nobody to ask: this is not a terminal",
                hint="`--yes` does all of it; `--no-plugin --no-service` only reads history",
            )
        ask = False  # reading history is all that is left, and was asked for
    run = _Setup(app, as_json=as_json, dry_run=dry_run, ask=ask, linger=wanted["linger"])
    found = run.detect(named)
    for part, do in (("backfill", run.backfill), ("plugin", lambda: run.plugin(found)), ("service", run.service)):
        if parts[part] and run.agreed(part):
            run.attempt(part, do)
        else:
            run.document[part] = {"skipped": True}
    return run.finish()


# each part's question, and what to know before answering it
_QUESTIONS = {
    "backfill": ("Read {them}?", "What is kept goes to {where}, without secrets; nothing leaves this machine."),
    "plugin": ("Add the plugin to openclaw.json?", "It is backed up first; `jsonlstore openclaw uninstall` undoes it."),
    "service": ("Run the watcher in the background, at every login?", "`jsonlstore service uninstall` undoes it."),
    "linger": (
        "Keep it running after you log out, too?",
        "systemd stops it when you log out, unless lingering is on; `jsonlstore service uninstall` switches that off.",
    ),
}


class _Setup:
    """One run: what it did, told as it goes or as one document in the end."""

    def __init__(self, app: App, *, as_json: bool, dry_run: bool, ask: bool, linger: bool) -> None:
        self._app = app
        self._as_json, self._dry_run, self._ask, self._linger = as_json, dry_run, ask, linger
        self._failed: list[str] = []
        self.document: dict[str, Any] = {"state_dir": str(app.state_dir), "dry_run": dry_run}

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
        self._say(f"{found.describe()}, {shorten_home(state_dir)}")
        for row in self.document["sources"]:
            self._say(
                f"  {plain(row['agent_id'])}: {counted(row['transcripts'], 'transcript')} in {media[row['kind']]}"
            )
        if not agents:
            self._say("  no transcripts yet: they are read as they come")
        return found

    def agreed(self, part: str) -> bool:
        """Whether to do a part: the user's word, where there is somebody to ask."""
        if not self._ask or (part == "backfill" and not self._history.sessions):
            return True
        return self._confirmed(part)

    def _confirmed(self, part: str) -> bool:
        """Explain, then ask."""
        question, known = _QUESTIONS[part]
        say()
        say_folded(known.format(where=shorten_home(self._app.state_dir / "sessions")))
        them = "it" if len(self._history.sessions) == 1 else "them"
        return click.confirm(question.format(them=them), default=True)

    def backfill(self) -> None:
        """Read what is not read yet, and show what it was about."""
        from jsonlstore.cli.overview import overview
        from jsonlstore.watch import attribute

        if self._dry_run:
            behind = len(self._history.behind())
            self.document["backfill"] = {"behind": behind}
            self._say(f"would read {behind:,} of {counted(len(self._history.sessions), 'transcript')}")
            return
        summary, seconds = self._history.read("reading")
        self.document["backfill"] = {**asdict(summary), "seconds": round(seconds, 3)}
        read = f"read {counted(summary.transcripts, 'transcript')}, {megabytes(summary.bytes)}"
        self._say(f"{read} in {seconds:.1f} s")
        for name, problem in summary.failed.items():
            self._say(f"warning: {plain(name)}: {plain(problem)}")
        if summary.failed:
            self._failed.append("backfill")
        attributed = attribute(self._history.store)
        self.document["attribution"] = asdict(attributed)
        if attributed.unknown:
            belong = "belongs" if attributed.unknown == 1 else "belong"
            self._say(
                f"{counted(attributed.unknown, 'session')} {belong} to no known conversation: the setting `scope`,"
            )
            self._say("set to `agent`, brings them back, too; only do that if nobody else talks to your agent")
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

    def attempt(self, part: str, do: Callable[[], None]) -> None:
        """One part; one that cannot be done does not keep the others from being done."""
        try:
            do()
        except JsonlStoreError as problem:
            self._failed.append(part)
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
            self._tell(f"  {problem.hint}")
            self._tell("  It works without: the plugin reads each conversation after every turn.")
            return
        # a service manager says "started" before the watcher is: the status that follows must find it
        deadline = time.monotonic() + _WATCHER_SECONDS
        while running(store.paths) is None and time.monotonic() < deadline:
            time.sleep(0.1)
        self.document["service"] = {"installed": True, "path": str(made.path), "detail": "started", "warnings": noted}
        self._say(f"installed and started: {made.path}")
        for note in noted:
            self._tell(f"  warning: {note}")
        self._offer_linger(made)

    def _offer_linger(self, made: Service) -> None:
        """A user's service ends with the user's last login; on a server nobody stays logged in."""
        self.document["service"]["lingers"] = made.lingers()
        if made.lingers() is not False:
            return
        if not (self._linger or (self._ask and self._confirmed("linger"))):
            self._tell(f"  {STOPS_AT_LOGOUT}")
            return
        try:
            made.keep_after_logout()
        except JsonlStoreError as problem:
            self._tell(f"  it could not be kept running: {problem.message}")
            self._tell(f"  {STOPS_AT_LOGOUT}")
            return
        self.document["service"]["lingers"] = True
        self._tell(f"  {LINGERS}")

    def finish(self) -> int:
        """How things stand now, and what to do next."""
        from jsonlstore.cli.status import collect_status, print_status

        found = collect_status(self._app)
        self.document["status"] = found.document
        self.document["next"] = self._next(found.document)
        if self._as_json:
            print_json(self.document)
        else:
            say()
            heading("Status")
            # what to do about the watcher was said above, and may just have failed
            print_status(found.document, self._app.clock(), advise_watcher="service" not in self.document)
            say()
            say_folded(self.document["next"], bold=True)
        # of what a dry run leaves unread, nothing has failed
        return 1 if self._failed or (found.failed and not self._dry_run) else 0

    def _next(self, status: dict[str, Any]) -> str:
        """The last line: what is done, and the one thing to do now."""
        if self._dry_run:
            return "Nothing was changed. `jsonlstore setup` does it."
        if "plugin" in self._failed:
            return "Not done: the plugin could not be installed, the error above says why and what to do."
        if self.document["plugin"].get("skipped"):
            return (
                "Done without the plugin: new sessions get nothing yet. Now look at what was read: `jsonlstore list`. "
                "`jsonlstore openclaw install` adds the plugin."
            )
        if "backfill" in self._failed:
            return "Done, but not every transcript could be read (see above). Now look closer: `jsonlstore doctor`."
        plugin = status["bridges"].get("openclaw_plugin") or {}
        gateway = "" if plugin.get("gateway_pid") else "start OpenClaw's gateway, "
        return (
            f"Done. Now {gateway}begin a new session (`/new` in a chat) and ask what is left to do; "
            "`jsonlstore openclaw status` then says what the agent was given."
        )

    def _tell(self, text: str) -> None:
        if not self._as_json:
            say_folded(text, indent="  ")

    def _say(self, text: str) -> None:
        if not self._as_json:
            say(text)
