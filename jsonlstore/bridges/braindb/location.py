"""Where brain.db and metrics.db are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonlstore.core.config import Config


def resolve_brain_db(config: Config, state_dir: Path, env: Mapping[str, str] = os.environ) -> Path:
    """The config's path, else `$CORTEX_DATA_DIR/brain.db`, else `workspace/memory/brain.db` of the state directory.

    An existing `brain.db` directly in the state directory is taken when there is none in the workspace.
    """
    if config.brain_db_path:
        return state_dir / Path(config.brain_db_path).expanduser()
    if env.get("CORTEX_DATA_DIR"):
        return Path(env["CORTEX_DATA_DIR"]).expanduser().absolute() / "brain.db"
    usual, old = state_dir / "workspace" / "memory" / "brain.db", state_dir / "brain.db"
    return old if old.exists() and not usual.exists() else usual


def metrics_db(state_dir: Path) -> Path:
    """Cortex's metrics.db."""
    return state_dir / "metrics.db"
