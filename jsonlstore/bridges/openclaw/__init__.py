"""OpenClaw loads a plugin or hook of ours (package data); this room puts it into openclaw.json and takes it out again.

`find_openclaw` finds the installation and its version. An `Installer` copies the JavaScript beside our state, backs the
settings up, and edits them in place: comments, order and spacing stay. What it did is recorded, so that uninstalling
gives the file back byte for byte. `plugin_status` says whether the running gateway really loaded it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.bridges.openclaw.config_file import config_path, read_config
    from jsonlstore.bridges.openclaw.discovery import Installation, find_openclaw
    from jsonlstore.bridges.openclaw.handoff_chat import handoff_command
    from jsonlstore.bridges.openclaw.handoff_files import HandoffFiles, recent_sessions
    from jsonlstore.bridges.openclaw.installer import Installer, InstallReport
    from jsonlstore.bridges.openclaw.json5_tree import NotEditable
    from jsonlstore.bridges.openclaw.status import PluginStatus, arrivals, plugin_status, running_openclaw


__all__ = [
    "HandoffFiles",
    "InstallReport",
    "Installation",
    "Installer",
    "NotEditable",
    "PluginStatus",
    "arrivals",
    "config_path",
    "find_openclaw",
    "handoff_command",
    "plugin_status",
    "read_config",
    "recent_sessions",
    "running_openclaw",
]

__getattr__ = lazy(
    __name__,
    {
        "config_file": "config_path read_config",
        "discovery": "Installation find_openclaw",
        "handoff_chat": "handoff_command",
        "handoff_files": "HandoffFiles recent_sessions",
        "installer": "InstallReport Installer",
        "json5_tree": "NotEditable",
        "status": "PluginStatus arrivals plugin_status running_openclaw",
    },
)
