"""What OpenClaw's settings are without us: our edits undone one by one, or our part taken out of a changed file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonlstore.bridges.openclaw import plugin_files as js
from jsonlstore.bridges.openclaw.config_file import ConfigFile
from jsonlstore.bridges.openclaw.install_record import InstallRecord, digest
from jsonlstore.bridges.openclaw.json5_edit import Add, Put, edit, lookup, undo
from jsonlstore.bridges.openclaw.json5_tree import decode
from jsonlstore.bridges.openclaw.plugin_settings import (
    COMMAND,
    COMPACTION,
    ENTRY,
    HOOK_DIRS,
    HOOK_ENTRY,
    LOAD_PATHS,
    command_path,
    plan_removal,
)

if TYPE_CHECKING:
    from jsonlstore.bridges.openclaw.json5_edit import Change
    from jsonlstore.core.paths import StatePaths

_OUR_OBJECTS: list[tuple[str, ...]] = [(*ENTRY, "config"), (*ENTRY, "hooks"), ENTRY, HOOK_ENTRY]


def settings_without_us(
    paths: StatePaths, file: ConfigFile, record: InstallRecord | None
) -> tuple[bytes | None, bool | None, list[str]]:
    """The file's content without our part, whether that is what it was before us, and what of ours had to stay."""
    assert file.data is not None
    data = file.data
    for done in reversed(record.edits if record else []):
        if digest(data) == done.after:
            data = undo(data.decode(), done.splices).encode()
            if done.before is None:
                return None, True, []
        if digest(data) != done.before:
            break
    else:
        if record is not None and record.edits:
            return data, True, []
    text = ConfigFile(file.path, file.real, data).text
    settings = decode(text)
    ours, made = (
        (record.ours, record.containers) if record and record.ours else (_ours_by_name(paths, settings), _OUR_OBJECTS)
    )
    changes, kept = plan_removal(settings, ours, made)
    after = edit(text, changes).after
    notes = [f"{name} holds settings of yours and stays" for name in kept]
    return after.encode(), False if after != text or record else None, notes


def _ours_by_name(paths: StatePaths, settings: Any) -> list[Change]:
    """What must be ours when no record says so: whatever stands beside a folder of ours."""
    found: list[Change] = []
    for via, where, keys in (
        ("plugin", LOAD_PATHS, ((*ENTRY, "enabled"), (*ENTRY, "hooks", "allowConversationAccess"), COMMAND)),
        ("hook", HOOK_DIRS, ((*HOOK_ENTRY, "enabled"), command_path("hook"))),
    ):
        folder, listed = str(js.folder_of(paths, via)), lookup(settings, where)
        if isinstance(listed, list) and folder in listed:
            found.append(Add(where, folder))
            found += [Put(key, value) for key in keys if (value := lookup(settings, key)) is not None]
            found += [Add(("plugins", "allow"), ENTRY[-1])] if via == "plugin" else []
            found += [Put((*COMPACTION, "provider"), ENTRY[-1])] if via == "plugin" else []
    return found
