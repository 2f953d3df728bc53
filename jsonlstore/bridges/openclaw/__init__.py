"""OpenClaw loads a plugin or hook of ours (package data); this room puts it into openclaw.json and takes it out again.

`find_openclaw` finds the installation and its version. An `Installer` copies the JavaScript beside our state, backs the
settings up, and edits them in place: comments, order and spacing stay. What it did is recorded, so that uninstalling
gives the file back byte for byte. `plugin_status` says whether the running gateway really loaded it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonlstore.bridges.openclaw.config_file import config_path, read_config
    from jsonlstore.bridges.openclaw.discovery import Installation, find_openclaw
    from jsonlstore.bridges.openclaw.installer import Installer, InstallReport
    from jsonlstore.bridges.openclaw.json5_tree import NotEditable
    from jsonlstore.bridges.openclaw.status import PluginStatus, plugin_status

__all__ = [
    "InstallReport",
    "Installation",
    "Installer",
    "NotEditable",
    "PluginStatus",
    "config_path",
    "find_openclaw",
    "plugin_status",
    "read_config",
]

_MODULES = {
    "InstallReport": "installer",
    "Installation": "discovery",
    "Installer": "installer",
    "NotEditable": "json5_tree",
    "PluginStatus": "status",
    "config_path": "config_file",
    "find_openclaw": "discovery",
    "plugin_status": "status",
    "read_config": "config_file",
}


def __getattr__(name: str) -> Any:
    # most commands never install anything: each name loads its module on first use
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
