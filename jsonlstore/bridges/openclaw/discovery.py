"""Find OpenClaw and its version by looking, without running it: its own command takes seconds to answer."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from jsonlstore.core.errors import JsonlStoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OLDEST = (2026, 2)
GATEWAY = "the running gateway"
_SCRIPT_BYTES = 65536

# where package managers put global packages, below the home directory or from the root
_ROOTS = (
    "~/.npm-global/lib/node_modules",
    "~/.local/lib/node_modules",
    "~/.nvm/versions/node/*/lib/node_modules",
    "~/.local/share/fnm/node-versions/*/installation/lib/node_modules",
    "~/.volta/tools/image/packages/openclaw/lib/node_modules",
    "~/.local/share/pnpm/global/*/node_modules",
    "~/Library/pnpm/global/*/node_modules",
    "~/.bun/install/global/node_modules",
    "/usr/local/lib/node_modules",
    "/usr/lib/node_modules",
    "/opt/homebrew/lib/node_modules",
)
# what runs the gateway in the background names the program it runs
_SERVICES = ("~/.config/systemd/user/openclaw*.service", "~/Library/LaunchAgents/*openclaw*.plist")
_PROGRAM = re.compile(r"""(/[^\s"'<>]*?/openclaw)/(?:dist/|openclaw\.mjs)""")
_SHIM = re.compile(r"""\$basedir(/[^\s"']*?/openclaw)/""")


class UnsupportedOpenClaw(JsonlStoreError):
    """This OpenClaw is older than any we know how to speak to."""

    code = "unsupported_openclaw"


@dataclass(frozen=True, slots=True)
class Installation:
    """An OpenClaw: its version, where it is, and how we know."""

    version: str | None = None
    package: Path | None = None
    known_by: str = "not found"

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers; empty if it is not known."""
        found = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", self.version or "")
        return tuple(int(part) for part in found.groups() if part) if found else ()

    @property
    def is_known(self) -> bool:
        return bool(self.release)

    def describe(self) -> str:
        """In a few words, for people."""
        if not self.is_known:
            return "OpenClaw of an unknown version"
        later = " or later" if len(self.release) < 3 else ""
        return f"OpenClaw {self.version}{later} ({self.how_known})"

    @property
    def how_known(self) -> str:
        """How we know, as the end of a sentence: a program that was found, a report, or what it left behind."""
        if self.known_by == GATEWAY:
            return f"as {GATEWAY} reports"
        if self.package is not None:
            return "as named" if self.known_by == "--openclaw" else f"found by {self.known_by}"
        return f"judging by {self.known_by}"

    def to_dict(self) -> dict[str, str | None]:
        path = str(self.package) if self.package else None
        return {"version": self.version, "path": path, "known_by": self.known_by}


def find_openclaw(
    state_dir: Path, settings: Any = None, *, named: str | None = None, env: Mapping[str, str] = os.environ
) -> Installation:
    """The OpenClaw that uses `state_dir`; what is `named` is taken at its word, or refused."""
    found = _named(named) if named else _look(state_dir, settings, env)
    if found.is_known and found.release < OLDEST:
        message = f"OpenClaw {found.version} is too old: plugins are understood from 2026.2 on"
        hint = "update OpenClaw, or name another installation with --openclaw PATH"
        raise UnsupportedOpenClaw(message, hint=hint, path=found.package)
    return found


def _named(named: str) -> Installation:
    path = Path(named).expanduser()
    package = package_of(path)
    version = version_of(package) if package else None
    if package is None or version is None:
        hint = "--openclaw takes the `openclaw` command or the directory with OpenClaw's package.json in it"
        raise UsageError(f"no OpenClaw at {path}", hint=hint, path=path)
    return Installation(version, package, "--openclaw")


def _look(state_dir: Path, settings: Any, env: Mapping[str, str]) -> Installation:
    home = Path(env.get("HOME") or "~").expanduser()
    own = (folder / "lib/node_modules/openclaw" for folder in (state_dir, home / ".openclaw"))
    for known_by, candidates in (
        ("the gateway's service file", _from_services(home)),
        ("PATH", _from_path(env)),
        ("its own directory", own),
        ("a global package directory", _from_roots(home, env)),
    ):
        found = [Installation(version, path, known_by) for path in candidates if (version := version_of(path))]
        if found:
            return max(found, key=lambda one: one.release)
    return _from_traces(state_dir, settings)


def _from_traces(state_dir: Path, settings: Any) -> Installation:
    """What OpenClaw left behind tells its version, or at least its era."""
    meta = settings.get("meta") if isinstance(settings, dict) else None
    touched = meta.get("lastTouchedVersion") if isinstance(meta, dict) else None
    if isinstance(touched, str) and touched:
        return Installation(touched, None, "openclaw.json")
    if any((state_dir / "agents").glob("*/agent/openclaw-agent.sqlite")):
        return Installation("2026.8", None, "its transcripts")
    return Installation()


def _from_path(env: Mapping[str, str]) -> Iterator[Path]:
    command = shutil.which("openclaw", path=env.get("PATH") or os.defpath)
    package = package_of(Path(command)) if command else None
    if package:
        yield package


def _from_services(home: Path) -> Iterator[Path]:
    for pattern in _SERVICES:
        for file in sorted(home.glob(pattern.removeprefix("~/"))):
            for program in _PROGRAM.findall(_head(file)):
                yield Path(program)


def _from_roots(home: Path, env: Mapping[str, str]) -> Iterator[Path]:
    roots = [pattern.replace("~", os.fspath(home), 1) for pattern in _ROOTS]
    if prefix := env.get("NPM_CONFIG_PREFIX") or env.get("npm_config_prefix"):
        roots.insert(0, f"{prefix}/lib/node_modules")
    if node := shutil.which("node", path=env.get("PATH") or os.defpath):
        roots.append(os.fspath(Path(node).resolve().parent.parent / "lib/node_modules"))
    for root in roots:
        yield from sorted(Path("/").glob(f"{root.lstrip('/')}/openclaw"))


def package_of(path: Path) -> Path | None:
    """The package a command belongs to: by its real path, or by what a shell wrapper starts."""
    real = path.resolve()
    for folder in (real, *real.parents):
        if version_of(folder):
            return folder
    script = _head(real)
    beside = [(real.parent / part.lstrip("/")).resolve() for part in _SHIM.findall(script)]
    started = map(Path, _PROGRAM.findall(script))
    return next((package for package in (*beside, *started) if version_of(package)), None)


def version_of(package: Path) -> str | None:
    try:
        document = orjson.loads((package / "package.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    if not isinstance(document, dict) or document.get("name") != "openclaw":
        return None
    version = document.get("version")
    return version if isinstance(version, str) else None


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_SCRIPT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
