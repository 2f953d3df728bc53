"""Make each schema complete in itself: copy in what it shares with the state and the handoff.

python tools/schemas.py

A validator then needs one file and no registry. `state.schema.json` and `handoff.schema.json` are the originals; the
copies of their parts in the other schemas are made here, and a test checks that they are current.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parent.parent / "schemas"
ORIGINALS = ("state", "handoff")
BUNDLED = ("event", "handoff-pattern", "handoff-pending", "index", "metric", "mirror")


def read(name: str) -> dict[str, Any]:
    """One schema as it is on disk."""
    document: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return document


def shared() -> dict[str, Any]:
    """The parts that schemas have in common, by the name they have under `$defs`."""
    parts: dict[str, Any] = {}
    for name in ORIGINALS:
        original = read(name)
        own = original.pop("$defs", {})
        assert not own.keys() & parts.keys(), "two originals define different parts of one name"
        parts |= own
        parts[name] = {key: value for key, value in original.items() if key not in ("$schema", "$id")}
    return parts


def bundled(name: str) -> dict[str, Any]:
    """A schema with every shared part it refers to, directly or not."""
    document, parts = local(read(name)), shared()
    own = {key: value for key, value in document.pop("$defs", {}).items() if key not in parts}
    wanted: dict[str, Any] = {}
    waiting = references([document, own])
    while waiting:
        one = waiting.pop()
        if one in parts and one not in wanted:
            wanted[one] = parts[one]
            waiting |= references(parts[one])
    defs = dict(sorted((own | wanted).items()))
    return {**document, "$defs": defs} if defs else document


def local(part: Any) -> Any:
    """A schema whose references to others point into its own `$defs`."""
    if isinstance(part, list):
        return [local(each) for each in part]
    if not isinstance(part, dict):
        return part
    changed = {key: local(value) for key, value in part.items()}
    if isinstance(ref := changed.get("$ref"), str) and ref.startswith("urn:jsonlstore:schema:"):
        name, _, inside = ref.removeprefix("urn:jsonlstore:schema:").partition("#")
        changed["$ref"] = f"#{inside}" if inside.startswith("/$defs/") else f"#/$defs/{name}{inside}"
    return changed


def references(part: Any) -> set[str]:
    """The names under `$defs` that a schema refers to."""
    if isinstance(part, list):
        return set().union(*map(references, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    found = set().union(*map(references, part.values())) if part else set()
    ref = part.get("$ref")
    return found | ({ref.removeprefix("#/$defs/").partition("/")[0]} if isinstance(ref, str) else set())


def main() -> int:
    for name in BUNDLED:
        (SCHEMAS / f"{name}.schema.json").write_text(json.dumps(bundled(name), indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
