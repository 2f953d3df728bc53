"""The rooms of the package keep their order and their doors."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.home import task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.home import Home

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "jsonlstore"
# data flows this way: a room imports only from those before it
ROOMS = (
    "core",
    "redact",
    "transcripts",
    "signals",
    "store",
    "handoff",
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


def doors() -> Iterator[str]:
    """The packages that others enter through their `__init__`; each module of core is a door of its own."""
    yield from (f"jsonlstore.{room}" for room in ROOMS[1:-1] if room != "bridges" and (PACKAGE / room).is_dir())
    yield from (
        "jsonlstore.bridges.braindb",
        "jsonlstore.bridges.exports",
        "jsonlstore.bridges.mcp",
        "jsonlstore.bridges.openclaw",
    )


def beside_the_door(found: Import) -> bool:
    """Whether an import takes a name from inside a room of which the module is no part."""
    for door in doors():
        inside = f"{found.source}.".startswith(f"{door}.")
        if inside and not f"{found.module}.".startswith(f"{door}."):
            return found.source != door or found.name not in import_module(door).__all__
    return False


def test_a_room_is_entered_through_its_door() -> None:
    """Another room's name comes from its `__init__`, which exports it; its modules may change without anybody else."""
    wrong = [one for one in own_imports() if beside_the_door(one)]
    assert [f"{one.module}:{one.line} takes {one.source}.{one.name}" for one in wrong] == []


def test_an_import_beside_the_door_would_be_seen() -> None:
    """The test above can fail: for a module of another room, and for a name that its door does not export."""
    for text in (
        "from jsonlstore.store.log import Scan",
        "from jsonlstore.store import log",
        "import jsonlstore.store.log",
    ):
        assert any(map(beside_the_door, imports(ast.parse(text), "jsonlstore.watch.tail"))), text
    for text in ("from jsonlstore.store import SessionStore", "from jsonlstore.core.files import opened"):
        assert not any(map(beside_the_door, imports(ast.parse(text), "jsonlstore.watch.tail"))), text


def test_a_door_lists_its_names_once_for_readers_types_and_loading() -> None:
    """What `__all__` names can be loaded, and is what type checkers see; nothing else is offered."""
    for door in doors():
        tree = ast.parse((PACKAGE.parent / door.replace(".", "/") / "__init__.py").read_text())
        typed = {one.name for one in imports(tree, door)}  # compat also hands on what other rooms have
        inside = {one.name for one in imports(tree, door) if one.source.startswith(f"{door}.")}
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        values = {
            one.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for one in ast.walk(node)
            if isinstance(one, ast.Name)
        }
        module = import_module(door)
        assert inside | own <= set(module.__all__) <= typed | own | values, door
        assert all(getattr(module, name) is not None for name in module.__all__)


def test_a_public_name_has_one_home() -> None:
    """Whoever searches for a class or a function finds one thing."""
    homes: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(module_name(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


_RIDDLES = {
    "scribe", "ledger", "shelf", "pace", "presence", "standing", "trouble", "upkeep", "places", "worklist", "outlook",
    "inheritor", "keeping",
}  # fmt: skip


def test_names_are_the_field_s_nouns() -> None:
    """No module, class or public function goes by one of the household words that a stranger would not search for."""
    found = [
        f"{module_name(path)}.{name}"
        for path in PACKAGE.rglob("*.py")
        for name in [path.stem, *top_level_names(ast.parse(path.read_text()))]
        if _RIDDLES & {form for part in name_parts(name) for form in (part, part.removesuffix("s"))}
    ]
    assert found == []
    assert _RIDDLES & name_parts("SessionLedger")
    assert _RIDDLES & name_parts("_standing_notes")


def top_level_names(tree: ast.Module) -> list[str]:
    return [one.name for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name[0] != "_"]


def name_parts(name: str) -> set[str]:
    """The words a name is made of: `SessionStore` and `session_store` both have two."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def private_names(tree: ast.Module) -> Iterator[str]:
    """The functions, classes and constants that a module keeps to itself."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield from [node.name] if node.name.startswith("_") else []
        elif isinstance(node, ast.Assign):
            named = [one.id for one in node.targets if isinstance(one, ast.Name)]
            yield from (name for name in named if name.startswith("_") and not name.startswith("__"))


def test_what_a_module_keeps_to_itself_it_uses() -> None:
    """A private name that stands nowhere but where it is made is left over from something."""
    text = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    words = Counter(word for one in text.values() for word in re.findall(r"\w+", one))
    unused = [
        f"{module_name(path)}.{name}"
        for path, source in text.items()
        for name in private_names(ast.parse(source))
        if words[name] == 1
    ]
    assert unused == []


def kind_switches(tree: ast.Module) -> list[int]:
    """The lines that compare what a source calls itself, `kind` or `kinds`, with something."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute) and side.attr in ("kind", "kinds")
    ]


def test_nobody_asks_a_source_for_its_kind() -> None:
    """A source says where it lies, what to watch and how its sessions end; watcher, restore and commands never ask."""
    found = [
        f"{module_name(path)}:{line}"
        for room in ("watch", "restore", "cli")
        for path in (PACKAGE / room).rglob("*.py")
        for line in kind_switches(ast.parse(path.read_text()))
    ]
    assert found == []
    for text in ('if source.kind == "sqlite": ...', 'x = "jsonl" in session.kinds', 'y = "goclaw" != one.kind'):
        assert kind_switches(ast.parse(text)) == [1], text


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
    written = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
    assert [number for number, times in Counter(written).items() if times > 1] == []
    assert cited(CITATION) - set(written) == set()
    assert cited(REQUIREMENT) - set(REQUIREMENT.findall(text)) <= {"AC-002", "AC-006", "AC-008", "AC-010"}


def test_the_glossary_has_one_line_a_word() -> None:
    """Sorted and without a word that stands twice."""
    words = re.findall(r"^\| ([a-z][^|]*?) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)[1:]
    assert words == sorted(set(words))


_LOADED_BY_A_SESSION_START = """
import os, sys
leave = os._exit
def report(code):
    names = sorted(name for name in sys.modules if name.split(".")[0] == "jsonlstore")
    print(*names, sep="\\n", file=sys.stderr, flush=True)
    leave(code)
os._exit = report
sys.argv = sys.argv[1:]
from jsonlstore.cli.entry import run
run()
"""


def dataclasses_in(tree: ast.Module) -> list[str]:
    """The classes that `dataclasses` itself writes methods for, whether or not the decorator has arguments."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for one in node.decorator_list
        if "dataclass" in ast.unparse(one.func if isinstance(one, ast.Call) else one).split(".")
    ]


def test_a_session_start_loads_only_what_it_needs_and_no_plain_dataclass(home: Home) -> None:
    """A hook call waits for every module: neither readers of transcripts nor the other hooks are loaded.

    `dataclass` compiles its methods at every load: see core/values.py.
    """
    home.past("a", hot_topics=["radio"], pending_tasks=[task(1)], working_memory=[{"content": "c", "label": "p"}])
    home.pipeline({"task_id": "task-001", "title": "Job number 1", "stage": "build"})
    call = home.command("hook", "session-start", "--now", "2026-11-10T12:00:00Z")[2:]
    done = subprocess.run(
        [sys.executable, "-c", _LOADED_BY_A_SESSION_START, *call],
        input='{"session_id":"b","channel":"cli","prompt":"radio"}',
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout)["session_ids"] == ["a"]
    loaded = done.stderr.split()
    assert "jsonlstore.restore.plan" in loaded
    allowed = {
        "transcripts": {
            "jsonlstore.transcripts",
            *(f"jsonlstore.transcripts.{one}" for one in ("runtimes", "openclaw", "own")),
        },
        "cli": {
            "jsonlstore.cli",
            *(f"jsonlstore.cli.{one}" for one in ("entry", "app", "hook", "hook_call", "hook_lifecycle")),
        },
    }
    for room, names in allowed.items():
        assert {name for name in loaded if room_of(name) == room} <= names
    assert {room_of(name) for name in loaded} & {"context", "watch", "compat", "report"} == set()
    slow = {name: found for name in loaded if (found := dataclasses_in(tree_of(name)))}
    assert slow == {}


def test_a_waiting_watcher_loads_neither_openssl_nor_what_answers_questions() -> None:
    """It waits for days beside thousands of transcripts: what it does not use it does not keep in memory."""
    program = "import sys, jsonlstore.watch.loop, jsonlstore.watch.search_writer; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "jsonlstore.recall.fulltext" in loaded
    unused = {
        "_hashlib",
        "ssl",
        "asyncio",
        "rich",
        "jsonschema",
        "jsonlstore.recall.answers",
        "jsonlstore.recall.ranking",
    }
    assert loaded & unused == set()


def tree_of(module: str) -> ast.Module:
    path = Path(import_module(module).__file__ or "")
    return ast.parse(path.read_text())


def test_a_plain_dataclass_would_be_seen() -> None:
    """The test above can fail, and takes neither a value class nor a named tuple for one."""
    for text in (
        "@dataclass\nclass A: ...",
        "@dataclass(frozen=True, slots=True)\nclass A: ...",
        "@dataclasses.dataclass\nclass A: ...",
    ):
        assert dataclasses_in(ast.parse(text)) == ["A"], text
    for text in ("@value_class(frozen=True)\nclass A: ...", "class A(NamedTuple): ..."):
        assert dataclasses_in(ast.parse(text)) == [], text
