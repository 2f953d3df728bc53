"""How a watcher goes about it: how often, how long, with which settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from jsonlstore.signals.options import SignalOptions
from jsonlstore.transcripts.source import SKIPPED_BY_DEFAULT

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from jsonlstore.core.config import Config


@dataclass(frozen=True, slots=True)
class Pace:
    """How often and how long; the defaults are for a person's machine."""

    rescan: float = 5.0
    poll: float = 1.0
    longest: float = 15.0
    slice: float = 0.25
    debounce: float = 0.1
    report: float = 5.0
    grace: float = 10.0
    live_within: timedelta = timedelta(minutes=10)
    missed_before_polling: int = 5


def pin_file_of(state_dir: Path, config: Config) -> Path:
    """Where the pins are kept."""
    return state_dir / os.path.expanduser(config.working_memory)


def skipped_by(config: Config) -> AbstractSet[str]:
    """Which kinds of sessions are nobody's conversation, and left out."""
    return frozenset() if config.capture_subagents else SKIPPED_BY_DEFAULT


def options_of(config: Config) -> SignalOptions:
    """The extraction settings of a config."""
    return SignalOptions(project_roots=config.project_roots, pending_stages=frozenset(config.pending_stages))
