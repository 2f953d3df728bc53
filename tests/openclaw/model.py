"""A model on loopback that says what it is told to: enough of the chat completions protocol for OpenClaw.

In the latest user message `[[exec:COMMAND]]` asks for a tool call first, `[[slow:SECONDS]]` delays the answer.
"""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PREAMBLE = re.compile(r"<session-continuity.*?</session-continuity>\n*", re.DOTALL)
_WISH = re.compile(r"\[\[(exec|slow):(.*?)\]\]", re.DOTALL)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or () if isinstance(part, dict))


def answer(messages: list[dict[str, Any]]) -> tuple[str, str | None, float]:
    """What the model says, the command it wants run first, and how long it takes over it."""
    last_user = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=-1)
    said = _PREAMBLE.sub("", _text(messages[last_user].get("content")) if last_user >= 0 else "")
    wishes = dict(_WISH.findall(said))
    ran = any(one.get("role") == "tool" for one in messages[last_user + 1 :])
    plain = _WISH.sub("", said).strip()[-300:]
    command = wishes.get("exec") if not ran else None
    return f"Noted: {plain}", command, float(wishes.get("slow", 0))


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        return

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": "mock-1", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.server.requests.append(body)  # type: ignore[attr-defined]
        text, command, seconds = answer(body.get("messages", []))
        call = None
        if command and body.get("tools"):
            function = {"name": "exec", "arguments": json.dumps({"command": command})}
            call = {"index": 0, "id": f"call_{time.time_ns()}", "type": "function", "function": function}
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if call:
            message["tool_calls"] = [call]
        reason = "tool_calls" if call else "stop"
        base = {"id": f"c{time.time_ns()}", "created": int(time.time()), "model": "mock-1"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
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
    """The model, serving until it is closed; it remembers what it was sent."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.requests = self.requests  # type: ignore[attr-defined]
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
