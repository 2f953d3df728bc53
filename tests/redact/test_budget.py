"""The budget of a text: real text is read whole, hostile text is dropped, never kept as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from jsonlstore.core.paths import StatePaths
from jsonlstore.recall import SearchIndex
from jsonlstore.redact import redact, redact_text
from tests.watch.conftest import OpenClaw

ROOT = Path(__file__).resolve().parents[2]


def test_source_code_about_nothing_but_secrets_is_read_whole() -> None:
    """The densest text at hand: our own rules, each file as it is."""
    for path in sorted((ROOT / "jsonlstore" / "redact").rglob("*.py")):
        assert "unread" not in {found.kind for found in redact(path.read_text())[1]}


@pytest.mark.parametrize("room", ["store", "watch", "cli", "restore"])
def test_a_megabyte_of_source_code_is_read_whole(room: str) -> None:
    """A long message is not cut off because its code speaks of keys and tokens now and then."""
    source = "".join(path.read_text() for path in sorted((ROOT / "jsonlstore" / room).rglob("*.py")))
    text = (source.replace("private>", "privat>") * (1_000_000 // len(source) + 1))[:1_000_000]
    assert "unread" not in {found.kind for found in redact(text)[1]}


@pytest.mark.parametrize("fragment", ["token= ", 'x-auth"+"', "key=a\n", "-chave ", "password\t="])
def test_a_megabyte_of_triggers_leaves_nothing_unread_as_it_was(fragment: str) -> None:
    """A secret behind more triggers than anybody writes is hidden or dropped with them."""
    secret = "hunter2-Zk19ddQp03xx"
    assert secret not in redact_text(fragment * (1_000_000 // len(fragment)) + f"\npassword={secret}\n")


def test_what_is_unread_is_marked_counted_and_never_kept(tmp_path: Path) -> None:
    """In the text, in the state and in the search index; what stands before it is kept."""
    secret = "hunter2-Zk19ddQp03xx"
    text = "the lighthouse needs paint\n" + "token= " * 120_000 + f"\nthe harbour, see {secret}\n"
    hidden, found = redact(text)
    assert hidden.startswith("the lighthouse needs paint")
    assert hidden.count("[UNREAD]") == [one.kind for one in found].count("unread") == 1
    assert redact(hidden)[0] == hidden
    openclaw = OpenClaw(tmp_path / "state")
    session_id = "11111111-aaaa-4aaa-8aaa-111111111111"
    talk = openclaw.begin(session_id, "antenna")
    openclaw.append(session_id, talk.user(text))
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(openclaw.state_dir), "backfill"]
    subprocess.run(command, check=True, capture_output=True)
    index = SearchIndex.open(StatePaths.of(openclaw.state_dir).search)
    texts = [turn.text for one in index.documents("kind = 'session'") for turn in index.all_turns(one.no)]
    index.close()
    assert any("[UNREAD]" in one for one in texts)
    ours = [file for file in openclaw.state_dir.rglob("*") if file.is_file() and "agents" not in file.parts]
    written = b"".join(file.read_bytes() for file in ours) + "\n".join(texts).encode()
    assert secret.encode() not in written


def _code(lines: int) -> str:
    return "".join(f"    row_{at} = table.lookup(index[{at}], 'value {at}')\n" for at in range(lines))


@pytest.mark.parametrize("joined", ['say("good " + "morning")\n', "so\u00ad called\n"], ids=["joint", "disguise"])
def test_a_text_that_asks_for_too_much_is_read_up_to_there(joined: str) -> None:
    """What is looked at once more, as a joint is, keeps steps of its own: nothing before the end is unread for it."""
    text = joined + _code(2000) + "token= " * 60_000
    unread = [found for found in redact(text)[1] if found.kind == "unread"]
    assert [found.end for found in unread] == [len(text)]
    assert unread[0].start > len(joined) + len(_code(2000))


def test_what_is_read_once_more_is_read_up_to_where_its_steps_end() -> None:
    """The second look at a text has fewer steps than the first; where they end, what it has read stays."""
    text = "password=Zk19dd.Qp03xx\n" + _code(100) + "the token of x\n" * 4_000
    hidden, found = redact(text)
    assert "Zk19dd" not in hidden
    assert hidden.startswith("password=[REDACTED]\n" + _code(100))
    assert redact(hidden)[0] == hidden
    assert {one.kind for one in found} <= {"named", "unread"}
