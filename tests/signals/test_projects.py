"""Which projects a session worked on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.projects import (
    MOST_NAMES,
    ProjectTally,
    directories_in_command,
    git_roots_in_output,
    project_of,
)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/u/Projects/x", "x"),
        ("/home/u/Projects/x/src/deep", "x"),
        ("/home/u/Projects", None),
        ("/home/u/Projects/", None),
        ("/home/u/code/Projects/x", "x"),
        ("~/Projects/x", "x"),
        ("$HOME/code/x", "x"),
        ("/Users/ann/Documents/GitHub/zed/x", "zed"),
        ("/mnt/c/Users/ann/src/work20260103/app/page.tsx", "work20260103"),
        ("C:\\Users\\me\\Projects\\win", "win"),
        ("/home/u/src/github.com/org/repo", "repo"),
        ("/home/u/hamlib", "hamlib"),
        ("C:\\Users\\me\\Documents", None),
        ("C:\\Users\\me\\Documents \\", None),
        ("C:\\Users\\me\\Documents\\tides\\src", "tides"),
        ("C:\\Users\\me\\OneDrive - Firm\\Desktop\\tides", "tides"),
        ("/home/u/Schreibtisch/tides/x", "tides"),
        ("/home/u/Área de Trabalho/tides", "tides"),
        ("D:\\デスクトップ\\tides", "tides"),
        ("D:\\桌面", None),
        ("E:\\3 Code\\tides\\src", "tides"),
        ("E:\\My Projects", None),
        ("/mnt/e/Proyectos/tides/x", "tides"),
        ("/home/u/codec", "codec"),
        ("/home/u/Downloads", None),
        ("/home/u/.config/nvim", None),
        ("/home/u", None),
        ("/dev/null", None),
        ("/tmp/build-1", None),
        ("/usr/src/linux", None),
        ("~/.openclaw/workspace", None),
        ("/home/u/.openclaw/workspace/memory", None),
        ("/home/u/.openclaw/workspace/projects/inside", "inside"),
        ("/home/u/Projects/0f8fad5b-d9cb-469f-a165-70867728950e", None),
        ("", None),
        ("Projects", None),
    ],
)
def test_a_directory_belongs_to_the_project_below_its_root(path: str, name: str | None) -> None:
    assert project_of(path) == name


def test_a_file_directly_in_the_root_is_no_project() -> None:
    assert project_of("/home/u/Projects/notes.md", is_file=True) is None
    assert project_of("/home/u/Projects/x/notes.md", is_file=True) == "x"
    assert project_of("/home/u/notes.md", is_file=True) is None


def test_roots_can_be_added_as_paths_or_names() -> None:
    assert project_of("/srv/stuff/abc/d", ["/srv/stuff"]) == "abc"
    assert project_of("/home/u/kram/abc", ["~/kram"]) == "abc"
    assert project_of("/data/Kram/abc", ["Kram"]) == "abc"


def test_commands_name_the_directories_they_go_to() -> None:
    command = 'cd "/a b/c" && ls; (cd ../x && make) | git -C /home/u/Projects/y status; cd - ; echo "abcd /no"'
    assert directories_in_command(command) == ["/a b/c", "../x", "/home/u/Projects/y"]


def test_git_roots_are_read_from_output() -> None:
    assert git_roots_in_output("Initialized empty Git repository in /opt/things/tuner/.git/") == ["/opt/things/tuner"]
    assert git_roots_in_output("/opt/things/tuner\n", "git rev-parse --show-toplevel") == ["/opt/things/tuner"]
    assert git_roots_in_output("see .gitignore and /a/b") == []


def test_a_git_root_anywhere_is_a_project_but_not_a_hidden_one() -> None:
    tally = ProjectTally()
    assert tally.visit_git_root("/opt/things/tuner") == "tuner"
    assert tally.visit_git_root("/home/u/.openclaw/workspace") is None


def test_below_a_desktop_the_project_is_where_the_session_was_started() -> None:
    assert ProjectTally().start_in("C:\\Users\\me\\Desktop\\ann\\school\\tides") == "tides"
    assert ProjectTally().start_in("C:\\Users\\me\\Desktop") is None
    assert ProjectTally().start_in("/Users/me/Desktop/school/tides/frontend") == "tides"


def test_the_folder_above_the_start_is_no_second_project() -> None:
    tally = ProjectTally()
    assert tally.start_in("/home/u/code/org/tides") == "tides"
    assert tally.visit("/home/u/code/org/tides") == "tides"
    assert tally.visit("/home/u/code/org/tides/src/main.c", is_file=True) == "tides"
    assert tally.names() == ["tides"]


def test_most_worked_on_comes_first_and_spelling_is_kept() -> None:
    tally = ProjectTally()
    for path in ("/home/u/Projects/one", "/home/u/Projects/Two", "/home/u/Projects/two"):
        tally.visit(path)
    assert tally.names() == ["Two", "one"]


def test_relative_paths_start_from_the_base() -> None:
    tally = ProjectTally()
    assert tally.visit("../../Projects/x", base="/home/u/.openclaw/workspace") == "x"
    assert tally.visit("src/a.py", base="/home/u/Projects/y", is_file=True) == "y"


@given(st.text(max_size=200), st.booleans())
def test_any_text_is_safe_and_roots_are_never_projects(path: str, is_file: bool) -> None:
    name = project_of(path, is_file=is_file)
    assert name is None or (name.lower() not in {"projects", "workspace", ".openclaw"} and "/" not in name)
    directories_in_command(path)
    git_roots_in_output(path, path)


def test_memory_is_bounded() -> None:
    tally = ProjectTally()
    for number in range(MOST_NAMES * 2):
        tally.visit(f"/home/u/Projects/p{number}")
    assert len(tally.evidence()) == MOST_NAMES
