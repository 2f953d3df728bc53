"""The context window of a real OpenClaw: asked in time, compacted without a model, and never broken by us.

pytest tests/openclaw/test_context_real.py                  (the memory flush in one version)
pytest -m openclaw tests/openclaw/test_context_real.py      (all of it, in every version)
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.context.flush import MARKER
from jsonlstore.context.summary import HEADINGS, sections_of
from jsonlstore.store import SessionStore
from jsonlstore.transcripts import Catalogue
from tests.openclaw.lab import each_version, installed, wait_until
from tests.openclaw.model import CHECKPOINT_ASKED, WORDED, said_by_user, text_of
from tests.openclaw.stage import COMMAND, SECRET, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jsonlstore.transcripts import Entry

VERSIONS = ("2026.2.26", "2026.7.1", "2026.9.6")
LONG = [pytest.param(one, marks=[pytest.mark.openclaw(one), pytest.mark.slow]) for one in VERSIONS[1:]]
SHORT_AND_LONG = [*each_version(VERSIONS[0]), *LONG]
KEY = "agent:main:main"
WINDOW = 64_000  # the lab's
OWN_FLUSH = "re-compaction memory flush"  # in each version's prompt, with a capital letter or without
ASKED = re.compile(r"Context at (\d+)%")
FILLER = "The mast stands on the north side of the shed. " * 60  # some 700 tokens: there must be something to compact


def usable(version: str) -> int:
    """How many tokens there are until OpenClaw compacts by itself, and 4,000 less."""
    return WINDOW - (16_000 if version >= "2026.9" else 20_000) - 4_000


def agents(state_dir: Path, **compaction: Any) -> dict[str, Any]:
    """The lab's agents with a small part kept by a compaction, and OpenClaw's own flush off unless wanted."""
    settled = {"keepRecentTokens": 1_000, "memoryFlush": {"enabled": False}, **compaction}
    defaults = {
        "model": {"primary": "mock/mock-1"},
        "workspace": str(state_dir / "workspace"),
        "heartbeat": {"every": "0m"},
    }
    return {"defaults": {**defaults, "compaction": settled}}


def is_turn(body: dict[str, Any]) -> bool:
    """Whether a request is an agent's turn: one for a summary offers no tools."""
    return bool(body.get("tools"))


class Talk:
    """One conversation in a real OpenClaw, turn by turn, each with what its context is said to hold."""

    def __init__(self, version: str, home: Path, ours: dict[str, Any] | None = None, **compaction: Any) -> None:
        self.version = version
        if version >= "2026.7":  # these keep three turns word for word, and ask nobody if there is nothing besides
            compaction = {"recentTurnsPreserve": 0, **compaction}
        settings = agents(home / ".openclaw", **compaction)
        self.stage = Stage(version, "plugin", home, ours, agents=settings)
        self.state_dir = self.stage.state_dir

    def turn(self, words: str, percent: float, *wishes: str) -> None:
        tokens = round(percent * usable(self.version) / 100)
        self.stage.turn(f"{words}. {FILLER}[[usage:{tokens}]]{''.join(wishes)}", KEY)
        wait_until(lambda: self._answered(words), what="the answer's storing")

    def _answered(self, words: str) -> bool:
        entries = self.entries()
        asked = [at for at, entry in enumerate(entries) if entry.role == "user" and words in entry.text]
        later = entries[asked[-1] :] if asked else []
        return any(entry.role == "assistant" and not entry.tool_calls for entry in later)

    def requests(self, words: str) -> list[list[dict[str, Any]]]:
        """The requests of the turn with these words, and of no later one."""
        bodies = [body["messages"] for body in self.stage.model.requests]
        return [messages for messages in bodies if words in said_by_user(messages)[1]]

    def asked(self) -> list[tuple[str, str]]:
        """In which turn which percentage was asked for; an old message that is sent again would show, too."""
        found = []
        for body in filter(is_turn, self.stage.model.requests):
            users = [text_of(one.get("content")) for one in body["messages"] if one.get("role") == "user"]
            turn = re.search(r"turn (\d+) ", said_by_user(body["messages"])[1])
            found += [(turn[1] if turn else "", percent) for one in users for percent in ASKED.findall(one)]
        return list(dict.fromkeys(found))

    def entries(self) -> list[Entry]:
        sessions = [one for one in Catalogue.open(self.state_dir).sessions if one.session_key == KEY]
        return list(sessions[0].read()) if sessions else []

    def compactions(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.type == "compaction"]

    def events(self, *kinds: str) -> list[Any]:
        store = SessionStore.open(self.state_dir)
        return [event for entry in store.entries() for event in store.events(entry.session_id, kinds)]

    def summaries_asked(self) -> int:
        """Requests to the model that are no turn of anybody."""
        return sum(not is_turn(body) for body in self.stage.model.requests)

    def compact(self) -> Entry:
        before = len(self.compactions())
        self.stage.openclaw.say("/compact", KEY)
        wait_until(lambda: len(self.compactions()) > before, what="the compaction")
        return self.compactions()[-1]


@pytest.fixture
def talks() -> Iterator[list[Talk]]:
    running: list[Talk] = []
    yield running
    for one in running:
        one.stage.close()


def begin(talks: list[Talk], version: str, home: Path, ours: dict[str, Any] | None = None, **compaction: Any) -> Talk:
    talk = Talk(version, home, ours, **compaction)
    talks.append(talk)
    talk.stage.openclaw.start()
    return talk


@pytest.mark.parametrize("version", SHORT_AND_LONG)
def test_each_threshold_is_in_one_turn_of_its_cycle(version: str, tmp_path: Path, talks: list[Talk]) -> None:
    """50, 75 and 90 %, then OpenClaw compacts, and 50 % again; only the turn that wrote to memory/ acted upon it.

    Before OpenClaw compacts, in exactly one turn each, and nothing of it stays in the history.
    """
    talk = begin(talks, version, tmp_path)
    note = '[[call:write|{"path": "memory/notes.md", "content": "the mast is 12 m high"}]]'
    talk.turn("turn 1 begins", 20)
    talk.turn("turn 2 goes on", 53)
    talk.turn("turn 3 goes on", 60)
    talk.turn("turn 4 goes on", 78)
    talk.turn("turn 5 goes on", 80, note)
    talk.turn("turn 6 goes on", 93)
    talk.turn("turn 7 goes on", 120)
    talk.turn("turn 8 goes on", 55)
    wait_until(talk.compactions, what="the compaction")
    talk.turn("turn 9 goes on", 60)
    expected = [("3", "50"), ("5", "75"), ("7", "90"), ("9", "50")]
    assert talk.asked() == expected
    day = datetime.now().astimezone().strftime("memory/%Y-%m-%d.md")
    assert day in json.dumps(talk.requests("turn 5 goes on")[0])
    urgent = said_now(talk.requests("turn 7 goes on")[0][1:])
    assert "Store what must last, then answer the user." in urgent
    assert "NO_REPLY" not in urgent
    stored = [str(entry.raw) for entry in talk.entries()]
    assert not [one for one in stored if ASKED.search(one) or "memory flush]" in one]
    wait_until(lambda: len(talk.events("flush.actioned")) == len(expected), what="the settling")
    assert [event.data["percent"] for event in talk.events("flush.offered")] == [int(one) for _, one in expected]
    assert [event.data["actioned"] for event in talk.events("flush.actioned")] == [one == "75" for _, one in expected]


def cycles(talk: Talk) -> list[list[str]]:
    """What the agent was asked in each cycle of the window, in order: `flush` by OpenClaw itself, else our percentage.

    A cycle ends where OpenClaw asks its model for a summary, once or several times in a row.
    """
    found: list[list[str]] = [[]]
    for before, body in zip([None, *talk.stage.model.requests], talk.stage.model.requests, strict=False):
        if not is_turn(body):
            found += [[]] if before is not None and is_turn(before) else []
            continue
        asked = said_now(body["messages"])
        if OWN_FLUSH in asked:
            found[-1].append("flush")
        found[-1] += ASKED.findall(asked)
    return found


def said_now(messages: list[dict[str, Any]]) -> str:
    """The system prompt of a request, and what nobody has answered yet."""
    last = max((at for at, one in enumerate(messages) if one.get("role") == "assistant"), default=0)
    now = [one for at, one in enumerate(messages) if one.get("role") == "system" or at > last]
    return "\n".join(text_of(one.get("content")) for one in now)


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_openclaw_s_own_flush_is_not_doubled(version: str, tmp_path: Path, talks: list[Talk]) -> None:
    """While it is on, it is the last stage: in each cycle ours speaks at 75 % and OpenClaw's once, in its own turn.

    The window stays full for turns after it, so that another would be due; 2026.7.1 compacts right after its flush.
    """
    talk = begin(talks, version, tmp_path, memoryFlush={"enabled": True})
    filled = (93, 95, 101) if version == "2026.7.1" else (93, 95, 101, 102, 103, 120)
    for number, percent in enumerate((20, *filled, 30, *filled, 30, 40), 1):
        held = f"[[held:{round(percent * usable(version) / 100)}]]"  # its own flush leaves the window as full as it is
        talk.turn(f"turn {number} goes on", percent, held)
    assert cycles(talk) == [["75", "flush"], ["75", "flush"], []]
    said = [said_now(body["messages"]) for body in talk.stage.model.requests if is_turn(body)]
    own = [one for one in said if OWN_FLUSH in one]
    assert len(own) == 2
    assert not [one for one in own if ASKED.search(one) or MARKER in one or "goes on" in one]
    assert [event.data["percent"] for event in talk.events("flush.offered")] == [75, 75]


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_what_stands_in_the_system_prompt_stays_until_the_next_stage(
    version: str, tmp_path: Path, talks: list[Talk]
) -> None:
    """From its threshold on it is in every turn, until the next stage takes its place or a compaction ends it."""
    stages = [{"percent": one, "prompt": f"Context at {one}%. Note it.", "injectAs": "system"} for one in (50, 75)]
    talk = begin(talks, version, tmp_path, {"session": {"memoryFlush": {"thresholds": stages}}})
    for number, percent in enumerate((20, 53, 60, 62, 78, 80, 120, 30, 32), 1):
        talk.turn(f"turn {number} goes on", percent)
    wait_until(talk.compactions, what="the compaction")
    told: dict[str, list[str]] = {}
    for body in filter(is_turn, talk.stage.model.requests):
        turn = re.findall(r"turn (\d+) goes on", json.dumps(body["messages"]))[-1]
        told[turn] = ASKED.findall(said_now(body["messages"]))
    assert [told[str(number)] for number in range(1, 10)] == [[], [], ["50"], ["50"], ["50"], ["75"], ["75"], [], []]
    assert [event.data["percent"] for event in talk.events("flush.offered")] == [50, 75]
    assert not [entry for entry in talk.entries() if ASKED.search(str(entry.raw))]


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS[1:]))
def test_a_model_that_the_user_names_words_the_checkpoint(version: str, tmp_path: Path, talks: list[Talk]) -> None:
    """Through OpenClaw, after the turn, without a secret; the evidence stays ours."""
    ours = {"model": "mock/mock-1", "minTokensForGen": 0, "turnThreshold": 1}
    talk = Talk(version, tmp_path, {"session": {"checkpoint": ours}})
    talks.append(talk)
    config = talk.state_dir / "openclaw.json"
    document = json.loads(config.read_text())
    document["plugins"]["entries"]["jsonlstore"]["llm"] = {"allowModelOverride": True}
    config.write_text(json.dumps(document))
    talk.stage.openclaw.start()
    talk.turn("turn 1 please tune the antenna", 20, f" The key is {SECRET}")
    wait_until(lambda: talk.events("checkpoint.created")[-1:] and worded(talk), 120, "the wording")
    made = talk.events("checkpoint.created")[-1].data
    assert made["summary"] == WORDED
    assert any("tune the antenna" in one for one in made["evidence"]["asks"])
    (asked,) = [body for body in talk.stage.model.requests if CHECKPOINT_ASKED in json.dumps(body["messages"])]
    assert "tune the antenna" in json.dumps(asked["messages"])
    assert SECRET not in json.dumps(asked["messages"])


def worded(talk: Talk) -> bool:
    return any(event.data.get("summary") == WORDED for event in talk.events("checkpoint.created"))


def install(talk: Talk) -> dict[str, Any]:
    """`install --compaction` for this very OpenClaw, as its user would."""
    entry = installed(talk.version)[1]
    words = [
        "--state-dir",
        str(talk.state_dir),
        "openclaw",
        "install",
        "--compaction",
        "--openclaw",
        str(entry),
        "--json",
    ]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


class Installed(Talk):
    """A conversation in an OpenClaw that got everything of ours by our own installer."""

    def __init__(self, version: str, home: Path) -> None:
        super().__init__(version, home)
        config = self.state_dir / "openclaw.json"
        plain = {key: value for key, value in json.loads(config.read_text()).items() if key not in ("plugins", "hooks")}
        config.write_text(json.dumps(plain, indent=2))
        self.before = config.read_bytes()
        assert install(self)["changed"]
        self.after = config.read_bytes()

    def uninstall(self) -> None:
        """What OpenClaw itself wrote into its settings meanwhile stays; else they are what they were, byte for byte."""
        config = self.state_dir / "openclaw.json"
        untouched = config.read_bytes() == self.after
        words = ["--state-dir", str(self.state_dir), "openclaw", "uninstall", "--json"]
        done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
        if untouched:
            assert json.loads(done.stdout)["exact"] is True
            assert config.read_bytes() == self.before
        assert b"jsonlstore" not in config.read_bytes()
        assert not list((self.state_dir / "workspace").rglob("jsonlstore.js"))


def check_record(talk: Talk, record: Entry, *words: str) -> None:
    summary = str(record.raw["summary"])
    assert [name for name in sections_of(summary) if name in HEADINGS] == list(HEADINGS)
    for one in words:
        assert one in summary


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_compaction_without_a_model(version: str, tmp_path: Path, talks: list[Talk]) -> None:
    """`/compact` and OpenClaw's own: no request to the model, our text in the record and in the next request."""
    talk = Installed(version, tmp_path)
    talks.append(talk)
    talk.stage.openclaw.start()
    talk.turn("turn 1 please tune the antenna for PROJ-12 and never touch src/legacy", 20)
    note = '[[call:write|{"path": "memory/notes.md", "content": "the mast is 12 m high"}]]'
    talk.turn("turn 2 goes on with the mast", 30, note)
    check_record(talk, talk.compact(), "antenna", "PROJ-12", "src/legacy")
    talk.turn("turn 3 goes on", 40)
    (request, *_) = talk.requests("turn 3 goes on")
    assert "## Constraints/Rules" in json.dumps(request)
    assert "memory/notes.md" in block_of(request)
    talk.turn("turn 4 fills it all", 120)
    talk.turn("turn 5 goes on", 30)
    wait_until(lambda: len(talk.compactions()) == 2, what="the second compaction")
    check_record(talk, talk.compactions()[-1], "PROJ-12", "turn 3")
    talk.turn("turn 6 goes on", 32)
    assert "## Constraints/Rules" in json.dumps(talk.requests("turn 6 goes on")[0])
    assert talk.summaries_asked() == 0
    assert len(talk.events("compaction.supplied")) == 2
    talk.stage.openclaw.stop()
    talk.uninstall()


def block_of(messages: list[dict[str, Any]]) -> str:
    text = "\n".join(text_of(one.get("content")) for one in messages)
    return "\n".join(re.findall(r"<session-continuity.*?</session-continuity>", text, re.DOTALL))


WRAPPER = """
import os, subprocess, sys, time
words = sys.argv[2:]
if words[-2:] == ["hook", "compact"]:
    sys.stdin.read()
    if sys.argv[1] == "slow":
        time.sleep(30)
    if sys.argv[1] == "empty":
        print('{"session_id": "x", "summary": null}')
    sys.exit(1 if sys.argv[1] == "failing" else 0)
os.execv(sys.executable, [sys.executable, "-m", "jsonlstore", *words])
"""


LATE = """
import os, sys, time
words = sys.argv[1:]
if words[-2:] == ["hook", "compacted"]:
    time.sleep(15)  # much longer than a turn waits
os.execv(sys.executable, [sys.executable, "-m", "jsonlstore", *words])
"""


@pytest.mark.slow
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_a_program_that_is_slow_after_a_compaction_takes_no_block_away(
    version: str, tmp_path: Path, talks: list[Talk]
) -> None:
    """Its answer takes longer than a turn waits: the next turn has what was told ahead, later ones what is noted."""
    talk = Installed(version, tmp_path)
    talks.append(talk)
    run_through(talk, tmp_path, LATE)
    talk.stage.openclaw.start()
    note = '[[call:write|{"path": "memory/notes.md", "content": "the mast is 12 m high"}]]'
    talk.turn("turn 1 please tune the antenna", 20)
    talk.turn("turn 2 goes on with the mast", 30, note)
    talk.compact()
    talk.turn("turn 3 goes on", 40)
    assert "memory/notes.md" in block_of(talk.requests("turn 3 goes on")[0])
    assert not talk.events("session.compacted"), "the answer was not late"
    wait_until(lambda: talk.events("session.compacted"), 60, "the noting of the compaction")
    talk.turn("turn 4 goes on", 40)
    assert "memory/notes.md" in block_of(talk.requests("turn 4 goes on")[0])


def run_through(talk: Talk, folder: Path, script: str, *words: str) -> None:
    """Have the plugin call this script instead of the program."""
    wrapper = folder / "wrapper.py"
    wrapper.write_text(script)
    config = talk.state_dir / "openclaw.json"
    document = json.loads(config.read_text())
    document["plugins"]["entries"]["jsonlstore"]["config"]["command"] = [sys.executable, str(wrapper), *words]
    config.write_text(json.dumps(document))


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", ["failing", "empty", "slow"])
@pytest.mark.parametrize("version", each_version(*VERSIONS))
def test_a_provider_that_gives_nothing_breaks_nothing(
    version: str, behaviour: str, tmp_path: Path, talks: list[Talk]
) -> None:
    """OpenClaw asks its model for the summary, as it would without us, and the conversation goes on."""
    talk = Installed(version, tmp_path)
    talks.append(talk)
    run_through(talk, tmp_path, WRAPPER, behaviour)
    talk.stage.openclaw.start()
    talk.turn("turn 1 please tune the antenna", 20)
    talk.turn("turn 2 goes on with the mast", 30)
    record = talk.compact()
    assert "## Where it stands" not in str(record.raw["summary"])
    assert talk.summaries_asked() >= 1
    talk.turn("turn 3 goes on", 40)
    assert not talk.events("compaction.supplied")
