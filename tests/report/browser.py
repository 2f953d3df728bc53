"""A headless Chromium, driven over its DevTools pipe: a few lines in place of a framework."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.openclaw.packages import CACHE, Installer, NotToBeHad, Package

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60.0
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--hide-scrollbars", "--force-color-profile=srgb", "--force-device-scale-factor=1",
)  # fmt: skip


_UNPACK = """
const fs = require("fs"), zlib = require("zlib");
const [from, to] = process.argv.slice(1);
for (const name of ["chromium", "al2023.tar"])
  fs.writeFileSync(`${to}/${name}`, zlib.brotliDecompressSync(fs.readFileSync(`${from}/${name}.br`)));
"""


class NoChromium(Exception):
    """Why there is none."""


def find_chromium() -> list[str]:
    """The command for one: `JSONLSTORE_CHROMIUM`, else one of the usual names on the path, else one from npm."""
    named = os.environ.get("JSONLSTORE_CHROMIUM")
    found = named or next((place for name in NAMES if (place := shutil.which(name))), None)
    return [found] if found else _from_npm()


def _from_npm() -> list[str]:
    """A Chromium that a package carries whole, its libraries beside it, unpacked once into the cache of test runs."""
    try:
        packed = Installer().need(Package("chromium", "@sparticuz/chromium@147", "@sparticuz/chromium/bin/chromium.br"))
    except NotToBeHad as problem:
        raise NoChromium(f"no Chromium on the path, and {problem}") from problem
    place = CACHE / "chromium" / "unpacked"
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as folder:
            subprocess.run(["node", "-e", _UNPACK, str(packed.parent), folder], check=True, timeout=120)
            subprocess.run(["tar", "xf", "al2023.tar"], cwd=folder, check=True)
            (Path(folder) / "chromium").chmod(0o755)
            with contextlib.suppress(OSError):  # another test run was faster
                os.rename(folder, place)
    return ["env", f"LD_LIBRARY_PATH={place / 'lib'}", str(place / "chromium")]


class Browser:
    """One page in a browser of its own profile; everything it asks for and complains about is kept."""

    def __init__(self, program: list[str], profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()
        flags = [*_FLAGS, f"--user-data-dir={profile}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        # the browser wants its pipe at descriptors 3 and 4
        line = f'exec "$0" "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        self._process = subprocess.Popen(
            ["bash", "-c", line, *program, *flags, "about:blank"],
            pass_fds=(ours[0], theirs[1]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(profile), "TZ": "UTC"},
            start_new_session=True,
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._send, self._receive = ours[1], theirs[0]
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._loaded = False
        self.requests: list[str] = []
        self.complaints: list[str] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._send)
        os.close(self._receive)

    def call(self, method: str, **params: Any) -> Any:
        """One command and its answer."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
        raise AssertionError(f"no answer to {method}")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._receive, 1 << 20)
            assert piece, "the browser is gone"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(params["entry"]))

    def open(self, path: Path, *, width: int = 1360, height: int = 900, dark: bool = False) -> None:
        """Show a file and wait until its script has done everything it does by itself."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.requests.clear()
        self.complaints.clear()
        self._loaded = False
        self.call("Page.navigate", url=path.as_uri())
        while not self._loaded:
            self._next()
        self.wait('document.documentElement.dataset.ready === "yes"')

    def run(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Ask until the condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < deadline, f"never true: {condition}"

    def type(self, selector: str, text: str) -> None:
        """Put text into a field as a user would."""
        self.run(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)}); field.focus();"
            f" field.value = {json.dumps(text)}; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )

    def key(self, key: str) -> None:
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowRight": 39}.get(
            key, ord(key.upper()) if len(key) == 1 else 0
        )
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self) -> bytes:
        """What is seen, as WebP: a third of a PNG."""
        found = self.call("Page.captureScreenshot", format="webp", quality=82)
        return base64.b64decode(found["data"])
