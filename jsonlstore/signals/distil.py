"""From the entries of one session to what is worth remembering of it.

`Distiller` is fed every entry of a stretch in file order and asked for its `Signals` whenever somebody wants them.
The outcome depends on that sequence and on nothing else: not on when it was read, nor in how many portions.
Text is redacted before anything is taken from it, and what leaves is redacted again.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from jsonlstore.core import expressions as re
from jsonlstore.core.model import Tokens
from jsonlstore.redact import MARK, Redactor
from jsonlstore.signals.agent_tools import AgentTools
from jsonlstore.signals.choices import (
    CHOICE,
    CONSTRAINT,
    DECISION,
    INSIGHT,
    REVERT,
    SCOPE,
    TASK,
    WORKS,
    directives,
    explicit,
    listed_decisions,
    may_list_decisions,
)
from jsonlstore.signals.closings import DoneStatements
from jsonlstore.signals.conclusions import Conclusions, conclude, ground
from jsonlstore.signals.conversation import ASSISTANT, SYSTEM, USER, Conversation, Moment, exchanges
from jsonlstore.signals.corrections import REACH, correction, takes_back, told_anew
from jsonlstore.signals.evidence import WorkLog
from jsonlstore.signals.facts import SessionFacts, hear_rules, identifiers_in, requests_in
from jsonlstore.signals.language import recognise, speaks_another
from jsonlstore.signals.notes import LONGEST_NOTE, NoteBook
from jsonlstore.signals.offers import closing_offer, rules_of, spoken_languages
from jsonlstore.signals.options import SignalOptions
from jsonlstore.signals.patterns import DONE, detect_first_match
from jsonlstore.signals.patterns import TASK as TASK_CREATED
from jsonlstore.signals.replies import answered_questions, approved_plan, decided, may_answer
from jsonlstore.signals.requests import is_nudge, request_line
from jsonlstore.signals.sentences import (
    head_and_tail,
    opening,
    own_lines,
    shorten,
    without_code,
    without_output,
    without_reasoning,
)
from jsonlstore.signals.session_signals import Signals
from jsonlstore.signals.tasks import TaskBook
from jsonlstore.signals.tool_calls import ToolReader
from jsonlstore.signals.topics import HotTopicExtractor
from jsonlstore.signals.words import content_words
from jsonlstore.transcripts import Speaker, TokenMeter

if TYPE_CHECKING:
    from collections.abc import Collection

    from jsonlstore.core.model import Ground, Note
    from jsonlstore.signals.choices import Said
    from jsonlstore.signals.language import Language
    from jsonlstore.signals.offers import Offer
    from jsonlstore.transcripts import Entry

_A_USER, _AN_ASSISTANT, _A_TOOL = Speaker.USER, Speaker.ASSISTANT, Speaker.TOOL
_MOST_CONSTRAINTS = 10
_TURNS_TIMED = 64
_BARE_CHOICE = 32
_NOTED_AS = {CHOICE: DECISION, DECISION: DECISION, CONSTRAINT: DECISION, SCOPE: SCOPE, INSIGHT: INSIGHT, WORKS: DONE}
_ASSISTANT_WEIGHT = 0.5
_LONG_SESSION = 6  # turns
_LEAST_TOPICS, _TURNS_A_TOPIC = 6, 10
_SYSTEM_OPENING = 200
_LONGEST_TOPIC_LINE = 160
_HIDDEN = re.compile(
    rf"""(?:(?<![\w.-])[\w.-]{{1,80}}+["'`]?[ \t]{{0,4}}[:=]{{1,2}}>?[ \t]{{0,4}}["'`]?)?{re.escape(MARK)}"""
)


class Distiller:
    """Accumulates the signals of one stretch in bounded memory. Feeding never raises, whatever the entry holds."""

    def __init__(self, options: SignalOptions | None = None, *, facts: bool = True) -> None:
        """Without `facts`, nothing is found out that only those need: a backfill asks for none."""
        self._options = options or SignalOptions()
        self._with_facts = facts
        self._redactor = Redactor()
        self.topics = HotTopicExtractor(self._options.stopwords, self._options.project_roots)
        self.tasks = TaskBook(self._options)
        self.work = WorkLog(looks=facts)
        self._agent = AgentTools(self._options, self.topics, self.tasks, self._redactor)
        self._talk = Conversation()
        self._calls = ToolReader(self._options.tools, self._talk, self.work, self._agent, self._redactor)
        self._notes = NoteBook(self._options.max_notes)
        self._done = DoneStatements()
        self._constraints: dict[str, Ground] = {}
        self._tokens = TokenMeter()
        self._language: Language | None = None
        self._speakers: list[Language] = []
        self._heard: Counter[str] = Counter()  # how many messages of the user's were in which language
        self._closing: Moment | None = None  # what the assistant said last, for the user's answer to it
        self._turn_ends: dict[int, str] = {}
        self._taken_back = 0
        self._before: deque[str | None] = deque(maxlen=REACH)  # the user's last messages that decided something
        self._undoing = False  # the user gave an undo command
        self._rules: dict[str, None] = {}
        self._messages = 0
        self._compactions = 0
        self._turn_over = False
        self._start: str | None = None
        self._end: str | None = None

    def feed(self, entry: Entry) -> None:
        """Take in the next entry of the file."""
        moment = entry.timestamp
        if moment:
            self._start = self._start or moment
            self._end = moment
        self._tokens.feed(entry)
        if self._with_facts:
            self._follow_turn(entry)
        speaker = entry.speaker
        if speaker is _A_USER:
            self._hear_user(entry)
        elif speaker is _AN_ASSISTANT:
            self._hear_assistant(entry)
        elif speaker is _A_TOOL:
            self._talk.passed(entry.id, entry.parent_id)
            self._calls.result(entry, self)
        elif speaker is Speaker.SYSTEM:
            self._talk.hear(
                SYSTEM, entry.text[:_SYSTEM_OPENING], moment or "", entry.id, entry.parent_id, self.work.turn
            )
        elif entry.type == "session":
            cwd = entry.raw.get("cwd")
            if isinstance(cwd, str) and cwd:
                self._calls.start_in(cwd)
        elif entry.type == "leaf":
            target = entry.raw.get("targetId")
            self._talk.move_leaf(target if isinstance(target, str) else None)
        else:
            self._talk.passed(entry.id, entry.parent_id)

    def result(self, on_path: Collection[str] | None = None) -> Signals:
        """The signals so far. `on_path`: ids on the active path; without it, parents are followed from the end."""
        found = self.conclusions(on_path)
        options = self._options
        told = Signals(
            hot_topics=tuple(self.topics.current_topics(self._most_topics(), self._least_said())),
            active_projects=tuple(self.topics.active_projects(options.max_projects)),
            pending_tasks=found.pending_tasks,
            recent_learnings=tuple(self._agent.memory.learnings()),
            confidence_updates=tuple(self._agent.memory.updates()),
            sop_interactions=tuple(self._agent.sops.interactions()),
            working_memory=tuple(self._agent.pins.pins()),
            notes=found.notes,
            last_topic=self._last_topic(on_path),
            in_progress=found.in_progress,
            next_step=found.next_step,
            last_request=found.last_request,
            earlier_requests=found.earlier_requests,
            last_answer=found.last_answer,
            open_questions=found.open_questions,
            constraints=tuple(self._constraints),
            commits=found.commits,
            files=found.files,
            failing=found.failing,
            closed=found.closed,
            references=self.work.references.found(),
            grounds=(*found.grounds, *self._constraints.values()),
            tokens=_tokens(self._tokens.result()),
            start_time=self._start,
            end_time=self._end,
        )
        return told.redacted(self._redactor)

    def conclusions(self, on_path: Collection[str] | None = None) -> Conclusions:
        """What the end of the session and its evidence amount to, with reasons."""
        talk = list(exchanges(self._talk.path(on_path)))
        notes = self._notes.notes()
        said = self._done.until(self._closing, self._language)
        return conclude(talk, self.work, self.tasks, notes, said, self._language, self._heard, self._options)

    def facts(self) -> SessionFacts:
        """The evidence so far, for a checkpoint, without the secrets known by now."""
        assert self._with_facts
        talk = list(exchanges(self._talk.path()))
        commits = tuple(self.work.commits)
        told = SessionFacts(
            user_messages=self.work.turn,
            messages=self._messages,
            compactions=self._compactions,
            turn_over=self._turn_over,
            asks=requests_in(talk),
            commits=commits,
            files=tuple(self.work.files()),
            commands=tuple(self.work.families()),
            identifiers=identifiers_in(talk, commits[-12:]),
            memory_writes=tuple(self.work.memory_writes),
            turn_ends=dict(self._turn_ends),
            rules=tuple(self._rules),
            last_failed=self.work.last_failed,
            taken_back=self._taken_back,
        )
        return told.redacted(self._redactor)

    def _follow_turn(self, entry: Entry) -> None:
        """Whether the agent is at work: from the user's words until an answer that asks for no tool."""
        if entry.type == "compaction":
            self._compactions += 1
        if entry.type != "message":
            return
        self._messages += 1
        self._turn_over = entry.role == "assistant" and not entry.tool_calls
        if entry.role == "assistant" and entry.timestamp:
            self._turn_ends[self.work.turn] = entry.timestamp
            self._turn_ends.pop(self.work.turn - _TURNS_TIMED, None)

    def _most_topics(self) -> int:
        """A short session is about few things: behind them come the words it happened to be told in."""
        return min(self._options.max_topics, _LEAST_TOPICS + self.work.turn // _TURNS_A_TOPIC)

    def _least_said(self) -> float:
        """How often a word must come up to be a topic: in a short session once by each side will do."""
        return 2.0 if self.work.turn >= _LONG_SESSION else 1.5

    def _last_topic(self, on_path: Collection[str] | None) -> str | None:
        """The latest thing the user said that was about something."""
        for moment in reversed(self._talk.path(on_path)):
            if moment.who == USER and not is_nudge(moment.text) and len(content_words(moment.text[:400])) >= 2:
                return shorten(request_line(moment.text), _LONGEST_TOPIC_LINE)
        return None

    # who said what

    def _hear_user(self, entry: Entry) -> None:
        text = self._safe(entry.text)
        at = entry.timestamp or ""
        self.work.next_turn()
        self._undoing = text.startswith("/undo")
        self.tasks.turn = self.work.turn
        self._talk.hear(USER, text, at, entry.id, entry.parent_id, self.work.turn)
        if not text or text.isspace():
            return
        if self._closing:
            self._done.hear_closing(self._closing, self._language)
        own = "\n".join(own_lines(text))
        pasted = speaks_another(own, self._heard)
        spoken = None if is_nudge(own) else recognise(own)  # "ok" and "[Request interrupted by user]" show none
        if spoken is not None:
            self._heard[spoken.code] += 1
        self._language = self._language if pasted else spoken or self._language
        self._speakers = rules_of(self._language)
        self.tasks.language = self._language
        self.topics.nouns_have_capitals = self._heard.most_common(1)[:1] == [("de", self._heard["de"])]
        self.topics.record_text(_without_hidden(without_output(own)))
        if self._options.first_match_patterns:
            self._note_first_match(text, entry, "user")
        elif not pasted:
            self._note_user(text, entry)
        if self._with_facts:
            hear_rules(self._rules, text)
        self.tasks.read(own, entry.id)
        self._done.hear_user(text, entry.id, self._language)
        self._closing = None

    def _note_user(self, text: str, entry: Entry) -> None:
        """What the user decided, ruled, asked to remember or took back."""
        at = entry.timestamp or ""
        before = self._closing.text if self._closing else ""
        said = decided(text, self._offer(before), before) if may_answer(text, before) else []
        bare = bool(said) and len(text) <= _BARE_CHOICE  # "take the second one" says no more than what it picks
        heard = directives(text, self._speakers, opening=self.work.turn == 1)
        ruled = [one for one in heard if not (bare and one.kind == DECISION)]
        # a reply in words may be a directive as well: what a sentence says is said once
        said = [one for one in said if not any(one.text.startswith(other.text) for other in ruled)] + ruled
        said += explicit("\n".join(own_lines(text)), self._speakers, (INSIGHT,))
        later = correction(text, self._speakers) if any(self._before) else None
        if later and takes_back(later, said, self._speakers):
            gone = self._notes.replace(DECISION, later.replaces, {one for one in self._before if one})
            for note in gone:
                self._drop_rule(note)
            said = told_anew(later, said, gone)
        self._before.append(entry.id if any(_NOTED_AS.get(one.kind) == DECISION for one in said) else None)
        for one in said:
            if one.kind == TASK and self.tasks.add(one.text, entry.id):
                self._note(TASK_CREATED, one.text, one.confidence, entry, at)
            elif one.kind == REVERT:
                self._take_back(entry)
            elif one.kind in _NOTED_AS:
                self._note(_NOTED_AS[one.kind], one.text, one.confidence, entry, at, one.source)
            if one.kind == CONSTRAINT:
                self._keep_rule(one, entry.id)

    def _take_back(self, entry: Entry) -> None:
        note = self._notes.take_back(DECISION, frozenset())
        if note is None:
            self._taken_back += 1  # said before the first entry that was fed, if at all
        else:
            self._done.take_back(note, entry.id)
            self._drop_rule(note)

    def _drop_rule(self, note: Note) -> None:
        for rule in [one for one in self._constraints if shorten(one, LONGEST_NOTE) == note.content]:
            del self._constraints[rule]

    def _keep_rule(self, said: Said, entry_id: str | None) -> None:
        self._constraints.pop(said.text, None)
        self._constraints[said.text] = ground("constraints", said.text, [entry_id], "user", said.confidence)
        while len(self._constraints) > _MOST_CONSTRAINTS:
            del self._constraints[next(iter(self._constraints))]

    def _note(self, kind: str, text: str, confidence: float, entry: Entry, at: str, source: str = "user") -> None:
        self._notes.add(kind, text, confidence, entry_id=entry.id, at=at, source=source, project=self._calls.project)

    def _note_first_match(self, text: str, entry: Entry, source: str) -> None:
        for told in detect_first_match(without_code(text)):
            self._note(told.kind, told.sentence, told.confidence, entry, entry.timestamp or "", source)

    def _offer(self, before: str) -> Offer | None:
        return closing_offer(before, spoken_languages(before, self._language)) if before else None

    def _hear_assistant(self, entry: Entry) -> None:
        text = without_reasoning(self._safe(entry.text))
        at = entry.timestamp or ""
        calls = entry.tool_calls
        stop = entry.message.get("stopReason")
        error = entry.message.get("errorMessage")
        if text.strip() or not calls:
            moment = self._talk.hear(ASSISTANT, text, at, entry.id, entry.parent_id, self.work.turn)
            moment.aborted = stop == "aborted"
            # a turn the user stopped bears the words of an error as well
            if not moment.aborted and (stop == "error" or (isinstance(error, str) and error)):
                moment.error = (
                    shorten(self._redactor.text(error), 160) if isinstance(error, str) and error else "the model failed"
                )
            if "Removed: " in text and self._undoing:
                self._calls.undone(text, entry.id)
            if text.strip() and not moment.silent:
                self._closing = moment
                self._read_answer(text, entry)
        else:
            self._talk.passed(entry.id, entry.parent_id)
        for call in calls:
            self._calls.call(call, entry)

    def _read_answer(self, text: str, entry: Entry) -> None:
        prose = without_code(text)
        self.topics.record_text(_without_hidden(opening(prose)), _ASSISTANT_WEIGHT)
        if self._options.first_match_patterns:
            self._note_first_match(prose, entry, "assistant")
        else:
            for told in (*explicit(prose, self._speakers), *self._listed_decisions(prose)):
                self._note(told.kind, told.text, told.confidence, entry, entry.timestamp or "", ASSISTANT)
        self.tasks.read(prose, entry.id, ASSISTANT)
        self._agent.sops.heard(prose)

    def _listed_decisions(self, text: str) -> list[Said]:
        if "\n" not in text or not may_list_decisions(text):  # a list stands on lines of its own
            return []
        return listed_decisions(text, spoken_languages(text, self._language))

    def hear_memory(self, text: str, entry: Entry) -> None:
        """A memory file the agent wrote: of its text only what stands under a heading "Decisions" is a statement."""
        for told in self._listed_decisions(self._safe(text)):
            self._note(told.kind, told.text, told.confidence, entry, entry.timestamp or "", "memory file")

    def hear_picked(self, what: str, text: str, entry: Entry) -> None:
        """The user's answers where a tool asked, or a plan they let pass: a choice as plain as a letter typed."""
        if not self._options.first_match_patterns:
            for said in (approved_plan if what == "plan" else answered_questions)(self._safe(text)):
                self._note(DECISION, said.text, said.confidence, entry, entry.timestamp or "", CHOICE)

    def _safe(self, text: str) -> str:
        """Redacted whole, then cut: half a key block would not be known for what it is."""
        return head_and_tail(self._redactor.heard(text)) if text else text


def _without_hidden(prose: str) -> str:
    """`prose` without what was hidden and the key it stood behind: nobody talked about either."""
    return _HIDDEN.sub(" ", prose) if MARK in prose else prose


def _tokens(counted: tuple[int, bool] | None) -> Tokens | None:
    return Tokens(counted[0], estimated=counted[1]) if counted else None
