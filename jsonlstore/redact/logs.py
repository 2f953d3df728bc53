"""Log lines without secrets: what is said on stderr or in a journal is written down too."""

from __future__ import annotations

import logging

from jsonlstore.redact.outlet import shown


class SafeFormatter(logging.Formatter):
    """Formats a record, its arguments and its traceback, and hides what the redactor would hide."""

    def format(self, record: logging.LogRecord) -> str:
        return shown(super().format(record))


class TimedFormatter(SafeFormatter):
    """For whoever looks at a running watcher: the time instead of a level, unless it is a warning or worse."""

    def format(self, record: logging.LogRecord) -> str:
        level = f"{record.levelname}: " if record.levelno >= logging.WARNING else ""
        return f"{self.formatTime(record, '%Y-%m-%d %H:%M:%S')}  {level}{super().format(record)}"


def log_with_time() -> None:
    """Show what is logged to stderr from now on with its time."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(TimedFormatter("%(message)s"))


def log_to_stderr(level: str) -> None:
    """Show messages of this level and above as `LEVEL: message` on stderr, whatever was set up before."""
    handler = logging.StreamHandler()
    handler.setFormatter(SafeFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
