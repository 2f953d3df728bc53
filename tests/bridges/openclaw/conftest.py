"""An OpenClaw home with settings in it, and our commands as a user would give them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from jsonlstore.cli.main import main
from tests.watch.conftest import make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["make"]  # a fixture is found by its name

PLAIN = """\
// what I changed, and why
{
  "gateway": {
    "mode": "local", // no network
    "auth": { "mode": "token", "token": "not-a-real-one" },
  },
  'agents': { defaults: { workspace: "~/work" } },
}
"""


class Home:
    """A home directory with an OpenClaw of some version in it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.state_dir = root / ".openclaw"
        self.config = self.state_dir / "openclaw.json"
        self._capsys = capsys
        self.state_dir.mkdir(parents=True)
        self.write(PLAIN)

    def write(self, text: str) -> None:
        self.config.write_text(text, newline="")
        self.config.chmod(0o600)

    def change(self, change: Callable[[Any], object]) -> None:
        """Rewrite the settings as OpenClaw itself does: parsed, changed, printed."""
        import pyjson5

        settings = pyjson5.decode(self.config.read_text())
        change(settings)
        self.write(json.dumps(settings, indent=2))

    def package(self, version: str, where: str = ".npm-global/lib/node_modules/openclaw") -> Path:
        folder = self.root / where
        (folder / "dist").mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"name": "openclaw", "version": version}))
        (folder / "openclaw.mjs").write_text("#!/usr/bin/env node\n")
        (folder / "openclaw.mjs").chmod(0o755)
        return folder

    def say(self, *words: str, code: int = 0) -> str:
        """One command; returns what it printed, and on failure what it complained of."""
        self._capsys.readouterr()
        given = main(["--state-dir", str(self.state_dir), *words])
        said = self._capsys.readouterr()
        assert given == code, said.err + said.out
        return said.err if code and "--json" not in words else said.out

    def ask(self, *words: str, code: int = 0) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.say(*words, "--json", code=code))
        return document

    def files(self) -> dict[str, bytes]:
        """Everything below the state directory but lock files."""
        return {
            str(path.relative_to(self.state_dir)): path.read_bytes()
            for path in sorted(self.state_dir.rglob("*"))
            if path.is_file() and path.suffix != ".lock"
        }


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Home:
    (tmp_path / "bin").mkdir()
    for name in [name for name in os.environ if name.startswith(("OPENCLAW_", "NPM_CONFIG", "npm_config"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return Home(tmp_path, capsys)
