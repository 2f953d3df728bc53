"""Every parameter of every command, every field of every hook, every leaf of every kind of record: thirty kinds each.

What there is to plant in is asked of the program itself: of its commands, its model and its schemas. A parameter or a
field that is new is planted in without a change here, or fails here for want of a value that stands beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from jsonlstore.cli.main import LazyGroup, cli
from jsonlstore.core.model import LINKS, PART_LISTS, SCALARS, SINGLE_PARTS, STRING_LISTS, TIMES, part_keys
from jsonlstore.core.paths import StatePaths
from jsonlstore.recall import SearchIndex
from jsonlstore.redact import is_secret_id
from jsonlstore.signals.options import ToolNames
from tests.redact.test_doors_of_commands import PLANTED
from tests.watch.conftest import OpenClaw, Talk

SID = "11111111-aaaa-4aaa-8aaa-111111111111"
RUNNER = Path(__file__).with_name("every_door.py")
# a value that stands beside the planted one where a command asks for it
BESIDE = {
    "session_id": SID, "session_ids": SID, "id_": SID, "id_or_file": SID, "content": "see the antenna",
    "wanted": "repair the mast", "name": "lbf-radio", "names": "mast", "spoken": "antenna", "number": "1",
    "event": "turn-end",
    "shell": "bash",
    "path": "given", "paths": "given", "folder": "given",
}  # fmt: skip
# these wait for people or a network, or change the machine; what they refuse to do is said by the same code
NOT_RUN_WHOLE = {
    "setup",
    "watch",
    "service install",
    "service uninstall",
    "openclaw install",
    "openclaw uninstall",
    "demo",
}


def commands(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, with the words that call it."""
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            one = group.get_command(context, name)
            assert one is not None
            yield from commands(one, (*words, name))
        if not isinstance(group, LazyGroup):
            yield words, group
    else:
        yield words, group


COMMANDS = dict(commands(cli))


def valued(command: click.Command) -> list[click.Parameter]:
    """The parameters that take a text."""
    return [one for one in command.params if not (isinstance(one, click.Option) and (one.is_flag or one.count))]


def call(words: tuple[str, ...], command: click.Command, planted: click.Parameter, text: str) -> list[str]:
    """A command line with a text in one parameter and something usual in those that are asked for besides."""
    options: list[str] = []
    arguments: list[str] = []
    for one in valued(command):
        if one is planted:
            (arguments if isinstance(one, click.Argument) else options).extend(
                [text] if isinstance(one, click.Argument) else [one.opts[0], text]
            )
        elif one.required or (isinstance(one, click.Argument) and one.name in BESIDE and one.nargs == 1):
            assert one.name is not None
            value = BESIDE[one.name]  # a new one: say here what usually stands there
            (arguments if isinstance(one, click.Argument) else options).extend(
                [value] if isinstance(one, click.Argument) else [one.opts[0], value]
            )
    return [*words, *options, "--", *arguments]


ALL = "\n".join(text for text, _ in PLANTED)


class House:
    """A state directory, and everything that was written into it or said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "state"
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        self.openclaw = OpenClaw(self.path)
        self.said = b""

    def run(self, calls: list[tuple[list[str], str]]) -> None:
        """All of them in one process, each with every decision explained."""
        listed = self.folder / "calls.jsonl"
        lines = [
            json.dumps({"argv": ["--debug", "--state-dir", str(self.path), *argv], "stdin": stdin})
            for argv, stdin in calls
        ]
        listed.write_text("\n".join(lines))
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        env = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "NO_COLOR": "1", "PATH": "/nonexistent"}
        done = subprocess.run(
            [sys.executable, str(RUNNER), str(listed)], cwd=self.work, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=900,
        )  # fmt: skip
        listed.unlink()
        self.said += done.stdout + done.stderr
        assert done.returncode == 0, done.stderr[-2000:]

    def read_back(self) -> None:
        """Everything that shows what is kept, for people and for programs."""
        shown: list[list[str]] = []
        for words, command in COMMANDS.items():
            if " ".join(words) in NOT_RUN_WHOLE | {"mcp", "hook", "redact", "completion"}:
                continue
            beside = [
                BESIDE[one.name or ""] for one in valued(command) if isinstance(one, click.Argument) and one.required
            ]
            flags = {name for one in command.params for name in one.opts}
            shown.append([*words, *beside])
            shown += [[*words, *beside, flag] for flag in ("--json", "--explain") if flag in flags]
        self.run([(argv, "") for argv in shown if argv[0] != "forget"])

    def leaked(self, theirs: tuple[str, ...] = ()) -> list[str]:
        """The places of planted secrets in what we wrote or said; files that others wrote are theirs."""
        written = [self.said]
        for folder in (self.path, self.folder / "home"):
            for file in folder.rglob("*"):
                name = str(file.relative_to(folder))
                if file.is_file() and not name.startswith(("agents/", *theirs)):
                    written.append(name.encode() + b"\n" + file.read_bytes())
        search = StatePaths.of(self.path).search
        if search.exists():
            written.append(search.read_bytes().lower())
            index = SearchIndex.open(search)
            turns = [turn for one in index.documents("1 = 1") for turn in index.all_turns(one.no)]
            written += [f"{turn.entry_id} {turn.text}".encode() for turn in turns]
            index.close()
        everything = b"\n".join(written)
        found = []
        for _, secret in PLANTED:
            forms = {secret.encode(), json.dumps(secret)[1:-1].encode(), secret.lower().encode()}
            for form in forms:
                at = everything.find(form)
                if at >= 0:
                    found.append(everything[max(0, at - 160) : at + len(form) + 20].decode("utf-8", "replace"))
        return found


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


_GROUPS = sorted({words[0] for words in COMMANDS if words})


@pytest.mark.parametrize("name", _GROUPS)
def test_no_parameter_of_a_command_is_kept_or_repeated(name: str, house: House) -> None:
    """Each that takes a value, numbers, dates, paths and choices too: a wrong one is quoted in the complaint."""
    house.openclaw.begin(SID, "antenna")
    calls: list[tuple[list[str], str]] = [(["backfill"], "")]
    for words, command in COMMANDS.items():
        if not words or words[0] != name:
            continue
        for parameter in valued(command):
            if words == ("export", "brain-db") and parameter.name == "path":
                continue  # where the database is, is kept: the next export goes on there
            if words == ("hook",) and parameter.name != "event" and parameter.name != "now":
                continue
            whole = " ".join(words) in NOT_RUN_WHOLE and isinstance(parameter.type, click.types.StringParamType)
            alone = PLANTED[len(calls) % len(PLANTED)][0]
            calls += [(call(words, command, parameter, text), "{}") for text in ([alone] if whole else [alone, ALL])]
    house.run(calls)
    assert house.leaked() == []


def _parts(kind: type[Any], text: str) -> dict[str, Any]:
    """A part with the text in every field that is one."""
    numbers = {"old_score": 0.4, "new_score": 0.6, "confidence": 0.7, "used": 3, "window": 9, "changes": 1, "times": 1}
    flags = {"flagged_incomplete", "acknowledged", "resolved", "estimated", "uncommitted", "by_hand"}
    given: dict[str, Any] = {}
    for key in part_keys(kind):
        given[key] = numbers.get(key, True if key in flags else text)
    return {**given, "confidence": 0.7, "evidence": [text], "unheard_of": {"deep": [text], text: 1}}


def state_fields(text: str) -> dict[str, Any]:
    """Every field a hook may send, with the text wherever one may stand."""
    fields: dict[str, Any] = {name: [_parts(kind, text)] for name, kind in PART_LISTS.items()}
    fields |= {name: _parts(kind, text) for name, kind in SINGLE_PARTS.items()}
    fields |= {name: [text] for name in STRING_LISTS} | dict.fromkeys((*SCALARS, *TIMES, *LINKS), text)
    schema = json.loads((Path(__file__).parents[2] / "schemas" / "state.schema.json").read_text())
    fields |= {name: text for name in schema["properties"] if name not in fields and name != "session_id"}
    return fields | {"reason": text, "messages": [{"role": "user", "content": text}], "unheard_of": [{text: text}]}


_EVENTS = next(one.type.choices for one in COMMANDS[("hook",)].params if isinstance(one.type, click.Choice))


def _hook_calls(event: str, session_id: str, texts: tuple[str, ...], alone: slice) -> list[tuple[list[str], str]]:
    """One event told everything of each text: all fields at once, those of `alone` one at a time, and no document."""
    begun = {"session_id": session_id, "channel": "cli", "agent_id": "main", "session_key": "agent:main:main"}
    calls = [(["hook", "session-start"], json.dumps(begun))]
    for text in texts:
        fields = state_fields(text)
        kept = {name: value for name, value in fields.items() if name not in (*TIMES, *LINKS, "tokens")}
        documents = [{"session_id": session_id, **kept}, {"session_id": text, "channel": text}, [text]]
        if text is ALL:  # a field that is refused must not hide what becomes of the others
            documents += [{"session_id": session_id, name: value} for name, value in list(fields.items())[alone]]
        calls += [(["hook", event], json.dumps(document)) for document in documents]
        calls.append((["hook", event], f"{{not json {text}"))
    return calls


_THIRD = 3  # of the fields stand alone in each event, others in the next one


def test_no_field_of_a_hook_is_kept_or_repeated(house: House) -> None:
    """Every event with all fields at once, all kinds in one text and some alone, and each field alone in some events.

    The long form below takes every field and every kind alone in every event.
    """
    texts = (ALL, *(text for text, _ in PLANTED[::10]))
    for number, event in enumerate(_EVENTS):
        house.run(_hook_calls(event, f"a{number}", texts, slice(number % _THIRD, None, _THIRD)))
    house.read_back()
    assert house.leaked() == []


@pytest.mark.slow
@pytest.mark.parametrize("event", _EVENTS)
def test_no_field_alone_is_kept_or_repeated(event: str, house: House) -> None:
    """One field at a time and all at once, all kinds in one text and each alone."""
    house.run(_hook_calls(event, "a", (ALL, *(text for text, _ in PLANTED)), slice(None)))
    house.read_back()
    assert house.leaked() == []


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, (*path, number))


def _with(value: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], text)
    return copy


_ARGUMENTS = (
    "command", "cmd", "script", "cwd", "workdir", "path", "file_path", "content", "text", "title", "subject", "body",
    "to", "from", "message", "project", "task_id", "label", "query", "category", "categories", "memory_id", "id",
    "reason",
    "sop_path", "sop", "name", "action", "question", "todos", "url", "unheard_of",
)  # fmt: skip


def _records(talk: Talk) -> list[dict[str, Any]]:
    """One record of each kind, with every tool we follow called and answered."""
    made = [talk.user("please"), talk.assistant("We decided to wait."), talk.reset("new")]
    made += [talk._entry("compaction", summary="s"), talk._entry("custom", customType="c", data={"a": "b"})]
    made += [talk._entry("model_change", provider="p", modelId="m"), talk._entry("label", targetId="t", label="l")]
    named = ToolNames()
    tools = [name for field in named.__dataclass_fields__ for name in sorted(getattr(named, field))]
    for number, tool in enumerate([*tools, "ask_user", "todo_write", "unheard_of"]):
        arguments = dict.fromkeys(_ARGUMENTS, "x")
        block = {"type": "toolCall", "id": f"call{number}", "name": tool, "arguments": arguments}
        made.append(talk._entry("message", message={"role": "assistant", "content": [block], "errorMessage": "e"}))
        details = {
            "cwd": "/home/u/w",
            "status": "ok",
            "error": "",
            "memory_id": "m1",
            "id": "i",
            "sop": "s",
            "unheard_of": "u",
        }
        result = {
            "role": "toolResult",
            "toolCallId": f"call{number}",
            "toolName": tool,
            "isError": False,
            "details": details,
        }
        made.append(talk._entry("message", message={**result, "content": [{"type": "text", "text": "SOP done"}]}))
    return made


_STRUCTURE = {("type",), ("id",), ("parentId",), ("timestamp",), ("message", "role")}


def test_no_leaf_of_a_record_gets_anywhere(house: House) -> None:
    """User, assistant, tools with every argument and detail, mails, memory ids, resets, compactions, unknown ones."""
    talk = house.openclaw.begin(SID, "antenna")
    lines: list[dict[str, Any]] = []
    number = 0
    for record in _records(talk):
        for path in _leaves(record):
            if path in _STRUCTURE or path[-1] in ("toolCallId", "type") or path[-2:] == (0, "id"):
                continue
            text = PLANTED[number % len(PLANTED)][0]
            number += 1
            lines.append(_with(record, path, text))
    for text, _ in PLANTED:
        lines.append(talk.assistant(f"{text}\n\n{text}"))
        lines.append(talk.user(f"a plain beginning {'word ' * 40}{text}"))
        lines.append({**talk.user("hello"), "id": text, "parentId": text, "timestamp": text, "unheard_of": text})
    house.openclaw.append(SID, *lines)
    house.openclaw.index["agent:main:main"] |= {"lastTo": PLANTED[0][0], "unheard_of": PLANTED[1][0]}
    house.openclaw.refer(PLANTED[2][0], SID, channel=PLANTED[3][0])
    house.run([(["backfill"], ""), (["watch", "--once"], ""), (["handoff", "capture", SID], "")])
    house.read_back()
    assert house.leaked() == []


def test_no_transcript_whose_name_is_a_secret_is_named(house: House) -> None:
    """A derived id stands for it everywhere."""
    for number, (text, _) in enumerate(PLANTED):
        name = text.replace("/", "_").replace("\0", "")
        if not is_secret_id(name) or len(name) > 200:
            continue
        talk = Talk(name)
        house.openclaw.append(name, talk.header, *talk.turn("antenna"))
        house.openclaw.refer(f"agent:main:{number}", name)
    house.run([(["backfill"], ""), (["watch", "--once"], "")])
    house.read_back()
    assert house.leaked() == []
