"""Log lines without secrets: what is said on stderr or in a journal is written down too."""

from __future__ import annotations

import logging

from jsonlstore.redact import sanitised


class SafeFormatter(logging.Formatter):
    """Formats a record, its arguments and its traceback, and hides what the redactor would hide."""

    def format(self, record: logging.LogRecord) -> str:
        return str(sanitised(super().format(record)))


def log_to_stderr(level: str) -> None:
    """Show messages of this level and above as `LEVEL: message` on stderr, whatever was set up before."""
    handler = logging.StreamHandler()
    handler.setFormatter(SafeFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
