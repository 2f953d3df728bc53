"""What has to stand in openclaw.json for OpenClaw to load us: pure functions from what is there to what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.openclaw.json5_edit import Add, Change, Drop, DropItem, Path, Put, applied, lookup, same

if TYPE_CHECKING:
    from collections.abc import Sequence

PLUGIN_ID = "jsonlstore"
ENTRY: Path = ("plugins", "entries", PLUGIN_ID)
COMMAND: Path = (*ENTRY, "config", "command")
LOAD_PATHS: Path = ("plugins", "load", "paths")
ALLOW: Path = ("plugins", "allow")
HOOKS: Path = ("hooks", "internal")
HOOK_DIRS: Path = (*HOOKS, "load", "extraDirs")
HOOK_ENTRY: Path = (*HOOKS, "entries", PLUGIN_ID)

# from here on OpenClaw wants to be told that a plugin may see the conversation; 2026.2 refuses to start on the very key
CONVERSATION_ACCESS_FROM = (2026, 5, 7)

COMPACTION: Path = ("agents", "defaults", "compaction")
# compaction providers came in the course of 2026.4, and older versions refuse to start on the key; extensions of a
# workspace were loaded up to 2026.3
PROVIDER_FROM = (2026, 5)
EXTENSIONS_BEFORE = (2026, 4)


@dataclass(frozen=True, slots=True)
class PluginSetup:
    """What to wire up: which files, which command, for which OpenClaw."""

    via: str  # "plugin" or "hook"
    folder: str
    command: tuple[str, ...]
    release: tuple[int, ...] = ()
    compaction: bool = False

    @property
    def uses_provider(self) -> bool:
        """Whether this OpenClaw takes a summary from a compaction provider."""
        return self.compaction and self.release >= PROVIDER_FROM

    @property
    def uses_extension(self) -> bool:
        """Whether this OpenClaw takes a summary from an extension in its workspace."""
        return self.compaction and () < self.release < EXTENSIONS_BEFORE


def plan_settings(settings: Any, wanted: PluginSetup, ours: Sequence[Change] = ()) -> tuple[list[Change], list[str]]:
    """What `settings` lack, and which of the user's own stand in the way; only what was `ours` before is changed."""
    notes: list[str] = []
    wired = _changes(settings, wanted)
    lists = {change.path: change.item for change in wired if isinstance(change, Add)}
    # where the state directory moved, what we named before is not there any more
    changes: list[Change] = [
        DropItem(old.path, old.item)
        for old in ours
        if isinstance(old, Add) and old.item != lists.get(old.path, old.item) and old.item in _items(settings, old.path)
    ]
    for change in wired:
        if isinstance(change, Put):
            there = lookup(settings, change.path)
            if there is None and not _is_null(settings, change.path):
                changes.append(change)
            elif not same(there, change.value) and not same([there], change.value):  # a program, or a list of words
                if any(isinstance(one, Put) and one.path == change.path and same(one.value, there) for one in ours):
                    changes.append(change)
                else:
                    notes.append(f"{'.'.join(change.path)} is {_shown(there)} in your settings and was left so")
        elif isinstance(change, Add) and change.item not in _items(settings, change.path):
            changes.append(change)
    return changes, notes + obstacles(settings, wanted.via)


def command_path(via: str) -> Path:
    """Where the program to call is named."""
    return COMMAND if via == "plugin" else (*HOOK_ENTRY, "command")


def _changes(settings: Any, wanted: PluginSetup) -> list[Change]:
    command = Put(command_path(wanted.via), list(wanted.command))
    if wanted.via == "hook":
        switches = [Put((*HOOKS, "enabled"), True), Put((*HOOK_ENTRY, "enabled"), True)]
        return [Add(HOOK_DIRS, wanted.folder), *switches, command]
    changes: list[Change] = [Add(LOAD_PATHS, wanted.folder), Put((*ENTRY, "enabled"), True)]
    if wanted.release >= CONVERSATION_ACCESS_FROM:
        changes.append(Put((*ENTRY, "hooks", "allowConversationAccess"), True))
    changes.append(command)
    if wanted.uses_provider:
        changes.append(Put((*COMPACTION, "provider"), PLUGIN_ID))
    elif wanted.uses_extension:
        changes.append(Put((*COMPACTION, "mode"), "default"))  # "safeguard" would answer later, and win
    if _items(settings, ALLOW):  # an empty list allows everything, and so does none
        changes.append(Add(ALLOW, PLUGIN_ID))
    return changes


def obstacles(settings: Any, via: str) -> list[str]:
    """Settings that keep OpenClaw from loading us although we are in there."""
    found = []
    if via == "hook":
        if lookup(settings, (*HOOKS, "enabled")) is False:
            found.append("hooks.internal.enabled is false: OpenClaw runs no hooks at all")
        if lookup(settings, (*HOOK_ENTRY, "enabled")) is False:
            found.append("the hook is switched off: `openclaw hooks enable jsonlstore` switches it on")
        return found
    if lookup(settings, ("plugins", "enabled")) is False:
        found.append("plugins.enabled is false: OpenClaw loads no plugins at all")
    if PLUGIN_ID in _items(settings, ("plugins", "deny")):
        found.append("plugins.deny names jsonlstore")
    if lookup(settings, (*ENTRY, "enabled")) is False:
        found.append("the plugin is switched off: `openclaw plugins enable jsonlstore` switches it on")
    if lookup(settings, (*ENTRY, "hooks", "allowPromptInjection")) is False:
        found.append("plugins.entries.jsonlstore.hooks.allowPromptInjection is false: nothing can be restored")
    return found


def _shown(value: Any) -> str:
    """A value of the user's, for a terminal: a command of one's own may have a secret among its words."""
    from jsonlstore.redact import redact_text

    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(redact_text(value) if isinstance(value, str) else value)


def _items(settings: Any, path: Path) -> list[Any]:
    there = lookup(settings, path)
    return there if isinstance(there, list) else []


def _is_null(settings: Any, path: Path) -> bool:
    """Whether somebody wrote `null` there, which is not the same as nothing."""
    parent = lookup(settings, path[:-1])
    return isinstance(parent, dict) and path[-1] in parent


def containers(settings: Any, changes: list[Change]) -> list[Path]:
    """The objects and lists that `changes` will make because they are not there yet."""
    made: list[Path] = []
    for change in changes:
        ends = len(change.path) + (1 if isinstance(change, Add) else 0)
        for length in range(1, ends):
            path = change.path[:length]
            if lookup(settings, path) is None and path not in made:
                made.append(path)
    return made


def plan_removal(settings: Any, ours: list[Change], made: list[Path]) -> tuple[list[Change], list[str]]:
    """How to take out what we put in and nothing else; values changed since are the user's, and are named."""
    changes: list[Change] = []
    kept: list[str] = []
    for change in reversed(ours):
        if isinstance(change, Add):
            if change.item in _items(settings, change.path):
                changes.append(DropItem(change.path, change.item))
        elif isinstance(change, Put) and (there := lookup(settings, change.path)) is not None:
            # `openclaw plugins disable` turned our own switch: it goes with us
            switched = change.path[-1] == "enabled" and change.path[:-1] in (ENTRY, HOOK_ENTRY)
            if same(there, change.value) or switched:
                changes.append(Drop(change.path))
            else:
                kept.append(".".join(change.path))
    after = settings
    for change in changes:
        after = applied(after, change)
    for path in sorted(made, key=len, reverse=True):
        if lookup(after, path) in ({}, []):
            changes.append(Drop(path))
            after = applied(after, Drop(path))
    left = lookup(after, ENTRY)
    if left:
        kept.append(".".join(ENTRY))
    return changes, kept


def lines_to_paste(wanted: PluginSetup, settings: Any = None) -> str:
    """The lines a person would add by hand."""
    import json

    value: Any = {}
    for change in _changes(settings, wanted):
        value = applied(value, change)
    return json.dumps(value, indent=2, ensure_ascii=False)
