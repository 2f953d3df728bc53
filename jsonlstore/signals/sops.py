"""Operating procedures put before the agent, and whether it said that it took note."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jsonlstore.core import expressions as re
from jsonlstore.core.model import SOPInteraction

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_INTERACTIONS = 200
_PATH = re.compile(
    r"(?:^|/)(?:sops?/[^/\n]+\.\w{1,5}|[^/\n]*[._-]sops?\.(?:md|ya?ml|txt|json|ai)|[^/\n]+\.sop|sop[._-][^/\n]*\.(?:md|ya?ml|txt))$",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(
    r"\bSOPs?\b[^\n]{0,80}?[\s:`'\"(]((?:~|\.{1,2})?/?(?:[\w.-]+/)*[\w.-]+\.(?:md|sop|ya?ml|txt|ai|json))\b"
)
_ACKNOWLEDGED = re.compile(
    r"\backnowledg(?:e|ed|ing)\b|\bSOP[_ ]ACK\b"
    r"|\b(?:read|reviewed|understood|following|followed|per|checked|consulted) (?:the |this |that )?SOPs?\b"
    r"|\bSOPs? (?:read|reviewed|understood|acknowledged|noted|consulted|followed)\b",
    re.IGNORECASE,
)
_HOME = re.compile(r"^(?:/home/[^/]+|/Users/[^/]+)(?=/)")


@lru_cache(maxsize=1024)
def is_sop(path: str) -> bool:
    """Whether a path names an operating procedure."""
    return bool(_PATH.search(path.replace("\\", "/")))


def _name(path: str) -> str:
    """What two ways to write the path of one procedure share."""
    return path.replace("\\", "/").rpartition("/")[2].lower()


class SopTracker:
    """The procedures of one session, in the order they came up."""

    def __init__(self) -> None:
        self._seen: list[SOPInteraction] = []

    def injected(self, path: str, at: str, tool: str) -> None:
        """A procedure was put before the agent because of a tool call; put before it twice, it counts twice."""
        if len(self._seen) < MOST_INTERACTIONS:
            self._seen.append(SOPInteraction(_HOME.sub("~", path), at, acknowledged=False, tool_call=tool))

    def result(self, text: str, details: Mapping[str, Any], at: str, tool: str, opened: str | None = None) -> None:
        """A tool's result may carry procedures, in its details or in its words: each once, and not what it opened."""
        named = details.get("sop_path") or details.get("sopPath") or details.get("sop")
        listed = details.get("sops")
        found: dict[str, str] = {}
        for raw in [named, *(listed if isinstance(listed, list) else ())]:
            path = raw.get("path") or raw.get("sop_path") if isinstance(raw, dict) else raw
            if isinstance(path, str) and path:
                found.setdefault(_name(path), path)
        if "SOP" in text:
            for match in _IN_TEXT.finditer(text):
                found.setdefault(_name(match[1]), match[1])
        if opened is not None:
            found.pop(_name(opened), None)
        for path in found.values():
            self.injected(path, at, tool)

    def heard(self, text: str) -> None:
        """The agent spoke: words of acknowledgement cover the procedures it was shown and had not acknowledged."""
        if self._seen and _ACKNOWLEDGED.search(text):
            self.acknowledge()

    def acknowledge(self, path: str | None = None) -> None:
        """Mark one procedure, or all that wait, as acknowledged."""
        short = _HOME.sub("~", path) if path else None
        self._seen = [
            replace(sop, acknowledged=True) if short is None or sop.sop_path == short else sop for sop in self._seen
        ]

    def interactions(self) -> list[SOPInteraction]:
        """What was shown, oldest first."""
        return list(self._seen)
