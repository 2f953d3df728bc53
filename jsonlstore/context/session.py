"""One conversation as an agent works with it: what the model sees, how full the window is, what is still unsaved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.context.checkpoint import Checkpoint
from jsonlstore.context.cycle import (
    FlushPrompt,
    first_kept,
    summarize_window,
    window_checkpoint,
    window_checkpoint_due,
)
from jsonlstore.context.flush import FlushCycle, flush_text, percent_used
from jsonlstore.context.generator import generated
from jsonlstore.context.records import prepare
from jsonlstore.context.window import SPOKEN
from jsonlstore.core.clock import format_time, system_clock
from jsonlstore.core.errors import UsageError
from jsonlstore.signals import memory_files_in
from jsonlstore.transcripts import (
    Context,
    Entry,
    TokenCount,
    context_line,
    context_of,
    count_context,
    estimate_tokens,
    read_millis,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jsonlstore.context.records import Line, Prepared
    from jsonlstore.context.window import Window
    from jsonlstore.core.clock import Clock
    from jsonlstore.core.session_settings import SessionSettings

_COUNTED = frozenset({"summary", "tokensAtCheckpoint", "messageCountAtCheckpoint"})


class Session:
    """The active branch of one conversation. Records added here are on disk once `TranscriptStore.save` returned.

    What is added in this process is seen as it was said; what is read back later is without secrets.

    Arguments:
        key: the name of the conversation
        session_id: its id
        window: the records of the active branch, as read
        metadata: what is kept with the session
        opening: the records a new session begins with
        clock: a function that returns the present as an aware `datetime`
        text: what would be said next
        record: a record as OpenClaw writes it: `type`, and what goes with it
        role: user, assistant, toolResult or system
        content: a text, or a list of content blocks
        fields: what else belongs to the record
        summary: what the model sees in place of what is put away
        count: so many messages
        from_checkpoint: whether the summary is a checkpoint's
        reason: why: new, reset, idle, daily
        written: how many of the added records are on disk
        settings: the `session` block it was opened with
        first_kept_id: the id of the first record that stays in view
        prompt: the text of the next turn
    """

    def __init__(
        self,
        key: str,
        session_id: str,
        window: Window,
        *,
        settings: SessionSettings,
        metadata: Mapping[str, Any] | None = None,
        opening: Sequence[Line] = (),
        clock: Clock = system_clock,
    ) -> None:
        self.key = key
        self.session_id = session_id
        self.max_tokens = settings.max_tokens
        self.reserve_tokens = settings.compaction.reserve_tokens
        self._settings = settings
        self.metadata: dict[str, Any] = dict(metadata or {})
        self._path = list(window.path)
        self._earlier = window.earlier
        self._last = window.last
        self._clock = clock
        self._opening = tuple(opening)
        self._unsaved: list[Prepared] = []
        self._context: Context | None = None

    @property
    def is_new(self) -> bool:
        """Whether nothing of it is on disk yet."""
        return bool(self._opening)

    @property
    def unsaved(self) -> tuple[Mapping[str, Any], ...]:
        """The records that `save` will write."""
        return tuple(prepared.record for prepared in self._unsaved)

    @property
    def leaf(self) -> str | None:
        """The id of the newest record on this branch: what the next one follows."""
        return next((entry.id for entry in reversed(self._path) if entry.id), None)

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        """What the model would see, oldest first; a compaction's summary comes first if there is one."""
        messages = self._seen().messages
        return messages if self._last is None else messages[-self._last :]

    @property
    def model(self) -> Mapping[str, Any] | None:
        """The model that answers: provider and modelId, as far as the records tell."""
        return context_of([*self._earlier, *self._path]).model

    @property
    def thinking_level(self) -> str:
        """How much the model is to think, as far as the records tell."""
        return context_of([*self._earlier, *self._path]).thinking_level

    @property
    def tokens(self) -> TokenCount:
        """How full the window is, and how that is known (decision 38)."""
        return count_context(self._seen(), self.max_tokens)

    @property
    def total_tokens(self) -> int:
        """What the last answer's usage says, and an estimate of what came after it."""
        return self.tokens.used

    @property
    def context_line(self) -> str:
        """`[Context: 156k/200k tokens (78%)]`, for the prompt of the next turn."""
        return context_line(self.total_tokens, self.max_tokens)

    def estimate(self, text: str) -> int:
        """How full the window would be with `text` in it: asked before a turn, to warn in time."""
        return self.total_tokens + estimate_tokens(text)

    def should_compact(self) -> bool:
        """Whether only the reserve is left."""
        return self.total_tokens >= self.max_tokens - self.reserve_tokens

    def most_recent_checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint on this branch."""
        found = (entry for entry in (*reversed(self._path), *reversed(self._earlier)) if entry.type == "checkpoint")
        return next(map(Checkpoint.of, found), None)

    def add(self, record: Mapping[str, Any]) -> str:
        """Put any record at the end of this branch; its id. One that cannot be kept is refused here."""
        now = self._clock()
        prepared = prepare({"parentId": self.leaf, **record}, now)
        self._unsaved.append(prepared)
        links = {name: prepared.record[name] for name in ("id", "parentId", "timestamp")}
        self._path.append(Entry({**record, **links}))
        self._context = None
        return str(links["id"])

    def add_message(self, role: str, content: str | list[Any], **fields: Any) -> str:
        """A message; with an assistant's `usage`, `provider` and `model` tokens are counted instead of guessed."""
        moment = round(self._clock().timestamp() * 1000)
        message = {"role": role, "content": content, "timestamp": moment, **fields}
        return self.add({"type": "message", "message": message})

    def add_checkpoint(self, summary: str, **fields: Any) -> str:
        """A rolling summary; `topics`, `openQuestions` and `keyDecisions` may come with it."""
        inner = {
            "summary": summary,
            "tokensAtCheckpoint": self.total_tokens,
            "messageCountAtCheckpoint": sum(entry.type == "message" for entry in self._path),
            **fields,
        }
        return self.add({"type": "checkpoint", "checkpoint": inner})

    def keep_last(self, count: int) -> str:
        """The id of the record with which the last `count` messages begin: what a compaction keeps from."""
        spoken = [entry.id for entry in self._path if entry.type in SPOKEN and entry.id]
        if not spoken or count < 1:
            raise UsageError("there is no message to keep", hint="a compaction keeps at least one")
        return spoken[-min(count, len(spoken))]

    def flush(self, prompt: str = "") -> FlushPrompt | None:
        """What the agent is asked before this prompt, so that what must last is written down; mostly nothing.

        Each threshold speaks once until the window was emptied. `end_turn` tells whether it was acted upon.
        """
        settings = self._settings.memory_flush
        if not settings.enabled or not settings.thresholds:
            return None
        cycle = _cycle(self.metadata.get("flush"))
        percent = percent_used(self.estimate(prompt), self.max_tokens)
        stage, cycle = cycle.fire(percent, settings.thresholds, self._compactions(), once=settings.once_per_cycle)
        self.metadata["flush"] = cycle._asdict()
        if stage is None:
            return None
        last = stage.percent == settings.thresholds[-1].percent
        text = flush_text(stage, format_time(self._clock())[:10], own_turn=not prompt, last=last)
        self.metadata["flushOffered"] = {"percent": stage.percent, "after": self.leaf}
        return FlushPrompt(stage.percent, text, stage.inject_as)

    def end_turn(self) -> str | None:
        """After a turn: whether a flush was acted upon goes to the metadata; a checkpoint is added if one is due.

        The checkpoint's id; None if none was due.
        """
        offered = self.metadata.pop("flushOffered", None)
        if isinstance(offered, dict):
            ids = [entry.id for entry in self._path]
            start = ids.index(offered["after"]) + 1 if offered.get("after") in ids else 0
            self.metadata["flushActioned"] = bool(memory_files_in(self._path[start:]))
        due = window_checkpoint_due(self._settings.checkpoint, self._path, self.total_tokens, self.max_tokens)
        if due is None:
            return None
        made = generated(window_checkpoint(self._path, self._earlier, self.total_tokens), self._settings.checkpoint)
        fields = {name: value for name, value in made.to_dict().items() if name not in _COUNTED}
        return self.add_checkpoint(made.summary, **fields)

    def compact(
        self, summary: str | None = None, first_kept_id: str | None = None, *, from_checkpoint: bool = False
    ) -> str:
        """Put everything before `first_kept_id` away: the model sees `summary` instead, thresholds are armed again.

        Without a summary one is made: from a checkpoint that saw half of the window, else anew. Without a record to
        keep from, the latest turns are kept.
        """
        kept = first_kept_id or first_kept(self._path, self.max_tokens)
        if summary is None:
            made = summarize_window(self._settings, self._path, self._earlier, self.total_tokens)
            summary, from_checkpoint = made.text, made.from_checkpoint
        record = {"type": "compaction", "summary": summary, "firstKeptEntryId": kept}
        added = self.add({**record, "tokensBefore": self.total_tokens, "fromCheckpoint": from_checkpoint})
        self.metadata["flush"] = FlushCycle(0, self._compactions())._asdict()
        return added

    def compact_if_due(self) -> str | None:
        """Compact if only the reserve is left; the record's id, or None."""
        return self.compact() if self.should_compact() else None

    def _compactions(self) -> int:
        """A number that grows with each compaction: when the latest was."""
        times = (read_millis(entry.raw.get("timestamp")) for entry in self._path if entry.type == "compaction")
        return max((at or 0 for at in times), default=0)

    def reset(self, reason: str = "new") -> str:
        """Begin a new conversation in this session: the model sees nothing of the old one, the watcher ends it."""
        return self.add({"type": "reset", "reason": reason})

    def pending(self) -> tuple[tuple[Line, ...], tuple[Prepared, ...]]:
        """What `TranscriptStore.save` has to write: the opening of a new session, and the records added."""
        return self._opening, tuple(self._unsaved)

    def settle(self, session_id: str, written: int) -> None:
        """The first `written` of the added records are on disk."""
        self.session_id = session_id
        self._opening = ()
        del self._unsaved[:written]

    def _seen(self) -> Context:
        if self._context is None:
            self._context = context_of(self._path)
        return self._context


def _cycle(stored: object) -> FlushCycle:
    """The cycle in the metadata; a new one if there is none."""
    values = [stored.get(name) for name in FlushCycle._fields] if isinstance(stored, dict) else []
    fired, compactions = values or (0, 0)
    return FlushCycle(fired, compactions) if type(fired) is int and type(compactions) is int else FlushCycle()
