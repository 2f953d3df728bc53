"""What a client gets over the Model Context Protocol: the official SDK's client is the judge."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import subprocess
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jsonlstore import SessionStore
from jsonlstore.bridges.mcp import McpServer, MemoryTools
from jsonlstore.core.config import Config
from jsonlstore.restore import Scope
from tests.home import START, Home, task

MINE, OTHER = "agent:main:main", "agent:main:telegram:direct:4711"
TOOLS = {"recall", "timeline", "show", "where", "task", "pin"}
NOW = "2026-11-10T18:00:00Z"


def filled(home: Home) -> None:
    home.past(
        "mine-1",
        session_key=MINE,
        active_projects=["radio"],
        hot_topics=["hamlib", "antenna"],
        pending_tasks=[task(1)],
        next_step="solder the PTT line",
    )
    home.past("mine-2", session_key=MINE, active_projects=["kite"], hot_topics=["bridle"])
    home.past("other-1", session_key=OTHER, active_projects=["radio"], hot_topics=["hamlib", "divorce"])


def asked(home: Home, *options: str) -> dict[str, Any]:
    """Everything a client can ask for, put by the official client to the real command."""
    pytest.importorskip("mcp", reason="the official MCP SDK is not installed")
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    line = home.command("mcp", "--session-key", MINE, "--now", NOW, *options)

    async def talk() -> dict[str, Any]:
        server = StdioServerParameters(command=line[0], args=line[1:])
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            begun = await client.initialize()
            calls = {
                "recall": {"query": "hamlib antenna"},
                "timeline": {},
                "show": {"session_id": "mine-1"},
                "where": {},
                "task": {},
                "pin": {"content": "callsign DL1ABC", "label": "call"},
            }
            return {
                "begun": begun,
                "tools": (await client.list_tools()).tools,
                "answers": {name: await client.call_tool(name, given) for name, given in calls.items()},
                "foreign": await client.call_tool("show", {"session_id": "other-1"}),
                "resources": (await client.list_resources()).resources,
                "session": await client.read_resource("session://mine-1"),
                "handoff": await client.read_resource("handoff://latest"),
                "prompts": (await client.list_prompts()).prompts,
                "resume": await client.get_prompt("resume"),
            }

    return asyncio.run(asyncio.wait_for(talk(), 60))


def test_the_official_client_lists_and_calls_everything(home: Home) -> None:
    """Every tool answers with text and structured content that fits its schema; resources and the prompt are there."""
    filled(home)
    home.pin({"content": "old pin", "label": "p"})
    got = asked(home)
    assert {one.name for one in got["tools"]} == TOOLS
    for one in got["tools"]:
        hints = one.annotations.model_dump(by_alias=True)
        assert hints["openWorldHint"] is False
        assert hints["readOnlyHint"] is (one.name != "pin")
    for name, answer in got["answers"].items():
        told = answer.model_dump(by_alias=True)
        assert not told["isError"], (name, told)
        assert isinstance(told["structuredContent"]["session_ids"], list)
        assert len(told["content"][0]["text"].encode()) <= 4096
        assert "divorce" not in json.dumps(told, default=str)
    structured = {name: one.model_dump(by_alias=True)["structuredContent"] for name, one in got["answers"].items()}
    assert structured["recall"]["session_ids"] == ["mine-1"]
    assert structured["timeline"]["session_ids"] == ["mine-2", "mine-1"]
    assert structured["task"]["session_ids"] == ["mine-1"]
    assert "solder the PTT line" in got["answers"]["show"].content[0].text
    assert "callsign DL1ABC" in got["answers"]["pin"].content[0].text
    assert got["foreign"].model_dump(by_alias=True)["isError"] is True
    assert {"handoff://latest", "session://mine-1"} <= {str(one.uri) for one in got["resources"]}
    assert "other-1" not in str(got["resources"])
    assert "solder" in got["session"].contents[0].text
    assert "mine-2" in got["handoff"].contents[0].text
    assert [one.name for one in got["prompts"]] == ["resume"]
    assert "mine-2" in got["resume"].messages[0].content.text


def test_a_project_given_at_the_start_narrows_every_answer(home: Home) -> None:
    """With --project, sessions of other projects are as if they did not exist."""
    filled(home)
    got = asked(home, "--project", "RADIO")
    assert got["answers"]["timeline"].model_dump(by_alias=True)["structuredContent"]["session_ids"] == ["mine-1"]
    assert "mine-1" in got["handoff"].contents[0].text
    assert "mine-2" not in str(got["resources"])


KEYS = [MINE, OTHER, "agent:main:telegram:group:1", "agent:two:main", None]
SECRETS = [f"zq{letter}xv" for letter in "abcdefgh"]
ARGUMENTS = st.dictionaries(
    st.sampled_from(
        ["query", "when", "limit", "session_id", "since", "until", "project", "agent", "session_key", "scope", "label"]
    ),
    st.one_of(
        st.sampled_from([*SECRETS, *map(str, KEYS), "all", "*", "s-", "../s-1", "", "2020", "last week"]),
        st.integers(-5, 10**6),
        st.none(),
        st.booleans(),
        st.lists(st.sampled_from(SECRETS), max_size=2),
    ),
    max_size=5,
)
REQUESTS = st.one_of(
    st.tuples(st.sampled_from(sorted(TOOLS)), ARGUMENTS).map(
        lambda one: {"method": "tools/call", "params": {"name": one[0], "arguments": one[1]}}
    ),
    st.sampled_from(["session://", "session://*", "session://s", "handoff://latest", "session:///s-1"]).map(
        lambda uri: {"method": "resources/read", "params": {"uri": uri}}
    ),
    st.integers(0, 7).map(lambda number: {"method": "resources/read", "params": {"uri": f"session://s-{number}"}}),
    st.sampled_from(["resources/list", "prompts/list"]).map(lambda name: {"method": name}),
    st.just({"method": "prompts/get", "params": {"name": "resume", "arguments": {"scope": "all"}}}),
)


@given(
    keys=st.lists(st.sampled_from(KEYS), min_size=2, max_size=8),
    bound=st.sampled_from(KEYS),
    project=st.sampled_from([None, "p0", "p1"]),
    reach=st.sampled_from(["conversation", "agent"]),
    requests=st.lists(REQUESTS, min_size=1, max_size=8),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_a_client_says_widens_the_scope(
    keys: list[str | None], bound: str | None, project: str | None, reach: str, requests: list[dict[str, Any]]
) -> None:
    """Over random conversations and requests, no word and no id of a session out of scope is ever answered."""
    store = SessionStore.in_memory(clock=lambda: START + timedelta(days=1))
    scope = Scope.of(reach, None, bound, None)
    hidden = []
    for number, key in enumerate(keys):
        name, word, work = f"s-{number}", SECRETS[number], f"p{number % 2}"
        begun = f"2026-11-10T0{number}:00:00.000Z"
        store.start(name, session_key=key, start_time=begun)
        told = {"hot_topics": [word], "active_projects": [work], "next_step": f"do {word}"}
        store.end(name, {**told, "pending_tasks": [{"task_id": f"T-{number}", "title": word, "stage": "build"}]})
        if not scope.allows(store.get(name)) or (project and work != project):
            hidden += [word, name]
    server = McpServer(MemoryTools(store, Config(scope=reach), scope, project=project), "0")
    for number, request in enumerate(requests):
        answer = server.answer(json.dumps({"jsonrpc": "2.0", "id": number, **request}).encode())
        assert answer is not None
        answer.get("result", {}).get("contents", [{}])[0].pop("uri", None)  # it is what the client said
        said = re.sub(r"not a time: '[^']*'", "", json.dumps(answer))  # so is this
        assert not [one for one in hidden if re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", said)], said


@given(st.text(max_size=3000), st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_no_answer_is_longer_than_4_kb(text: str, count: int) -> None:
    """Whatever a session holds: text and structured content each fit."""
    store = SessionStore.in_memory(clock=lambda: START + timedelta(days=1))
    for number in range(min(count, 12)):
        store.start(f"s-{number}", session_key=MINE)
        many = [f"{text} {one}" for one in range(count)]
        store.end(f"s-{number}", {"hot_topics": many, "in_progress": many, "open_questions": many, "next_step": text})
    tools = MemoryTools(store, Config(), Scope.of("conversation", None, MINE, None))
    for name, given_ in (("timeline", {}), ("show", {"session_id": "s-0"}), ("where", {}), ("task", {}), ("pin", {})):
        told = tools.call(name, given_)
        assert len(told.pop("text").encode()) <= 4096
        assert len(json.dumps(told).encode()) <= 4096


def test_a_pinned_secret_reaches_no_file(home: Home) -> None:
    """What a client pins passes the redactor."""
    filled(home)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    tools = MemoryTools(home.store, Config(), Scope.of("conversation", None, MINE, None))
    tools.call("pin", {"content": f"token {secret}", "label": "t"})
    assert "REDACTED" in home.pin_file.read_text()
    assert secret not in home.pin_file.read_text()


@given(st.one_of(st.binary(max_size=80), st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9),
       lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
           st.sampled_from(["id", "method", "params", "jsonrpc", "name"]), inner, max_size=4)).map(
               lambda one: json.dumps(one).encode())))  # fmt: skip
@settings(deadline=None)
def test_no_message_ends_the_server(line: bytes) -> None:
    """Garbage gets an error or nothing; the next request is answered."""
    server = McpServer(MemoryTools(SessionStore.in_memory(), Config(), Scope.of("all", None, None, None)), "0")
    out = io.BytesIO()
    ping = b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n'
    server.serve(io.BytesIO(line.replace(b"\n", b" ") + b"\n" + ping), out)
    assert json.loads(out.getvalue().splitlines()[-1]) == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_initialize_loads_nothing_that_only_later_answers_need(home: Home) -> None:
    """The first answer comes before search and signals are loaded: some clients wait half a second."""
    filled(home)
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}) + "\n"
    line = home.command("mcp", "--session-key", MINE)
    done = subprocess.run(
        [line[0], "-c", _LOADED, *line[3:]], input=request, capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2025-06-18"
    loaded = set(done.stderr.split())
    assert "jsonlstore.bridges.mcp.tools" in loaded
    heavy = ("jsonlstore.recall.answers", "jsonlstore.signals", "jsonschema", "watchdog", "jinja2", "mcp", "pydantic")
    assert not loaded & set(heavy)


def test_initialize_is_answered_in_half_a_second(home: Home) -> None:
    """By the processor's clock, the least of three: what a quiet machine would take, start of Python included."""
    filled(home)
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}).encode() + b"\n"
    spent = []
    for _ in range(3):
        process = subprocess.Popen(
            home.command("mcp", "--session-key", MINE), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request)
        process.stdin.close()
        assert b"serverInfo" in process.stdout.read()
        process.stdout.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        spent.append(used.ru_utime + used.ru_stime)
    assert min(spent) <= 0.5, spent


_LOADED = """
import sys
from jsonlstore.cli.main import main
main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
"""
