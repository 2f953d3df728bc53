"""The pins of the moment: `working_memory.json`, read tolerantly, for sessions that end while we watch."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jsonlstore.core.model import WorkingMemoryPin, read_parts
from jsonlstore.restore.pins import PinFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jsonlstore.store.fold import SessionFold
    from jsonlstore.store.store import SessionStore

log = logging.getLogger("jsonlstore.watch")

CAPTURED = "pins_captured"


def pins_now(path: Path, store: SessionStore) -> list[dict[str, Any]]:
    """The pins in the file; a missing or broken one has none, and is left as it is."""
    found = PinFile(path, store).read()
    if found.problem:
        log.warning("no pins captured: %s", found.problem)
    return [pin.to_dict() for pin in found.pins]


def with_earlier_pins(fields: Mapping[str, Any], folded: SessionFold, *, always: bool = False) -> dict[str, Any]:
    """`fields` that do not take back pins captured at a live end: no transcript could bring those again."""
    layer = folded.layers.get("watcher", {})
    given = dict(fields)
    earlier = layer.get("working_memory") or []
    if not earlier or not (always or layer.get(CAPTURED)):
        return given
    new = given.get("working_memory") or []
    have = {pin.key for pin in read_parts(WorkingMemoryPin, new)}
    kept = [pin.to_dict() for pin in read_parts(WorkingMemoryPin, earlier) if pin.key not in have]
    given["working_memory"] = [*new, *kept]
    return given
