"""The one place where a command's parts are put together: settings, clock, store, brain.db and manager.

Hook calls come through here too, so this module loads neither click nor anything it may not need.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.bridges.braindb import attach, is_in_use, memories_of, resolve_brain_db
from jsonlstore.core.clock import Clock, system_clock
from jsonlstore.core.config import LoadedConfig, load_config
from jsonlstore.core.errors import ConfigError
from jsonlstore.core.logs import logger
from jsonlstore.redact import use_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from jsonlstore.core.config import Config
    from jsonlstore.restore import RelevanceSource, SessionPersistenceManager
    from jsonlstore.store import SessionFold, SessionStore

log = logger("jsonlstore.cli")


class App:
    """One command line: its global options, and what they lead to, opened on first use."""

    def __init__(
        self, state_dir: Path, config_file: str | None = None, *, debug: bool = False, lenient: bool = False
    ) -> None:
        """With `lenient`, as for hooks, a bad setting is a warning and not an error."""
        self.state_dir = state_dir
        self.config_file = config_file
        self.debug = debug
        self.now: datetime | None = None
        self._lenient = lenient
        self._loaded: LoadedConfig | None = None

    @property
    def loaded(self) -> LoadedConfig:
        """The settings and where each came from, read once."""
        if self._loaded is None:
            self._loaded = self.reload()
            for name in () if self._lenient else self._loaded.unknown:
                log.warning("unknown setting, ignored: %s", name)
            for warning in self._loaded.warnings:
                log.warning("config: %s", warning)
            self._use_rules(self._loaded.config)
        return self._loaded

    def _use_rules(self, config: Config) -> None:
        """Let the redactor take the user's rules before it first reads."""
        if config.redact_rules is None:
            return
        for problem in use_rules(self.state_dir / Path(config.redact_rules).expanduser()):
            if not self._lenient:
                raise ConfigError(f"redact_rules: {problem}", hint="see docs/redaction.md")
            log.warning("config: redact_rules: %s; this rule is left out", problem)

    def reload(self) -> LoadedConfig:
        """The settings as they are on disk now."""
        return load_config(self.state_dir, self.config_file, lenient=self._lenient)

    @property
    def config(self) -> Config:
        """The settings in force; `--debug` counts as one."""
        config = self.loaded.config
        if not self.debug or config.debug:
            return config
        from dataclasses import replace

        return replace(config, debug=True)

    @property
    def clock(self) -> Clock:
        """The time, or what `--now` says it is."""
        moment = self.now
        return system_clock if moment is None else lambda: moment

    def open_store(self, *, live: bool = True, long_lived: bool = False) -> SessionStore:
        """The store; `live` changes go on to brain.db as the settings say."""
        from jsonlstore.core.paths import StatePaths
        from jsonlstore.store import SessionStore

        config = self.loaded.config
        store = SessionStore(StatePaths.of(self.state_dir, config.sessions_dir), clock=self.clock)
        # a brain.db may appear beside a watcher; a command that is over in a moment need not load code to wait for one
        if live and (long_lived or config.metrics_db or is_in_use(config, resolve_brain_db(config, self.state_dir))):
            attach(store, config)
        if live:
            store.listeners.append(_project_handoffs(store, writes=config.enabled and config.handoff_enabled))
        return store

    def open_manager(self, *, by: str = "operator") -> SessionPersistenceManager:
        """What captures and restores; `by` is who its changes are recorded as."""
        from jsonlstore.restore import SessionPersistenceManager

        store, config = self.open_store(), self.config
        relevance = _relevance(store) if config.relevance_by_search and os.path.exists(store.paths.search) else None
        return SessionPersistenceManager(store, config, memories=memories_of(store, config), by=by, relevance=relevance)


def _relevance(store: SessionStore) -> RelevanceSource:
    """Ask the search index how well sessions fit a prompt; a restore that needs no tie broken does not load it."""

    def ask(prompt: str, session_ids: Sequence[str]) -> Mapping[str, float]:
        from jsonlstore.recall import IndexRelevance

        return IndexRelevance(store)(prompt, session_ids)

    return ask


def _project_handoffs(store: SessionStore, *, writes: bool) -> Callable[[str, SessionFold], None]:
    """Write `agents/<id>/handoff/` after a change of a handoff; no other change loads the code for it.

    A forgotten session leaves the files even where no new ones are written, and so does an archived one.
    """

    def listen(session_id: str, folded: SessionFold) -> None:
        changed = folded.handoff is not None and folded.seq - folded.handoff.get("seq", 0) <= 1
        archived = folded.handoff is not None and folded.ended and not store.paths.log(session_id).exists()
        if (changed and writes) or folded.forgotten or archived:
            from jsonlstore.bridges.openclaw import HandoffFiles

            HandoffFiles(store)(session_id, folded)

    return listen
