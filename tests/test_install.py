"""The README's block for installing works as it is, on a machine with pipx, with uv, or with neither."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.search(r"```sh\n(if command -v pipx.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
STUB = '#!/bin/sh\necho "$(basename "$0") $*" >> "$HOME/called"\n'
NEEDED = ("bash", "sh", "mkdir", "ln", "echo", "basename", "env")


def run(script: str, home: Path, path: str) -> subprocess.CompletedProcess[str]:
    """In a clean home, with nothing of this environment but the settings that say where packages come from."""
    env = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    env |= {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-c", script], env=env, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )


def tools(home: Path, *stubs: str) -> str:
    """A PATH with the tools every machine has, and stubs that write down how they were called."""
    folder = home / "programs"
    folder.mkdir(parents=True)
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    for name in stubs:
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("there", "called"),
    [
        (("pipx", "uv", "python3"), "pipx install --force ."),
        (("uv", "python3"), "uv tool install --reinstall ."),
        (("python3",), "python3 -m venv {home}/.local/share/jsonlstore"),
    ],
    ids=["pipx", "uv", "neither"],
)
def test_the_block_uses_what_the_machine_has(there: tuple[str, ...], called: str, tmp_path: Path) -> None:
    assert BLOCK is not None
    done = run(BLOCK[1], tmp_path, tools(tmp_path, *there))
    assert (tmp_path / "called").read_text().splitlines()[0] == called.format(home=tmp_path), done.stderr


def managed_python() -> str | None:
    """The folder of a system Python that refuses `pip install`, if there is one."""
    found = Path("/usr/bin/python3")
    return str(found.parent) if found.exists() and any(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED")) else None


@pytest.mark.slow
@pytest.mark.parametrize("way", ["pipx", "uv", "neither"])
def test_the_block_installs_for_real_and_again(way: str, tmp_path: Path) -> None:
    """In a clean home with the system's own Python; twice, because the same block upgrades."""
    assert BLOCK is not None
    path = tools(tmp_path)
    program = None if way == "neither" else shutil.which(way)
    python = managed_python()
    if python is None or (way != "neither" and program is None):
        pytest.skip(f"needs an externally managed /usr/bin/python3 and {way}")
    (Path(path) / "python3").symlink_to(f"{python}/python3")
    if program is not None:
        (Path(path) / way).symlink_to(program)
    for _ in range(2):
        done = run(BLOCK[1] + "\njsonlstore demo", tmp_path, path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "SESSION CONTINUITY" in done.stdout
