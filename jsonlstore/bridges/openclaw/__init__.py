"""OpenClaw loads a plugin or hook of ours (package data); this room puts it into openclaw.json and takes it out again.

`find_openclaw` finds the installation and its version. An `Installer` copies the JavaScript beside our state, backs the
settings up, and edits them in place: comments, order and spacing stay. What it did is recorded, so that uninstalling
gives the file back byte for byte. `plugin_status` says whether the running gateway really loaded it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.bridges.openclaw.config_file import config_path as config_path
    from jsonlstore.bridges.openclaw.config_file import read_config as read_config
    from jsonlstore.bridges.openclaw.discovery import Installation as Installation
    from jsonlstore.bridges.openclaw.discovery import find_openclaw as find_openclaw
    from jsonlstore.bridges.openclaw.installer import Installer as Installer
    from jsonlstore.bridges.openclaw.installer import InstallReport as InstallReport
    from jsonlstore.bridges.openclaw.json5_tree import NotEditable as NotEditable
    from jsonlstore.bridges.openclaw.status import PluginStatus as PluginStatus
    from jsonlstore.bridges.openclaw.status import plugin_status as plugin_status

# most commands never install anything
__getattr__ = lazy(
    __name__,
    {
        "config_file": "config_path read_config",
        "discovery": "Installation find_openclaw",
        "installer": "InstallReport Installer",
        "json5_tree": "NotEditable",
        "status": "PluginStatus plugin_status",
    },
)
