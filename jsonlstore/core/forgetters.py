"""Who else forgets a session: rooms that come after the store keep words too, and the store knows none of them.

The package enters them when it is imported, so that a program with a bare `SessionStore` forgets as the command does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from jsonlstore.core.paths import StatePaths

# each is told where the store lies, and the id of the session
FORGETTERS: list[Callable[[StatePaths, str], None]] = []
