"""Write docs/library.md: every public name of the package, from its docstrings.

python tools/library_page.py

A class's docstring explains under `Arguments:` what its methods take; a test checks that the page is current and that
no argument goes unexplained.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonlstore
from jsonlstore import compat

PAGE = Path(__file__).parent.parent / "docs" / "library.md"
INTRODUCTION = """# The library

Made by `python tools/library_page.py` from the docstrings: change those, not this page.

An agent written in Python reports its sessions and gets back what earlier ones left:

```python
from jsonlstore import SessionPersistenceManager, SessionStore

store = SessionStore.in_memory()  # for a try; SessionStore.open() is the one of this machine
manager = SessionPersistenceManager(store)

manager.on_session_start("monday", "cli", session_key="agent:main:main")
manager.update_session_state(
    hot_topics=["ham radio"],
    pending_tasks=[{"task_id": "task-017", "title": "CAT control for the FT-991A", "stage": "build"}],
)
manager.on_session_end(reason="new")

restored = manager.on_session_start("tuesday", "cli", session_key="agent:main:main")
print(restored.wrapped_preamble)  # goes into the model's prompt, before its first answer
assert "task-017" in restored.preamble
```

A failed call raises a `JsonlStoreError`, with a `code` for programs and a `hint` for people. Times are texts,
`YYYY-MM-DDTHH:MM:SS.mmmZ`, UTC. What is written passes the redactor first, whoever writes it. The package is typed: a
type checker knows every name on this page.
"""


def public_names() -> list[str]:
    """The names that `jsonlstore` exports, the version aside."""
    return [name for name in jsonlstore.__all__ if not name.startswith("__")]


def described(thing: Any) -> tuple[str, dict[str, str]]:
    """A docstring without its arguments, and the arguments it explains."""
    text, _, listed = (inspect.getdoc(thing) or "").partition("\nArguments:\n")
    return text.strip(), dict(re.findall(r"^ {4}(\w+): (.+)$", listed, re.MULTILINE))


def arguments_of(cls: type) -> dict[str, str]:
    """The arguments that a class and those it is made from explain."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        if each.__module__.startswith("jsonlstore") and each.__doc__:
            found |= described(each)[1]
    return found


def members(cls: type) -> dict[str, Any]:
    """The public methods and properties of a class, its own first."""
    found: dict[str, Any] = {}
    for each in cls.__mro__:
        if each.__module__.startswith("jsonlstore"):
            for name, member in vars(each).items():
                if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod))):
                    found.setdefault(name, member)
    return found


def parameters(call: Any) -> list[inspect.Parameter]:
    """What a call takes, the object itself aside."""
    return [one for one in inspect.signature(call).parameters.values() if one.name not in ("self", "cls")]


def written(name: str, call: Any) -> str:
    """A call as it is typed: names and plain defaults, types left to the type checker."""
    parts, keywords = [], False
    for one in parameters(call):
        if one.kind is one.VAR_KEYWORD:
            parts.append(f"**{one.name}")
            continue
        if one.kind is one.KEYWORD_ONLY and not keywords:
            parts.append("*")
            keywords = True
        default = "" if one.default is one.empty else f"={_default(one.default)}"
        parts.append(f"{one.name}{default}")
    return f"{name}({', '.join(parts)})"


def _default(value: Any) -> str:
    return "…" if callable(value) else repr(value)


def calls(cls: type) -> dict[str, Any]:
    """Every call a class offers, its constructor among them unless that only takes the fields of a value."""
    made = {} if is_value(cls) else {cls.__name__: cls.__init__}
    return made | {name: getattr(cls, name) for name, one in members(cls).items() if not isinstance(one, property)}


def is_value(cls: type) -> bool:
    return hasattr(cls, "_fields") or hasattr(cls, "__dataclass_fields__")


def unexplained(cls: type) -> set[str]:
    """The arguments of a class's calls that no docstring explains, and those explained that no call takes."""
    taken = {one.name for call in calls(cls).values() for one in parameters(call)}
    taken |= set(getattr(cls, "_fields", ()))
    return taken ^ set(arguments_of(cls))


def section(name: str) -> list[str]:
    """One class: what it is, what its calls do, what they take."""
    cls = getattr(jsonlstore, name)
    text, _ = described(cls)
    lines = [f"## {name}", "", text, ""]
    if cls is jsonlstore.Config:
        lines += ["| setting | default | what it does |", "|---|---|---|"]
        lines += [f"| `{one.name}` | `{one.default!r}` | {one.metadata['help']} |" for one in fields(cls)]
        lines.append("")
    if cls is jsonlstore.SessionState:
        lines += ["Its fields are the keys of a mirror: [formats.md](formats.md).", ""]
    lines += ["| call or property | what it does |", "|---|---|"]
    for label, call in calls(cls).items():
        what = "make one" if label == name else _cell(described(call)[0])
        lines.append(f"| `{written(label, call)}` | {what} |")
    for label, one in members(cls).items():
        if isinstance(one, property):
            lines.append(f"| `{label}` | {_cell(inspect.getdoc(one) or '')} |")
    explained = arguments_of(cls)
    if explained:
        lines += ["", f"| {'field or argument' if hasattr(cls, '_fields') else 'argument'} | meaning |", "|---|---|"]
        lines += [f"| `{label}` | {_cell(what)} |" for label, what in explained.items()]
    return [*lines, ""]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def compat_section() -> list[str]:
    """The names of the Cortex documents."""
    lines = [
        "## jsonlstore.compat",
        "",
        "For code written for the Cortex documents: `from jsonlstore.compat import …`.",
        "",
    ]
    lines += ["| name | what it is |", "|---|---|"]
    for name in sorted(compat.__all__):
        thing = getattr(compat, name)
        label = name if inspect.isclass(thing) else written(name, thing)
        lines.append(f"| `{label}` | {_cell(described(thing)[0].partition(chr(10) * 2)[0])} |")
    return [*lines, ""]


def page() -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for name in public_names():
        lines += section(name)
    return "\n".join([*lines, *compat_section()]).rstrip("\n") + "\n"


def main() -> int:
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
