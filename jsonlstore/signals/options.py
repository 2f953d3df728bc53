"""What differs between setups: the names of tools, where projects live, which stages count as pending."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from jsonlstore.core.values import value_class

RULES = 6  # told with each distilled state: what older rules told is worth distilling again


def _names(*names: str) -> frozenset[str]:
    return frozenset(names)


@value_class(frozen=True, slots=True)
class ToolNames:
    """Which tool does what. Compared in lower case, with a server prefix (`mcp__cortex__`) taken off."""

    execute: frozenset[str] = _names("exec", "bash", "shell", "run", "process", "execute", "terminal", "bashexecution")
    file: frozenset[str] = _names(
        "read", "write", "edit", "apply_patch", "multiedit", "notebookedit", "str_replace", "create", "view"
    )
    learn: frozenset[str] = _names("cortex_add", "memory_store", "memory_add")
    adjust: frozenset[str] = _names("cortex_update", "memory_update")
    recall: frozenset[str] = _names("cortex_stm", "cortex_search", "memory_search")
    pin: frozenset[str] = _names("working_memory", "wm", "wm_pin", "wm_unpin", "wm_clear")
    sop: frozenset[str] = _names("sop", "cortex_sop", "sop_lookup", "sop_ack")
    mail: frozenset[str] = _names("synapse", "synapse_send", "synapse_ack")

    @staticmethod
    @lru_cache(maxsize=512)  # a session has few tools, called many times
    def plain(name: str) -> str:
        """`name` as it is compared."""
        return name.rpartition("__")[2].rpartition(".")[2].lower()


@value_class(frozen=True, slots=True)
class SignalOptions:
    """Settings of the extraction; the defaults fit a plain OpenClaw with Cortex."""

    tools: ToolNames = field(default_factory=ToolNames)
    project_roots: tuple[str, ...] = ()
    pending_stages: frozenset[str] = _names("build", "verify", "validate", "security", "test", "deploy")
    stopwords: frozenset[str] = frozenset()
    first_match_patterns: bool = False
    max_topics: int = 20
    max_projects: int = 20
    max_learnings: int = 200
    max_notes: int = 60
    max_tasks: int = 100


# tools an agent is likely to have: their names say nothing about what a session was about
COMMON_TOOL_NAMES: frozenset[str] = (
    ToolNames().execute | ToolNames().file | ToolNames().learn | ToolNames().adjust | ToolNames().recall
    | ToolNames().pin | ToolNames().sop | ToolNames().mail
    | _names(
        "tool", "file", "path", "browser", "canvas", "nodes", "cron", "message", "gateway", "sessions_list",
        "sessions_history", "sessions_send", "sessions_spawn", "session_status", "web_search", "web_fetch",
        "memory_get", "image", "subagents", "agents_list", "tts", "grep", "find", "ls", "glob", "cortex_edit",
        "cortex_move", "cortex_dedupe", "cortex_predict", "cortex_session_continue", "atom_create", "atom_search",
        "update_plan", "toolcall", "toolresult", "webfetch", "websearch", "todowrite", "task",
    )
)  # fmt: skip
