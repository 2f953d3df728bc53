"""From a transcript to meaning: pure functions and small accumulators, no I/O.

`distil.Distiller` is fed the entries of one session in order and asked for its `Signals` (`session_signals`). On the
way `tool_calls` follows calls to their results, and `evidence` (with `shell`, `outcome`, `families`, `todos`) keeps
what they did; `conversation` keeps the talk as exchanges; `choices` and `offers` read what the user decided and what
the assistant left open; `topics` and `projects` say what it was about. At the end `ending` says where it stopped,
`obstacles` what is in the way, and `conclusions` puts it together: what later evidence closes is closed (`closings`),
and what is not supported is not said. Languages are data: one file each in `languages/`, read by `language`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.signals.background import word_rarity
    from jsonlstore.signals.distil import Distiller
    from jsonlstore.signals.explain import sources
    from jsonlstore.signals.facts import SessionFacts, memory_files_in
    from jsonlstore.signals.options import RULES, SignalOptions
    from jsonlstore.signals.pipeline import closed_in_pipeline, pipeline_tasks
    from jsonlstore.signals.projects import project_of
    from jsonlstore.signals.rarity import by_rarity, session_rarity
    from jsonlstore.signals.session_signals import Signals
    from jsonlstore.signals.tasks import TaskBook, hash_id
    from jsonlstore.signals.topics import HotTopicExtractor
    from jsonlstore.signals.words import content_words, keywords


__all__ = [
    "RULES",
    "Distiller",
    "HotTopicExtractor",
    "SessionFacts",
    "SignalOptions",
    "Signals",
    "TaskBook",
    "by_rarity",
    "closed_in_pipeline",
    "content_words",
    "hash_id",
    "keywords",
    "memory_files_in",
    "pipeline_tasks",
    "project_of",
    "session_rarity",
    "sources",
    "word_rarity",
]

__getattr__ = lazy(
    __name__,
    {
        "background": "word_rarity",
        "distil": "Distiller",
        "explain": "sources",
        "facts": "SessionFacts memory_files_in",
        "options": "RULES SignalOptions",
        "projects": "project_of",
        "rarity": "by_rarity session_rarity",
        "session_signals": "Signals",
        "pipeline": "closed_in_pipeline pipeline_tasks",
        "tasks": "TaskBook hash_id",
        "topics": "HotTopicExtractor",
        "words": "content_words keywords",
    },
)
