"""The rooms of the package keep their order and their doors."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "jsonlstore"
# data flows this way: a room imports only from those before it
ROOMS = (
    "core",
    "redact",
    "transcripts",
    "signals",
    "store",
    "restore",
    "recall",
    "context",
    "watch",
    "bridges",
    "compat",
    "report",
    "cli",
)
CITATION = re.compile(r"\bdecisions?[ _]([1-9]\d*)", re.IGNORECASE)
REQUIREMENT = re.compile(r"\b((?:FR|NFR|AC|OS)-\d{3})\b")


class Import(NamedTuple):
    """One name that a module takes from another room or module of the package."""

    module: str
    line: int
    source: str
    name: str | None


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.Module, module: str) -> Iterator[Import]:
    """Every import of the package's own modules, those inside functions and for type checkers included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(module, node.lineno, one.name, None) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (Import(module, node.lineno, node.module, one.name) for one in node.names)


def own_imports() -> Iterator[Import]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for found in imports(ast.parse(path.read_text()), module_name(path)):
            if found.source.split(".")[0] == "jsonlstore":
                yield found


def room_of(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 else None


def wrong_way(found: Import) -> bool:
    """Whether an import goes from a room to a later one."""
    here, there = room_of(found.module), room_of(found.source)
    if there is None and found.name in ROOMS:
        there = found.name
    if here in (None, "__main__") or there is None or here == there:
        return False
    return ROOMS.index(there) > ROOMS.index(here)


def test_every_directory_of_the_package_is_a_room_in_the_list() -> None:
    """A new room has to be given its place in the order."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms <= set(ROOMS)


def test_a_room_imports_only_from_rooms_before_it() -> None:
    """Data flows one way; an import inside a function or for types counts as well."""
    assert [f"{one.module}:{one.line} imports {one.source}" for one in own_imports() if wrong_way(one)] == []


def test_a_wrong_import_would_be_seen() -> None:
    """The test above can fail: at the top, inside a function, for types only, and by the room's own name."""
    for text in (
        "from jsonlstore.watch.loop import Watcher",
        "def f():\n    import jsonlstore.cli.main",
        "if TYPE_CHECKING:\n    from jsonlstore.restore import manager",
        "from jsonlstore import cli",
    ):
        assert any(map(wrong_way, imports(ast.parse(text), "jsonlstore.store.log"))), text
    fine = imports(ast.parse("from jsonlstore.core.paths import StatePaths"), "jsonlstore.store.log")
    assert not any(map(wrong_way, fine))


def test_no_module_names_the_private_names_of_another_room() -> None:
    """What begins with an underscore stays in its room."""
    taken = [
        f"{one.module}:{one.line} takes {one.source}.{one.name}"
        for one in own_imports()
        if room_of(one.module) != room_of(one.source)
        and any(part.startswith("_") and not part.startswith("__") for part in [*one.source.split("."), one.name or ""])
    ]
    assert taken == []


def test_every_room_says_what_it_promises() -> None:
    """The docstring of a room's door is where a stranger begins to read."""
    short = [
        path.parent.name
        for path in PACKAGE.glob("*/__init__.py")
        if len(ast.get_docstring(ast.parse(path.read_text())) or "") < 120
    ]
    assert short == []


def cited(pattern: re.Pattern[str]) -> set[str]:
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.js"), *(ROOT / "tests").rglob("*.py")]
    return {number for path in sources for number in pattern.findall(path.read_text())}


def test_every_decision_the_code_cites_is_written_down() -> None:
    """A number in a docstring or in the name of a test leads to a line of docs/decisions.md."""
    text = (ROOT / "docs" / "decisions.md").read_text()
    written = set(re.findall(r"^\| (\d+) \|", text, re.MULTILINE))
    assert cited(CITATION) - written == set()
    assert cited(REQUIREMENT) - set(REQUIREMENT.findall(text)) <= {"AC-002", "AC-006", "AC-008", "AC-010"}


def test_the_glossary_has_one_line_a_word() -> None:
    """Sorted and without a word that stands twice."""
    words = re.findall(r"^\| ([a-z][^|]*?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)[1:]
    assert words == sorted(set(words))
