"""Every help text, screen and message in plain words: whole sentences, right plurals, nothing cut."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from jsonlstore.cli.console import print_error
from jsonlstore.cli.formatting import counted
from jsonlstore.cli.main import COMMANDS, GROUPS, cli, main
from jsonlstore.core.clock import format_time
from jsonlstore.core.errors import UsageError
from jsonlstore.store.store import SessionStore
from tests.cli.test_people import NOW, fill

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
# what readers stumbled over, and what to say instead
RIDDLES = {
    r"\(told by": "judging by",
    r"of no conversation that": "belongs to no known conversation",
    r"\(s\)": "a plural",
    r"though it may be": "also one that",
    r"Next step: Next step": "one of them",
    r"told by its transcripts": "judging by its transcripts",
}


def commands(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Every command and subcommand, in the context its help is shown in."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=80, **command.context_settings)
    yield context
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from commands(inner, each, context)


HELPS = {context.command_path: context.get_help() for context in commands(cli, "jsonlstore")}


@pytest.mark.parametrize("name", HELPS)
def test_a_help_text_fits_the_terminal_and_nothing_of_it_is_cut(name: str) -> None:
    usage, text = HELPS[name].split("\n\n", 1)
    assert not re.search(r"\.\.\.$", text, re.MULTILINE), "a summary is too long: make the first sentence shorter"
    examples = text[text.index("Example:") :] if "Example:" in text else ""
    for line in [*usage.splitlines(), *text.replace(examples, "").splitlines()]:
        assert len(line) <= 80, line


@pytest.mark.parametrize("name", HELPS)
def test_a_help_text_breaks_no_word_at_its_hyphen(name: str) -> None:
    """`session-task` is something to type: it stands on one line."""
    assert not re.search(r"\w-$", HELPS[name], re.MULTILINE)


@pytest.mark.parametrize("name", HELPS)
def test_a_help_text_begins_with_what_the_command_does(name: str) -> None:
    """A verb first, a full stop last."""
    first = HELPS[name].split("\n\n")[1].strip()
    assert first[0].isupper(), first
    assert first.rstrip().endswith((".", ":")), first
    assert first.split()[0] not in ("The", "A", "What", "Where", "Sessions", "One"), first


def test_the_commands_are_grouped_by_use_in_help_and_readme_alike() -> None:
    listed = [name for group in GROUPS.values() for name in group]
    assert sorted(listed) == sorted(set(listed)) == sorted(COMMANDS)
    readme = (ROOT / "README.md").read_text()
    part = readme[readme.index("## Commands") : readme.index("## How it works")]
    for title, names in GROUPS.items():
        section = part[part.index(f"**{title}**") :].split("\n**")[0]
        for name in names:
            assert f"`jsonlstore {name}" in section, f"{name} belongs to {title}"


def sources() -> Iterator[tuple[str, str]]:
    """Every text in the program, and where it stands."""
    for path in sorted((ROOT / "jsonlstore").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def test_no_message_and_no_page_speaks_in_riddles() -> None:
    allowed = ("jsonlstore/restore/preamble.py", "jsonlstore/core/")  # the specification's own heading
    texts = [one for one in sources() if not one[0].startswith(allowed)]
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        texts += [(page.name, line) for line in page.read_text().splitlines() if "prior session(s)" not in line]
    for where, text in texts:
        for riddle, instead in RIDDLES.items():
            if riddle == r"\(s\)" and not re.search(r"[a-z]\(s\)", text):
                continue
            assert not re.search(riddle, text), f"{where}: {text!r}: say {instead}"


@pytest.mark.parametrize(("number", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1000, "1,000 files")])
def test_plurals_are_right(number: int, said: str) -> None:
    assert counted(number, "file") == said
    assert counted(number, "memory", "memories") == said.replace("files", "memories").replace("file", "memory")


def screens(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    main(["--state-dir", str(root), *words])
    said = capsys.readouterr()
    return said.out + said.err


def test_one_of_everything_is_said_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One session, one transcript, one task, one record: no screen says `1 sessions`."""
    agent = tmp_path / "agents" / "main" / "sessions"
    agent.mkdir(parents=True)
    message = {"role": "user", "content": [{"type": "text", "text": "TODO: solder the PTT line"}]}
    records = [
        {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-11-15T10:00:00.000Z", "cwd": "/home/user/w"},
        {"type": "message", "id": "e1", "parentId": None, "timestamp": "2026-11-15T10:01:00.000Z", "message": message},
    ]
    (agent / "s-1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    (agent / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "s-1"}}))
    now = ("--now", format_time(NOW))
    several = r"\b1 (sessions|transcripts|tasks|records|files|logs|sources|updates|lines|times)\b"
    for words in (
        ["backfill", "--dry-run"], ["backfill"], ["watch", "--once"], ["status", *now], ["list", *now],
        ["show", "s-1", *now], ["doctor"], ["stats", *now], ["transcripts", "list"], ["recall", "solder", *now],
        ["archive", *now], ["recover", "--dry-run", *now], ["restore", "--dry-run", "--into", "s-2", *now], ["metrics"],
        ["metrics", "verify"], ["setup", "--yes", "--no-service", "--no-plugin"], ["handoff", "capture", *now],
        ["handoff", "list", *now], ["task", "list", *now], ["where", *now],
    ):  # fmt: skip
        said = screens(tmp_path, capsys, *words)
        assert not re.search(several, said), (words, said)


def test_a_session_of_the_future_has_no_negative_age(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Clocks differ: a session that ended after now is not `-187.5h ago`."""
    fill(tmp_path)
    restore = ["restore", "--explain", "--dry-run"]
    for words in (["list"], ["show", "radio"], ["status"], ["recall", "hamlib"], restore, ["stats"], ["chain", "open"]):
        said = screens(tmp_path, capsys, *words, "--now", "2026-11-01T00:00:00Z")
        assert not re.search(r"-\d+(\.\d+)?(h|d|m|mo|y) ago", said), said


def in_json(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from in_json(each)
    elif isinstance(value, str):
        yield value


def test_paths_in_json_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that reads a path opens it: `~` is for people."""
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / ".openclaw"
    fill(root)
    (root / "agents" / "main" / "sessions").mkdir(parents=True)
    for words in (
        ["status"], ["setup", "--dry-run"], ["config"], ["openclaw", "status"], ["transcripts", "list"], ["doctor"],
        ["openclaw", "install", "--dry-run"], ["service", "status"], ["report", "--dry-run"],
    ):  # fmt: skip
        capsys.readouterr()
        main(["--state-dir", str(root), *words, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert [text for text in in_json(document) if text.startswith("~")] == [], words
    assert "~/.openclaw" in screens(root, capsys, "status")


def terminal(root: Path, *words: str, columns: int = 80) -> tuple[str, str]:
    """What a command leaves on a terminal of so many columns: the bytes, and the lines as they are seen in the end."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "jsonlstore", "--state-dir", str(root), *words]
    with subprocess.Popen(command, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        data = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not more:
                break
            data += more
    os.close(ours)
    assert running.returncode is not None
    text = data.decode()
    seen = [re.sub(r".*\x1b\[K", "", line).split("\r")[-1] for line in text.replace("\r\n", "\n").split("\n")]
    return text, "\n".join(seen)


@pytest.mark.parametrize("words", [["doctor"], ["archive", "--older-than", "1d"]], ids=lambda words: words[0])
def test_no_progress_line_is_left_behind(words: list[str], tmp_path: Path) -> None:
    store = SessionStore.open(tmp_path)
    for number in range(30):
        store.start(f"s-{number}", channel="cli")
        store.end(f"s-{number}", reason="new")
    _, seen = terminal(tmp_path, *words)
    assert not re.search(r"\d+(/| of )\d+", seen), seen


def test_errors_and_hints_are_wrapped_between_words(tmp_path: Path) -> None:
    _, seen = terminal(tmp_path, "doctor", "--quarantine", columns=40)
    lines = seen.rstrip("\n").split("\n")
    assert len(lines) > 2, seen
    assert max(map(len, lines)) <= 40, seen
    assert "error: --quarantine changes the logs: it needs --fix" in " ".join(seen.split())


def test_lines_to_paste_are_never_wrapped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A hint's first line is a sentence; what follows it is for a file."""
    monkeypatch.setenv("COLUMNS", "40")
    lines = '{\n  "command": ["' + "/a long directory" * 5 + '/jsonlstore"]\n}'
    print_error(
        UsageError("not editable", hint=f"add these lines yourself, at the place that is named above:\n{lines}")
    )
    said = capsys.readouterr().err
    assert said.endswith(f"{lines}\n")
    assert len(said.split("\n")[1]) <= 40


@pytest.mark.parametrize("said", ["Next step: solder it", "next step:  Next step: solder it", "solder it"])
def test_a_next_step_is_announced_once(said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reports one with its label, no screen says `Next step: Next step:`."""
    store = SessionStore.open(tmp_path, clock=lambda: NOW)
    store.start("s-1", channel="cli", session_key="agent:main:main")
    store.update("s-1", {"next_step": said})
    store.end("s-1", reason="new")
    assert store.get("s-1").next_step == "solder it"
    for words in (["show", "s-1"], ["recall", "solder"], ["restore", "--dry-run", "--session-key", "agent:main:main"]):
        text = screens(tmp_path, capsys, *words, "--now", format_time(NOW))
        assert "solder it" in text, words
        assert not re.search(r"next step[^a-z]*next step", text, re.IGNORECASE), text
