"""Regular expressions that are compiled with their first use: a hook call uses few of those it loads."""

from __future__ import annotations

import re
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, once it is used."""
    return cast("re.Pattern[str]", _Later(text, flags))


class _Later:
    def __init__(self, text: str, flags: int) -> None:
        self._source = text, flags

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(re.compile(*self._source), attribute)
        setattr(self, attribute, found)  # from now on without this detour
        return found
