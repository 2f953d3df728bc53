"""What everything that brings earlier sessions back works with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.clock import Clock, system_clock
from jsonlstore.restore.pins import PinFile
from jsonlstore.restore.tasks import workspace_file

if TYPE_CHECKING:
    from jsonlstore.core.config import Config
    from jsonlstore.restore.model import MemorySource
    from jsonlstore.store.store import SessionStore


class Inheritor:
    """A store, its settings, where memories are looked up, the time, and in whose name it is written."""

    def __init__(
        self,
        store: SessionStore,
        config: Config,
        *,
        memories: MemorySource | None = None,
        clock: Clock = system_clock,
        by: str = "hook",
    ) -> None:
        self._store = store
        self._config = config
        self._memories = memories
        self._clock = clock
        self._by = by

    def _pin_file(self, store: SessionStore) -> PinFile:
        return PinFile(workspace_file(store.paths.state_dir, self._config.working_memory), store)
