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
);

CREATE INDEX IF NOT EXISTS idx_session_endtime
    ON session_states(end_time, start_time);

CREATE INDEX IF NOT EXISTS idx_session_prev
    ON session_states(previous_session_id);

CREATE INDEX IF NOT EXISTS idx_session_channel
    ON session_states(channel, start_time);
