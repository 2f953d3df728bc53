"""What the starting session is about: the words of its pins, its project, its first prompt (DECISION 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jsonlstore.core.model import WorkingMemoryPin

_LONGEST_PROMPT = 20_000


def current_keywords(
    pins: Iterable[WorkingMemoryPin], cwd: str | None, prompt: str | None, project_roots: Iterable[str] = ()
) -> frozenset[str]:
    """The lower-cased words a prior session's topics are compared with."""
    from jsonlstore.core.model import strip_provenance

    texts = [f"{strip_provenance(pin.label or '')} {pin.content}" for pin in pins]
    if prompt:
        texts.append(prompt[:_LONGEST_PROMPT])
    found: set[str] = set()
    if any(text.strip() for text in texts):
        from jsonlstore.signals.words import keywords

        for text in texts:
            found.update(word.lower() for word in keywords(text))
    if cwd:
        from jsonlstore.signals.projects import project_of

        project = project_of(cwd, project_roots)
        if project:
            found.add(project.lower())
    return frozenset(found)
