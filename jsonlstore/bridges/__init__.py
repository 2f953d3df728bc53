"""Bridges to other programs: what they keep is read, and what we know is handed to them in their own form.

`braindb` writes sessions to Cortex's SQLite file and reads them back. `openclaw` installs the plugin that lets OpenClaw
call our hooks. Neither changes anything of theirs beyond what its own docstring names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def on_first_use(package: str, **modules: tuple[str, ...]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that loads a module when one of its names is first asked for."""
    home = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return load
