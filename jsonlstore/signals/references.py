"""Addresses, issues and pull requests a session worked on, as its tool calls name them.

Only what a tool was asked for, what `gh` or `glab` answered and what a commit's subject names counts: a link in a page
somebody read is not what the session was about.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jsonlstore.core import expressions as re
from jsonlstore.core.model import Reference
from jsonlstore.signals.tasks import evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_KEPT = 200
MOST_SHOWN = 20
ISSUE, PULL, URL = "issue", "pull request", "url"
_LONGEST = 200
_LONGEST_LOOK = 4_000
_URL_KEYS = ("url", "targetUrl", "uri", "href")
_ADDRESS = re.compile(r"https?://(?:[^\s/@\"'<>]{0,100}@)?([^\s/?#@\"'<>]{1,120})((?:/[^\s?#\"'<>)\]]{0,160})?)")
_TRACKER = re.compile(
    r"https?://[\w.-]{1,80}/((?:[\w.-]{1,60}/){1,4}?)(?:-/)?(pull|issues|merge_requests)/(\d{1,7})(?!\d)"
)
# "gh pr view 12", "gh issue close 7 -R o/r", "glab mr merge 3"
_ASKED = re.compile(r"\b(?:gh|glab)\s++(pr|mr|issue)\s++[a-z-]++\s++(?:[^\n;&|]{0,60}?\s)?#?(\d{1,7})(?![\w.])")
_REPOSITORY = re.compile(r"(?:\s-R|\s--repo)[ =]([\w.-]{1,60}/[\w.-]{1,60})")
_CREATES = re.compile(r"\b(?:gh|glab)\s+(?:pr|mr|issue)\s")
_IN_SUBJECT = re.compile(
    r"(?:(\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?)\s+)|\()#(\d{1,7})(?!\w)\)?", re.IGNORECASE
)
_PULLS = frozenset({"pull", "merge_requests", "pr", "mr"})


@dataclass(slots=True)
class References:
    """Counts what was worked on, in bounded memory."""

    _seen: dict[str, tuple[str, int, str | None]] = field(default_factory=dict)  # ref -> kind, times, latest entry

    def opened(self, arguments: Mapping[str, Any], entry_id: str | None) -> None:
        """A tool was given an address."""
        for key in _URL_KEYS:
            value = arguments.get(key)
            if isinstance(value, str) and value.startswith("http"):
                self._note_address(value[:_LONGEST_LOOK], entry_id)
                return

    def ran(self, command: str, text: str, entry_id: str | None) -> None:
        """A command ran: what it names of an issue tracker, and the address it was answered with."""
        if "gh " not in command and "glab " not in command:
            return
        head = command[:_LONGEST_LOOK]
        named = _REPOSITORY.search(head)
        for kind, number in _ASKED.findall(head):
            self._note(f"{named[1] if named else ''}#{number}", PULL if kind in _PULLS else ISSUE, entry_id)
        if _CREATES.search(head) and " create" in head:
            for where, kind, number in _TRACKER.findall(text[-_LONGEST_LOOK:])[-1:]:
                self._note(f"{where.rstrip('/')}#{number}", PULL if kind in _PULLS else ISSUE, entry_id)

    def committed(self, subject: str, entry_id: str | None) -> None:
        """A commit names what it is for: "Fixes #12", or the "(#12)" of a merged pull request."""
        for closes, number in _IN_SUBJECT.findall(subject):
            self._note(f"#{number}", ISSUE if closes else PULL, entry_id)

    def found(self) -> tuple[Reference, ...]:
        """The references, those used most first, then the latest."""
        placed = list(enumerate(self._seen.items()))
        placed.sort(key=lambda one: (-one[1][1][1], -one[0]))
        return tuple(
            Reference(ref, kind, times, extra=evidence([entry_id], "tool"))
            for _, (ref, (kind, times, entry_id)) in placed[:MOST_SHOWN]
        )

    def _note_address(self, address: str, entry_id: str | None) -> None:
        tracked = _TRACKER.match(address)
        if tracked:
            ref = f"{tracked[1].rstrip('/')}#{tracked[3]}"
            self._note(ref, PULL if tracked[2] in _PULLS else ISSUE, entry_id)
            return
        plain = _ADDRESS.match(address)
        if plain:  # without the user's name and the query: that is where addresses carry secrets
            self._note(f"{address.partition('://')[0]}://{plain[1]}{plain[2].rstrip('/.,')}", URL, entry_id)

    def _note(self, ref: str, kind: str, entry_id: str | None) -> None:
        key = ref[:_LONGEST]
        _, times, _ = self._seen.pop(key, (kind, 0, None))
        self._seen[key] = (kind, times + 1, entry_id)
        if len(self._seen) > MOST_KEPT:
            del self._seen[next(iter(self._seen))]
