"""brain.db, Cortex's SQLite file: our sessions in its `session_states` table, its rows in our store.

The log is the truth, the table a copy for other tools. Nothing else in the file is created, altered or written.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.bridges.braindb.export import ExportReport, export_sessions
    from jsonlstore.bridges.braindb.importer import ImportReport, import_sessions
    from jsonlstore.bridges.braindb.location import resolve_brain_db
    from jsonlstore.bridges.braindb.memories import StmMemories
    from jsonlstore.bridges.braindb.metrics import MetricsDb
    from jsonlstore.bridges.braindb.status import BrainDbStatus, brain_db_status
    from jsonlstore.bridges.braindb.sync import BrainDbSync, attach

__all__ = [
    "BrainDbStatus",
    "BrainDbSync",
    "ExportReport",
    "ImportReport",
    "MetricsDb",
    "StmMemories",
    "attach",
    "brain_db_status",
    "export_sessions",
    "import_sessions",
    "resolve_brain_db",
]

_HOME = {
    "BrainDbStatus": "status",
    "BrainDbSync": "sync",
    "ExportReport": "export",
    "ImportReport": "importer",
    "MetricsDb": "metrics",
    "StmMemories": "memories",
    "attach": "sync",
    "brain_db_status": "status",
    "export_sessions": "export",
    "import_sessions": "importer",
    "resolve_brain_db": "location",
}


def __getattr__(name: str) -> Any:
    # a hook attaches the bridge at every start; it pays for SQLite only when there is a brain.db
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
