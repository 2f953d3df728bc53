"""brain.db, Cortex's SQLite file: our sessions in its `session_states` table, its rows in our store.

The log is the truth, the table a copy for other tools. Nothing else in the file is created, altered or written.

`attach` makes a store write every change through; `export_sessions` reconciles the whole table. Both decide in
`reconcile` whether a row is behind. What a live write could not bring waits in the backlog, which `brain_db_status`
reports and the next success works off. `import_sessions` makes sessions of rows, `memories_of` reads the confidence of
Cortex's memories, and `MetricsDb` copies our metrics into its metrics.db. A hook passes this door at every start; it
pays for SQLite only when there is a brain.db.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.bridges.braindb.backlog import BrainDbStatus, brain_db_status
    from jsonlstore.bridges.braindb.cortex import MetricsDb, StmMemories
    from jsonlstore.bridges.braindb.database import Writer, connected, create_empty
    from jsonlstore.bridges.braindb.export import ExportReport, export_sessions
    from jsonlstore.bridges.braindb.importer import ImportReport, import_sessions
    from jsonlstore.bridges.braindb.migration import columns_of, migrate_table
    from jsonlstore.bridges.braindb.rows import as_dict, parse_stored_time
    from jsonlstore.bridges.braindb.schema import COLUMNS, LISTS
    from jsonlstore.bridges.braindb.sync import BrainDbSync
    from jsonlstore.core.config import Config
    from jsonlstore.store import SessionStore


__all__ = [
    "COLUMNS",
    "LISTS",
    "BrainDbStatus",
    "BrainDbSync",
    "ExportReport",
    "ImportReport",
    "MetricsDb",
    "StmMemories",
    "Writer",
    "as_dict",
    "attach",
    "brain_db_status",
    "columns_of",
    "connected",
    "create_empty",
    "export_sessions",
    "import_sessions",
    "is_in_use",
    "memories_of",
    "metrics_db",
    "migrate_table",
    "parse_stored_time",
    "resolve_brain_db",
]

__getattr__ = lazy(
    __name__,
    {
        "backlog": "BrainDbStatus brain_db_status",
        "cortex": "MetricsDb StmMemories",
        "database": "Writer connected create_empty",
        "export": "ExportReport export_sessions",
        "importer": "ImportReport import_sessions",
        "migration": "columns_of migrate_table",
        "rows": "as_dict parse_stored_time",
        "schema": "COLUMNS LISTS",
        "sync": "BrainDbSync",
    },
)


def resolve_brain_db(config: Config, state_dir: Path, env: Mapping[str, str] = os.environ) -> Path:
    """The config's path, else `$CORTEX_DATA_DIR/brain.db`, else `workspace/memory/brain.db` of the state directory.

    An existing `brain.db` directly in the state directory is taken when there is none in the workspace.
    """
    if config.brain_db_path:
        return state_dir / Path(config.brain_db_path).expanduser()
    if env.get("CORTEX_DATA_DIR"):
        return Path(env["CORTEX_DATA_DIR"]).expanduser().absolute() / "brain.db"
    usual, old = state_dir / "workspace" / "memory" / "brain.db", state_dir / "brain.db"
    return old if old.exists() and not usual.exists() else usual


def is_in_use(config: Config, brain_db: Path) -> bool:
    """Is this brain.db written to: switched on, or there and not switched off?"""
    if not config.enabled or config.brain_db_enabled is False:
        return False
    return config.brain_db_enabled is True or brain_db.exists()


def metrics_db(state_dir: Path) -> Path:
    """Where Cortex keeps its metrics.db."""
    return state_dir / "metrics.db"


def attach(store: SessionStore, config: Config, env: Mapping[str, str] = os.environ) -> BrainDbSync | None:
    """Make the store write through to brain.db (and metrics.db) as the config says; None if it says no."""
    if not config.enabled:
        return None
    if config.metrics_db:
        from jsonlstore.bridges.braindb.cortex import MetricsDb

        store.metrics.listeners.append(MetricsDb(metrics_db(store.paths.state_dir)))
    if config.brain_db_enabled is False:
        return None
    from jsonlstore.bridges.braindb.sync import BrainDbSync

    path = resolve_brain_db(config, store.paths.state_dir, env)
    sync = BrainDbSync(store, path, forced=config.brain_db_enabled is True)
    store.listeners.append(sync)
    return sync


def memories_of(store: SessionStore, config: Config, env: Mapping[str, str] = os.environ) -> StmMemories | None:
    """Where inherited memories get their confidence from, read only; None without a brain.db."""
    path = resolve_brain_db(config, store.paths.state_dir, env)
    if not is_in_use(config, path) or not path.exists():
        return None
    from jsonlstore.bridges.braindb.cortex import StmMemories

    return StmMemories(path, clock=store.clock)
