"""A model on loopback that says what it is told to: enough of the chat completions protocol for OpenClaw.

In the latest user message `[[exec:COMMAND]]`, `[[pin:LABEL|CONTENT]]` and `[[continue:SESSION]]` ask for a tool call
first, `[[call:TOOL|ARGUMENTS]]` for one of any tool, several of them for one after the other; `[[slow:SECONDS]]` delays
the answer, and `[[usage:TOKENS]]` is what the context is said to hold. What is injected into a prompt is not repeated
in an answer.
"""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_AUDITED = ("Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
_WISH = re.compile(r"\[\[(exec|pin|continue|call|slow|usage|held):(.*?)\]\]", re.DOTALL)
CHECKPOINT_ASKED = "Below is a checkpoint of a working session"
WORDED = "The antenna is being tuned, says the model."
_HELD = re.compile(r"\[\[held:(\d+)\]\]")
_INJECTED = re.compile(
    r"<session-continuity.*?</session-continuity>\n*"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n*"
    r"|OpenClaw runtime context for the immediately preceding user message\.\n[^\n]*private\.\n*"
    r"|\[Context: [^\]\n]*\]\n*"
    r"|\[SYSTEM: [a-z -]*memory flush\].*?(?:\n\n|\Z)",
    re.DOTALL,
)


def text_of(content: Any) -> str:
    """The words of a message, whichever way it holds them."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or () if isinstance(part, dict))


def said_by_user(messages: list[dict[str, Any]]) -> tuple[int, str]:
    """Where the latest message is that a user wrote, and their words in it."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].get("role") == "user":
            words = _INJECTED.sub("", text_of(messages[at].get("content"))).strip()
            if words:
                return at, words
    return -1, ""


def answer(messages: list[dict[str, Any]]) -> tuple[str, dict[str, Any] | None, float]:
    """What the model says, the tool it wants called first, and how long it takes over it."""
    last_user, said = said_by_user(messages)
    found = _WISH.findall(said)
    wishes = dict(found)
    ran = sum(one.get("role") == "tool" for one in messages[last_user + 1 :])
    calls = [value for kind, value in found if kind == "call"]
    wanted = _any_call(calls[ran]) if ran < len(calls) else None if ran else _tool_call(wishes)
    plain = _WISH.sub("", said).strip()[-300:]
    return f"Noted: {plain}", wanted, float(wishes.get("slow", 0))


def tokens_wished(messages: list[dict[str, Any]]) -> int:
    """How many tokens the context is to hold; what is `held` stays so in turns of the runtime's own."""
    wished = dict(_WISH.findall(said_by_user(messages)[1])).get("usage")
    held = _HELD.findall("".join(text_of(one.get("content")) for one in messages if one.get("role") == "user"))
    return int(wished or (held[-1] if held else 120))


def _any_call(wish: str) -> dict[str, Any]:
    name, _, arguments = wish.partition("|")
    return {"name": name, "arguments": arguments or "{}"}


def _tool_call(wishes: dict[str, str]) -> dict[str, Any] | None:
    if "exec" in wishes:
        return {"name": "exec", "arguments": json.dumps({"command": wishes["exec"]})}
    if "pin" in wishes:
        label, _, content = wishes["pin"].partition("|")
        arguments = {"action": "pin", "label": label, "content": content}
        return {"name": "working_memory", "arguments": json.dumps(arguments)}
    if "continue" in wishes:
        return {"name": "cortex_session_continue", "arguments": json.dumps({"session_id": wishes["continue"]})}
    return None


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        return

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "mock-1", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.server.requests.append(body)  # type: ignore[attr-defined]
        for look in self.server.looks:  # type: ignore[attr-defined]
            look(body)
        text, function, seconds = answer(body.get("messages", []))
        if not body.get("tools") and "## Open TODOs" in json.dumps(body.get("messages", [])):
            text = "\n".join([*(f"## {name}\n- {text}" for name in _AUDITED)])  # a summary that OpenClaw's audit takes
        if not body.get("tools") and CHECKPOINT_ASKED in json.dumps(body.get("messages", [])):
            text = json.dumps({"summary": WORDED})
        call = None
        if function and body.get("tools"):
            call = {"index": 0, "id": f"call_{time.time_ns()}", "type": "function", "function": function}
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if call:
            message["tool_calls"] = [call]
        reason = "tool_calls" if call else "stop"
        base = {"id": f"c{time.time_ns()}", "created": int(time.time()), "model": "mock-1"}
        total = tokens_wished(body.get("messages", []))
        usage = {"prompt_tokens": total - 20, "completion_tokens": 20, "total_tokens": total}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        chunk = {**base, "object": "chat.completion.chunk"}
        try:
            self._event({**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
            time.sleep(seconds)
            self._event({**chunk, "choices": [{"index": 0, "delta": message}]})
            self._event({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
            self._event({**chunk, "choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")
            if not call:
                self.server.answered.append(said_by_user(body["messages"])[1])  # type: ignore[attr-defined]
        except (BrokenPipeError, ConnectionResetError):
            return  # the gateway was killed in the middle of it, as the story wants

    def _event(self, document: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(document).encode() + b"\n\n")
        self.wfile.flush()

    def _send(self, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Model:
    """The model, serving until it is closed; it remembers what it was sent, and which words it answered.

    Each of `looks` is called with a request as soon as it arrives, before it is answered.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.answered: list[str] = []
        self.looks: list[Callable[[dict[str, Any]], object]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.requests = self.requests  # type: ignore[attr-defined]
        self._server.answered = self.answered  # type: ignore[attr-defined]
        self._server.looks = self.looks  # type: ignore[attr-defined]
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
