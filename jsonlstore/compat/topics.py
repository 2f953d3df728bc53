"""`HotTopicExtractor` under the names of the documents: both their own spelling and Python's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jsonlstore.signals import HotTopicExtractor as Extractor


class DocumentedTopicExtractor(Extractor):
    """The extractor of the signals, with every method name that cortex-api 3.5 and cortex-design 5.7 use."""

    def __init__(self, config: Mapping[str, Any] | Iterable[str] | None = None, **more: Any) -> None:
        """`config` is `{"stopwords": [...]}` as in the documents, or the stopwords themselves."""
        words = config.get("stopwords", ()) if isinstance(config, Mapping) else config or ()
        super().__init__(more.pop("stopwords", words), **more)

    def get_current_topics(self, n: int = 20) -> list[str]:
        """The `n` topics that stand out most."""
        return self.current_topics(n)

    def get_top_n(self, n: int) -> list[str]:
        """The same, for a number that has to be given."""
        return self.current_topics(n)

    def get_active_projects(self) -> list[str]:
        """The projects worked on, most worked on first."""
        return self.active_projects()

    def get_recent_learning_ids(self) -> list[str]:
        """The memories created in this session, oldest first."""
        return self.recent_learning_ids()

    def get_all_learning_ids(self) -> list[str]:
        """All of them: none is left out."""
        return self.recent_learning_ids()

    def get_frequency_map(self) -> dict[str, float]:
        """Keyword -> how often it was seen, by weight."""
        return self.frequency_map()

    recordText = Extractor.record_text  # noqa: N815 - the documents' own spelling, here and below
    recordToolCall = Extractor.record_tool_call  # noqa: N815
    recordMemoryAccess = Extractor.record_memory_access  # noqa: N815
    recordWorkingMemoryLabel = Extractor.record_working_memory_label  # noqa: N815
    recordExecWorkdir = Extractor.record_exec_workdir  # noqa: N815
    recordSynapseSignal = Extractor.record_synapse_signal  # noqa: N815
    recordSynapseSubject = Extractor.record_synapse_subject  # noqa: N815
    recordLearningId = Extractor.record_learning_id  # noqa: N815
    getCurrentTopics = get_current_topics  # noqa: N815
    getTopN = get_top_n  # noqa: N815
    getActiveProjects = get_active_projects  # noqa: N815
    getRecentLearningIds = get_recent_learning_ids  # noqa: N815
    getAllLearningIds = get_all_learning_ids  # noqa: N815
    getFrequencyMap = get_frequency_map  # noqa: N815


HotTopicExtractor = DocumentedTopicExtractor
