"""`session_states` and its three indexes, as the specification words them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE = "session_states"
IMPORTER = "import"  # who, in our logs, says what was read from a row

CREATE_TABLE = """\
CREATE TABLE IF NOT EXISTS session_states (
    -- Primary identity
    id TEXT PRIMARY KEY,                     -- UUID (session_id)
    start_time TEXT NOT NULL,                -- ISO 8601
    end_time TEXT,                           -- NULL = active or crashed
    channel TEXT DEFAULT 'unknown',          -- "signal", "cli", etc.

    -- Active context snapshots (JSON-encoded arrays)
    working_memory TEXT NOT NULL DEFAULT '[]',    -- WorkingMemoryPin[]
    hot_topics TEXT NOT NULL DEFAULT '[]',        -- string[]
    active_projects TEXT NOT NULL DEFAULT '[]',   -- string[]
    pending_tasks TEXT NOT NULL DEFAULT '[]',     -- PendingTask[]

    -- Knowledge state
    recent_learnings TEXT NOT NULL DEFAULT '[]',       -- string[] (memory IDs)
    confidence_updates TEXT NOT NULL DEFAULT '[]',     -- ConfidenceUpdate[]
    sop_interactions TEXT NOT NULL DEFAULT '[]',       -- SOPInteraction[]

    -- Session chain (bidirectional links)
    previous_session_id TEXT,               -- FK → prior session ID (nullable)
    continued_by TEXT,                      -- Set by next session on load

    -- Recovery metadata
    crash_recovered INTEGER DEFAULT 0,      -- 1 if recovered from unclean shutdown

    -- Schema versioning
    schema_version INTEGER DEFAULT 1,

    -- Timestamps
    created_at TEXT NOT NULL,
    updated_at TEXT
)"""

# index -> the statement that makes it, and the columns it needs
INDEXES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "idx_session_endtime": (
        "CREATE INDEX IF NOT EXISTS idx_session_endtime\n    ON session_states(end_time, start_time)",
        ("end_time", "start_time"),
    ),
    "idx_session_prev": (
        "CREATE INDEX IF NOT EXISTS idx_session_prev\n    ON session_states(previous_session_id)",
        ("previous_session_id",),
    ),
    "idx_session_channel": (
        "CREATE INDEX IF NOT EXISTS idx_session_channel\n    ON session_states(channel, start_time)",
        ("channel", "start_time"),
    ),
}

LISTS = (
    "working_memory",
    "hot_topics",
    "active_projects",
    "pending_tasks",
    "recent_learnings",
    "confidence_updates",
    "sop_interactions",
)
COLUMNS = (
    "id",
    "start_time",
    "end_time",
    "channel",
    *LISTS,
    "previous_session_id",
    "continued_by",
    "crash_recovered",
    "schema_version",
    "created_at",
    "updated_at",
)
